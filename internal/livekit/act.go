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
	case engine.SetRights:
		return c.setRights(ctx, room, a.Who, a.Rights)
	case engine.Hush:
		return c.hush(ctx, room, a.Who)
	case engine.Tell:
		return c.tellState(ctx, room, a.State)
	case engine.Remove:
		return c.remove(ctx, room, a.Who)
	case engine.Hand:
		return c.hand(ctx, room, a.Who, a.Raised)
	case engine.Say:
		return c.say(ctx, room, a)
	case engine.Announce:
		return c.announce(ctx, room, a)
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
	_, err := call(ctx, c, adminOf(room), c.rooms.UpdateParticipant, &lk.UpdateParticipantRequest{
		Room: string(room), Identity: string(who), Attributes: map[string]string{attributeHand: flag(raised)},
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
		return nil // An empty list would be all participants.
	}
	return c.send(ctx, room, say.Topic, say.Payload, listeners...)
}

// announce is done when the room is not there: nobody is in it.
func (c *client) announce(ctx context.Context, room engine.RoomName, a engine.Announce) error {
	var to []string
	if a.To != "" {
		to = append(to, string(a.To))
	}
	err := c.send(ctx, room, a.Topic, a.Payload, to...)
	if a.To == "" && fault.Is(err, fault.KindNotFound) {
		return nil
	}
	return err
}

// send sends data to some participants. LiveKit takes an empty list for all.
func (c *client) send(ctx context.Context, room engine.RoomName, topic string, payload []byte, to ...string) error {
	_, err := call(ctx, c, adminOf(room), c.rooms.SendData, &lk.SendDataRequest{
		Room: string(room), Data: payload, Kind: lk.DataPacket_RELIABLE, DestinationIdentities: to, Topic: &topic,
	})
	return err
}

// tellState is done when the room is not there: no page reads it.
func (c *client) tellState(ctx context.Context, room engine.RoomName, state engine.RoomState) error {
	err := c.tell(ctx, room, metadataOf(state))
	if fault.Is(err, fault.KindNotFound) {
		return nil
	}
	return err
}

func identityIn(room engine.RoomName, who engine.Identity) *lk.RoomParticipantIdentity {
	return &lk.RoomParticipantIdentity{Room: string(room), Identity: string(who)}
}
