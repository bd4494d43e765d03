// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"context"
	"time"

	lk "github.com/livekit/protocol/livekit"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
)

const (
	// leaveTime is how long pages have to leave by themselves. A deletion that follows at once
	// overtakes the announcement for a few participants in a hundred.
	leaveTime = 250 * time.Millisecond
	leaveLook = 10 * time.Millisecond
)

func (c *client) Close(ctx context.Context, room engine.RoomName, redirect string) error {
	err := c.onLiveNode(ctx, room, func() error {
		return c.tell(ctx, room, roomMetadata{Ended: true, Redirect: redirect})
	})
	switch {
	case err == nil:
		c.waitUntilEmpty(ctx, room)
	case !fault.Is(err, fault.KindNotFound):
		return err
	}
	// Not found above is no proof: the list can have a room that its node has lost.
	return c.Drop(ctx, room)
}

func (c *client) Drop(ctx context.Context, room engine.RoomName) error {
	return unlessNotFound(c.onLiveNode(ctx, room, func() error {
		_, err := call(ctx, c, maker, c.rooms.DeleteRoom, &lk.DeleteRoomRequest{Room: string(room)})
		return err
	}))
}

// onLiveNode does something to a room, and once more after moving the room when its node is gone: LiveKit goes on
// listing the rooms of a node that was killed, and makes one on another node only when asked to create it.
func (c *client) onLiveNode(ctx context.Context, room engine.RoomName, do func() error) error {
	err := do()
	if !nodeGone(err) {
		return err
	}
	if _, err := call(ctx, c, maker, c.rooms.CreateRoom, &lk.CreateRoomRequest{Name: string(room)}); err != nil {
		return err
	}
	return do()
}

// waitUntilEmpty returns when the room is empty, and after leaveTime at the latest.
func (c *client) waitUntilEmpty(ctx context.Context, room engine.RoomName) {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	look := time.NewTicker(leaveLook)
	defer look.Stop()
	for {
		looking, end := limit.Holding(ctx)
		people, err := c.Participants(looking, room)
		end()
		if err == nil && len(people) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}
