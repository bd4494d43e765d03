// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"maps"
	"slices"
	"time"

	"convene.dev/convene/internal/engine"
)

// participantsEvery is how often a room with participants is looked into, because no webhook tells of mutes. With more rooms
// than the budget of calls allows, it is as often as that allows.
const participantsEvery = 2 * time.Second

// due are the rooms to probe now, in their order, and at most a number of them. A room is probed because it is new, because participants are in
// it, or because something has changed.
func (s *server) due(now time.Time, most int) []engine.RoomName {
	s.mu.Lock()
	defer s.mu.Unlock()
	urgent, isUrgent := s.urgent()
	var waited []engine.RoomName
	for name := range s.rooms.looks.due(now.Add(listEvery/10 - participantsEvery)) {
		if len(waited) == most {
			break
		}
		if !s.rooms.listed[name].inFlight && !isUrgent[name] {
			waited = append(waited, name)
		}
	}
	return turns(urgent, waited, most)
}

// urgent are the rooms whose participants have changed, by a webhook or by the media server's count. The room that has waited longest is
// first.
func (s *server) urgent() (names []engine.RoomName, changed map[engine.RoomName]bool) {
	changed = maps.Clone(s.rooms.recounted)
	for _, name := range s.env.hints.all() {
		changed[name] = true
	}
	for name := range changed {
		if r := s.rooms.listed[name]; r != nil && !r.inFlight {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b engine.RoomName) int { return s.rooms.listed[a].triedAt.Compare(s.rooms.listed[b].triedAt) })
	return names, changed
}

// turns orders rooms: the urgent ones first, then those that have waited longest. A quarter of the places at the front goes to the
// latter, so that no flood of hints keeps a room from being seen.
func turns(urgent, waited []engine.RoomName, most int) []engine.RoomName {
	names := make([]engine.RoomName, 0, min(len(urgent)+len(waited), most))
	for i := range cap(names) {
		from := &urgent
		if len(urgent) == 0 || (i%4 == 3 && len(waited) > 0) {
			from = &waited
		}
		names = append(names, (*from)[0])
		*from = (*from)[1:]
	}
	return names
}
