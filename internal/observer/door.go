// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// waitingRoomKept is how long a waiting room is kept in which nobody waits: longer than a browser takes to connect.
const waitingRoomKept = 3 * time.Minute

// keepDoor tells those who wait for the meeting of a room to come in, when they may, and removes those who were refused. The gateway
// sees to what is decided through it. This is for a presenter who comes or goes, for what was written into the Meeting itself, and
// for a gateway that ended in between.
func (s *server) keepDoor(ctx context.Context, name engine.RoomName) {
	door := s.doorOf(name)
	if !door.there {
		return
	}
	m := s.env.meetingOf(name)
	owner, _ := s.env.owners.of(name)
	if m == nil || owner.tenant == nil || meeting.IsLeaving(m) {
		return
	}
	if len(door.waiting) == 0 && door.empty >= waitingRoomKept {
		if err := s.engine.Drop(ctx, door.name); err != nil {
			s.env.Log.V(1).Info("A waiting room that nobody needs could not be deleted; trying again", "room", door.name, "error", err.Error())
		}
		return
	}
	control := meeting.ControlOf(owner.tenant.Settings, &m.Spec)
	for _, action := range control.AtTheDoor(door.told, door.waiting, door.presenterIn) {
		done := s.act(ctx, door.name, action)
		if tell, ok := action.(engine.Tell); ok && done {
			s.told(door.name, tell.State)
		}
	}
}

// door is what was last seen of the waiting room of a meeting, and of the meeting.
type door struct {
	name engine.RoomName
	// there says that the waiting room was looked into.
	there bool
	// told is what its pages are told.
	told        engine.RoomState
	waiting     []engine.Participant
	presenterIn bool
	// empty is for how long nobody has waited.
	empty time.Duration
}

func (s *server) doorOf(name engine.RoomName) door {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := door{name: meeting.WaitingRoom(name)}
	r := s.rooms.listed[d.name]
	if r == nil || r.lookedAt.IsZero() {
		return d
	}
	d.there, d.told, d.waiting, d.empty = true, r.state, r.participants, s.env.monotonic().Sub(r.neededAt)
	if in := s.rooms.listed[name]; in != nil {
		d.presenterIn = meeting.HasPresenter(in.participants)
	}
	return d
}
