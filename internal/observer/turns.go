// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"slices"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// participantsEvery is how often a room with participants is looked into, because no webhook tells of mutes. With more rooms
// than the budget of calls allows, it is as often as that allows.
const participantsEvery = 2 * time.Second

// candidate is a room that may be looked into now.
type candidate struct {
	name engine.RoomName
	// urgent: a webhook, or the media server's count, says that the participants have changed.
	urgent  bool
	triedAt time.Time
}

// turns orders rooms: those that are known to have changed first, then those that have waited longest. A quarter of the
// places at the front goes to the latter, so that no flood of hints keeps a room from being seen.
func turns(all []candidate) []engine.RoomName {
	slices.SortFunc(all, func(a, b candidate) int { return a.triedAt.Compare(b.triedAt) })
	var urgent, others []engine.RoomName
	for _, c := range all {
		if c.urgent {
			urgent = append(urgent, c.name)
		} else {
			others = append(others, c.name)
		}
	}
	names := make([]engine.RoomName, 0, len(all))
	for i := range all {
		from := &urgent
		if len(urgent) == 0 || (i%4 == 3 && len(others) > 0) {
			from = &others
		}
		names = append(names, (*from)[0])
		*from = (*from)[1:]
	}
	return names
}

// candidates are the rooms where there is a reason to look: they are new, participants are in them, or something has changed.
func (s *server) candidates(now time.Time) (all []candidate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range s.rooms.listed {
		if r.inFlight {
			continue
		}
		urgent := r.recounted || s.env.hints.has(name)
		// The media server does not count those who wait.
		inUse := r.presence.counted > 0 || len(r.participants) > 0 || meeting.IsWaitingRoom(name)
		waited := inUse && now.Sub(r.triedAt) >= participantsEvery-listEvery/10
		if urgent || waited || r.lookedAt.IsZero() {
			all = append(all, candidate{name, urgent, r.triedAt})
		}
	}
	return all
}
