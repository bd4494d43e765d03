// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// enforce removes participants that a presenter removed or that have the engine keep too much, and mutes those who were
// muted and are heard. The gateway sees to both, but browsers that reach the engine past it can
// come back with an access token for some minutes: the engine cannot take one back.
func (s *server) enforce(ctx context.Context, name engine.RoomName, participants []engine.Participant) {
	m := s.env.meetingOf(name)
	if m == nil {
		return
	}
	removed, muted := meeting.Removed(m), meeting.Muted(m)
	for _, p := range participants {
		var action engine.Action
		switch {
		case p.Oversized || meeting.Listed(removed, p.Identity):
			action = engine.Remove{Who: p.Identity}
		case p.Audio && meeting.Listed(muted, p.Identity):
			action = engine.Mute{Who: p.Identity}
		default:
			continue
		}
		// What does not succeed now is seen again at the next look.
		if err := s.engine.Act(ctx, name, action); err != nil {
			s.env.Log.V(1).Info("A presenter's decision could not be enforced; trying again", "room", name, "error", err.Error())
		}
	}
}
