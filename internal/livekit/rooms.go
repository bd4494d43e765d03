// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// forever keeps LiveKit from closing a room by itself: that is decided elsewhere, and 0 would mean its default.
const forever = math.MaxUint32

func (c *client) Rooms(ctx context.Context, prefix engine.RoomName) ([]engine.Room, error) {
	list, err := call(ctx, c, auth.VideoGrant{RoomList: true}, c.rooms.ListRooms, &lk.ListRoomsRequest{})
	if err != nil {
		return nil, err
	}
	var rooms []engine.Room
	for _, r := range list.GetRooms() {
		if strings.HasPrefix(r.GetName(), string(prefix)) {
			told, _ := decodeMetadata(r.GetMetadata()) // One that a late join made tells nothing.
			rooms = append(rooms, engine.Room{
				Name:         engine.RoomName(r.GetName()),
				Participants: int(r.GetNumParticipants()),
				CreatedAt:    when(r.GetCreationTimeMs(), r.GetCreationTime()),
				State:        engine.RoomState{ExpiresAt: told.ExpiresAt},
			})
		}
	}
	return rooms, nil
}

func (c *client) Ensure(ctx context.Context, room engine.RoomName, options engine.RoomOptions, state engine.RoomState) error {
	wanted := metadataOf(state)
	encoded, err := wanted.encode()
	if err != nil {
		return err
	}
	there, err := call(ctx, c, maker, c.rooms.CreateRoom, &lk.CreateRoomRequest{
		Name:             string(room),
		EmptyTimeout:     forever,
		DepartureTimeout: forever,
		MaxParticipants:  uint32(min(max(options.MaxParticipants, 0), math.MaxInt32)),
		Metadata:         encoded,
	})
	if err != nil {
		return err
	}
	// A room that was there answers with the metadata that it had.
	had, ours := decodeMetadata(there.GetMetadata())
	switch {
	case had.Ended:
		return fault.Gone("This meeting has ended")
	case ours && had.equal(wanted):
		return nil
	}
	err = c.tell(ctx, room, wanted)
	if fault.Is(err, fault.KindNotFound) {
		return outOfReach(err) // closed in between: trying again makes it anew
	}
	return err
}

// tell gives everybody in the room new metadata.
func (c *client) tell(ctx context.Context, room engine.RoomName, metadata roomMetadata) error {
	encoded, err := metadata.encode()
	if err != nil {
		return err
	}
	_, err = call(ctx, c, adminOf(room), c.rooms.UpdateRoomMetadata,
		&lk.UpdateRoomMetadataRequest{Room: string(room), Metadata: encoded})
	return err
}

// when reads one of LiveKit's times, in milliseconds where the server is new enough to say them.
func when(milliseconds, seconds int64) time.Time {
	switch {
	case milliseconds > 0:
		return time.UnixMilli(milliseconds)
	case seconds > 0:
		return time.Unix(seconds, 0)
	}
	return time.Time{}
}
