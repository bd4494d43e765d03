// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"context"
	"fmt"

	lk "github.com/livekit/protocol/livekit"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

func (c *client) Act(ctx context.Context, room engine.RoomName, action engine.Action) error {
	switch a := action.(type) {
	case engine.Mute:
		return c.mute(ctx, room, a.Who)
	case engine.LetSpeak:
		return c.letSpeak(ctx, room, a.Who)
	case engine.Remove:
		return c.remove(ctx, room, a.Who)
	case engine.Hand:
		return c.hand(ctx, room, a.Who, a.Raised)
	case engine.Say:
		return c.say(ctx, room, a)
	default:
		return fault.As(fmt.Errorf("no such action: %T", action))
	}
}

// remove is done when the participant is not there.
func (c *client) remove(ctx context.Context, room engine.RoomName, who engine.Identity) error {
	_, err := call(ctx, c, adminOf(room), c.rooms.RemoveParticipant, identityIn(room, who))
	if fault.Is(err, fault.KindNotFound) {
		return nil
	}
	return err
}

func (c *client) hand(ctx context.Context, room engine.RoomName, who engine.Identity, raised bool) error {
	value := ""
	if raised {
		value = yes
	}
	_, err := call(ctx, c, adminOf(room), c.rooms.UpdateParticipant, &lk.UpdateParticipantRequest{
		Room: string(room), Identity: string(who), Attributes: map[string]string{attributeHand: value},
	})
	return err
}

func (c *client) say(ctx context.Context, room engine.RoomName, say engine.Say) error {
	people, err := c.list(ctx, room)
	if err != nil {
		return err
	}
	var listeners []string
	for _, p := range people {
		if traitsOf(p.GetAttributes()).Chat {
			listeners = append(listeners, p.GetIdentity())
		}
	}
	if len(listeners) == 0 {
		return nil // LiveKit takes an empty list for all participants
	}
	_, err = call(ctx, c, adminOf(room), c.rooms.SendData, &lk.SendDataRequest{
		Room: string(room), Data: say.Payload, Kind: lk.DataPacket_RELIABLE,
		DestinationIdentities: listeners, Topic: &say.Topic,
	})
	return err
}

func identityIn(room engine.RoomName, who engine.Identity) *lk.RoomParticipantIdentity {
	return &lk.RoomParticipantIdentity{Room: string(room), Identity: string(who)}
}
