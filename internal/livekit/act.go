// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"context"
	"fmt"
	"strconv"
	"time"

	lk "github.com/livekit/protocol/livekit"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

func (c *client) Act(ctx context.Context, room engine.RoomName, action engine.Action) error {
	switch a := action.(type) {
	case engine.SetRights:
		return c.setRights(ctx, room, a.Who, a.Rights)
	case engine.Mute:
		return c.mute(ctx, room, a.Who, a.What)
	case engine.Unmute:
		return c.unmute(ctx, room, a.Who, a.What)
	case engine.Tell:
		return c.tellState(ctx, room, a.State)
	case engine.Remove:
		return c.remove(ctx, room, a.Who)
	case engine.Hand:
		return c.hand(ctx, room, a.Who, a.Raised)
	case engine.Say:
		return c.sendTo(ctx, room, a.Topic, a.Payload, func(t engine.Traits) bool { return t.Chat })
	case engine.Announce:
		return c.announce(ctx, room, a)
	case engine.TellPresenters:
		return c.sendTo(ctx, room, a.Topic, a.Payload, func(t engine.Traits) bool { return t.Presenter })
	case engine.Admit:
		return c.setAttributes(ctx, room, a.Who, map[string]string{attributeAdmitted: yes})
	case engine.Write:
		return c.write(ctx, room, a)
	default:
		return fault.As(fmt.Errorf("no such action: %T", action))
	}
}

// remove is done when the participant is not there.
func (c *client) remove(ctx context.Context, room engine.RoomName, who engine.Identity) error {
	_, err := call(ctx, c, adminOf(room), c.rooms.RemoveParticipant, identityIn(room, who))
	return unlessNotFound(err)
}

// hand leaves a raised hand as it is, so that it keeps its place among the others.
func (c *client) hand(ctx context.Context, room engine.RoomName, who engine.Identity, raised bool) error {
	attributes := map[string]string{attributeHand: "", attributeHandSince: ""}
	if raised {
		p, err := call(ctx, c, adminOf(room), c.rooms.GetParticipant, identityIn(room, who))
		if err != nil || p.GetAttributes()[attributeHand] == yes {
			return err
		}
		attributes = map[string]string{attributeHand: yes, attributeHandSince: now()}
	}
	return c.setAttributes(ctx, room, who, attributes)
}

// now is what an attribute says of a time.
func now() string {
	return strconv.FormatInt(time.Now().UnixMilli(), 10)
}

func (c *client) setAttributes(ctx context.Context, room engine.RoomName, who engine.Identity, attributes map[string]string) error {
	_, err := call(ctx, c, adminOf(room), c.rooms.UpdateParticipant, &lk.UpdateParticipantRequest{
		Room: string(room), Identity: string(who), Attributes: attributes,
	})
	return err
}

// write keeps the message where other peers cannot read it.
func (c *client) write(ctx context.Context, room engine.RoomName, w engine.Write) error {
	p, err := call(ctx, c, adminOf(room), c.rooms.GetParticipant, identityIn(room, w.Who))
	if err != nil {
		return err
	}
	n := c.sealer.open(p.GetAttributes()[attributeClient], room, w.Who)
	switch n.Message {
	case w.Message:
		return nil
	case "":
	default:
		return fault.Conflict("This participant has written another message already")
	}
	n.Message = w.Message
	sealed, err := c.sealer.seal(n, room, w.Who)
	if err != nil {
		return err
	}
	return c.setAttributes(ctx, room, w.Who, map[string]string{attributeClient: sealed})
}

// sendTo sends data to those of the room whom a condition holds for.
func (c *client) sendTo(ctx context.Context, room engine.RoomName, topic string, payload []byte, hears func(engine.Traits) bool) error {
	people, err := c.Participants(ctx, room)
	if err != nil {
		return err
	}
	var listeners []string
	for _, p := range people {
		if hears(p.Traits) {
			listeners = append(listeners, string(p.Identity))
		}
	}
	if len(listeners) == 0 {
		return nil // An empty list would be all participants.
	}
	return c.send(ctx, room, topic, payload, listeners...)
}

// announce is done when the room is not there: nobody is in it. LiveKit would look for the room for three seconds.
func (c *client) announce(ctx context.Context, room engine.RoomName, a engine.Announce) error {
	_, there, err := c.Room(ctx, room)
	switch {
	case err != nil:
		return err
	case there && a.To != "":
		return c.send(ctx, room, a.Topic, a.Payload, string(a.To))
	case there:
		return c.send(ctx, room, a.Topic, a.Payload)
	case a.To != "":
		return fault.NotFound("The media server does not have that participant")
	}
	return nil
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
	return unlessNotFound(c.tell(ctx, room, metadataOf(state)))
}

func identityIn(room engine.RoomName, who engine.Identity) *lk.RoomParticipantIdentity {
	return &lk.RoomParticipantIdentity{Room: string(room), Identity: string(who)}
}
