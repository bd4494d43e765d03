// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

const (
	// allMemory is the part of the memory that what is known of all media servers may take, and oneMemory that of the MediaServers of one
	// namespace. With the limits of the chart a namespace may have 100,000 participants in 10,000 rooms.
	allMemory, oneMemory = 1. / 4, 1. / 7
	// roomSize is the memory for a room without participants, in bytes.
	roomSize = 640
)

var (
	errManyRooms        = fault.Unavailable("The media server lists more rooms than there is memory for").WithReason(v1alpha1.ReasonNamespaceFull)
	errManyParticipants = fault.Unavailable("The media server lists more participants than there is memory for").WithReason(v1alpha1.ReasonNamespaceFull)
)

// hold takes memory for the media server, or gives it back where bytes is negative. It reports false where there is not so much. The caller
// holds the lock.
func (s *server) hold(bytes int) bool {
	held := !s.dropped && s.env.memory.Change(s.namespace, bytes)
	if held {
		s.held += bytes
	}
	return held
}

// drop gives back all memory of a media server that nobody looks at any more.
func (s *server) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hold(-s.held)
	s.dropped = true // A look may still be on its way.
}

// holdParticipants takes the memory for the participants of a room in place of those before.
func (s *server) holdParticipants(name engine.RoomName, participants []engine.Participant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms.listed[name]
	if r == nil {
		return true // Nothing is kept of it.
	}
	size := 0
	for i := range participants {
		size += 2 * participants[i].Size() // There are two lists of participants, and a look may be on its way.
	}
	if !s.hold(size - r.size) {
		return false
	}
	r.size = size
	return true
}

// size is the memory for the rooms and those in them, in bytes.
func (r *rooms) size() (bytes int) {
	for _, room := range r.listed {
		bytes += roomSize + room.size
	}
	return bytes
}
