// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"cmp"
	"context"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// enforce removes participants that were removed or that have the engine keep too much, and gives all others the rights that they
// should have. The gateway sees to both first. This is for what the gateway cannot see: a participant whom a replica that was
// behind has let in, a browser that reaches the engine past the gateway with an access token, which the engine cannot take back,
// and a decision that was written into the Meeting itself. It also removes telephones and streams for which the meeting has no place: the
// oldest participants have the places.
func (s *server) enforce(ctx context.Context, name engine.RoomName, participants []engine.Participant) {
	m := s.env.meetingOf(name)
	owner, _ := s.env.owners.of(name)
	if m == nil || owner.tenant == nil || meeting.IsWaitingRoom(name) {
		return
	}
	control := meeting.ControlOf(owner.tenant.Settings, &m.Spec)
	places := owner.tenant.Settings.ParticipantLimit(m.Spec.MaxParticipants)
	for _, p := range participants {
		action := control.Correction(p)
		isExtra := p.Kind != "" && before(p, participants) >= places
		if p.Oversized || isExtra {
			action = engine.Remove{Who: p.Identity}
		}
		if action != nil && s.act(ctx, name, action) && isExtra {
			s.env.Full(m)
		}
	}
}

// before counts the participants who came before one of them.
func before(one engine.Participant, participants []engine.Participant) (count int) {
	for _, p := range participants {
		if cmp.Or(p.JoinedAt.Compare(one.JoinedAt), cmp.Compare(p.Identity, one.Identity)) < 0 {
			count++
		}
	}
	return count
}

// act does what was decided. What does not succeed now is seen again at the next look.
func (s *server) act(ctx context.Context, name engine.RoomName, action engine.Action) (done bool) {
	err := s.engine.Act(ctx, name, action)
	if err != nil {
		s.env.Log.V(1).Info("What was decided about a participant could not be enforced; trying again", "room", name, "error", err.Error())
	}
	return err == nil
}
