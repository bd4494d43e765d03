// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// emptyTimeout is after how many seconds LiveKit closes an empty room of a meeting by itself. When a meeting ends is decided
// elsewhere, and earlier; this is for rooms that no manager is left to close. A room that a participant enters later is made again.
const emptyTimeout = 25 * 60 * 60

// maxRoomSize is beyond what LiveKit has of a room of ours, in bytes: half of it is the address where all are sent at the end.
const maxRoomSize = 8 << 10

// maxRoomName is more than a room of ours has as its name, in bytes: two UIDs, and what they begin and end with.
const maxRoomName = 128

func (c *client) Rooms(ctx context.Context, prefix engine.RoomName) ([]engine.Room, error) {
	return c.listRooms(ctx, &lk.ListRoomsRequest{}, func(r *lk.Room) bool {
		return strings.HasPrefix(r.GetName(), string(prefix)) && len(r.GetName()) <= maxRoomName
	})
}

// Room names the room in the request, so that LiveKit answers with that one and not with all that it has.
func (c *client) Room(ctx context.Context, name engine.RoomName) (room engine.Room, there bool, err error) {
	rooms, err := c.listRooms(ctx, &lk.ListRoomsRequest{Names: []string{string(name)}}, func(r *lk.Room) bool { return r.GetName() == string(name) })
	if len(rooms) == 0 {
		return engine.Room{}, false, err
	}
	return rooms[0], true, err
}

func (c *client) listRooms(ctx context.Context, request *lk.ListRoomsRequest, wanted func(*lk.Room) bool) (rooms []engine.Room, err error) {
	var r lk.Room
	err = readList(ctx, c, auth.VideoGrant{RoomList: true}, c.rooms.ListRooms, request, &list{
		element: (*lk.Room)(nil).ProtoReflect().Descriptor(), maxLength: maxRoomSize,
		take: func(encoded []byte, _ bool) (bool, error) {
			if err := proto.Unmarshal(encoded, &r); err != nil || !wanted(&r) {
				return false, err
			}
			rooms = append(rooms, asRoom(&r))
			return true, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return rooms, nil
}

func asRoom(r *lk.Room) engine.Room {
	told, _ := decodeMetadata(r.GetMetadata()) // One that a late join made tells nothing.
	return engine.Room{
		Name:         engine.RoomName(r.GetName()),
		SID:          r.GetSid(),
		Participants: int(r.GetNumParticipants()),
		State:        told.state(),
	}
}

func (c *client) Ensure(ctx context.Context, room engine.RoomName, options engine.RoomOptions, state engine.RoomState) error {
	wanted := metadataOf(state)
	encoded, err := wanted.encode()
	if err != nil {
		return err
	}
	empty := uint32(emptyTimeout)
	if options.EmptyTimeout > 0 {
		empty = uint32(math.Ceil(options.EmptyTimeout.Seconds()))
	}
	there, err := call(ctx, c, maker, c.rooms.CreateRoom, &lk.CreateRoomRequest{
		Name:             string(room),
		EmptyTimeout:     empty,
		DepartureTimeout: empty,
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
		return outOfReach(err) // closed in between: the next try makes it again
	}
	return err
}

// tell gives the room new metadata, which all its pages read.
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
