// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// rooms are those of one media server. The server's lock guards them.
type rooms struct {
	listed map[engine.RoomName]*room
	// absent are rooms that were asked for and not there, and since when.
	absent map[engine.RoomName]time.Time
}

// room is what is known of a room that the media server has listed.
type room struct {
	participants []engine.Participant
	state        engine.RoomState
	// lookedAt is the last look that was answered, triedAt the last one, by monotonic time.
	lookedAt, triedAt time.Time
	// neededAt is the last look that found a participant, and the first look.
	neededAt time.Time
	// inFlight says that a look is on its way.
	inFlight bool
	// recounted says that the media server counts other participants than at the last look.
	recounted bool
	presence  presence
	// size is the memory for the participants, in bytes.
	size int
}

func newRooms() rooms {
	return rooms{listed: map[engine.RoomName]*room{}, absent: map[engine.RoomName]time.Time{}}
}

// replace keeps a list of all rooms, and names those that have gone or tell their pages something else.
func (r *rooms) replace(list []engine.Room) (changed []engine.RoomName) {
	there := make(map[engine.RoomName]bool, len(list))
	for _, room := range list {
		there[room.Name] = true
		if r.add(room) {
			changed = append(changed, room.Name)
		}
	}
	for name := range r.listed {
		if !there[name] {
			delete(r.listed, name)
			changed = append(changed, name)
		}
	}
	return changed
}

// add keeps what the media server lists of a room, and says whether its pages are told something else than before.
func (r *rooms) add(listed engine.Room) (changed bool) {
	delete(r.absent, listed.Name)
	known := r.listed[listed.Name]
	if known == nil {
		r.listed[listed.Name] = &room{state: listed.State, presence: presence{counted: listed.Participants}}
		return false
	}
	known.recounted = known.recounted || known.presence.counted != listed.Participants
	known.presence.counted = listed.Participants
	changed = !known.state.Equal(listed.State)
	known.state = listed.State
	return changed
}

// absentFor is how long a room counts as absent since the first look. Who still needs to know looks again, and has to look twice.
const absentFor = time.Minute

func (r *rooms) forgetAbsent(now time.Time) {
	maps.DeleteFunc(r.absent, func(_ engine.RoomName, since time.Time) bool { return now.Sub(since) > absentFor })
}

// counts are the rooms of meetings, and the participants in them.
func (s *server) counts() (rooms, participants int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range s.rooms.listed {
		if meeting.IsWaitingRoom(name) {
			continue
		}
		rooms++
		if r.lookedAt.IsZero() {
			participants += r.presence.counted
		} else {
			participants += len(r.participants)
		}
	}
	return rooms, participants
}

// difference is what a look into a room shows that the last look did not.
type difference int

const (
	noDifference difference = iota
	otherParticipants
	// otherDetails of the same participants: a microphone, a camera, a screen or a hand.
	otherDetails
)

// keep remembers the participants of a room that was looked into, and says what is different.
func (r *room) keep(now time.Time, participants []engine.Participant) (different difference) {
	slices.SortFunc(participants, func(a, b engine.Participant) int { return cmp.Compare(a.Identity, b.Identity) })
	same := func(a, b engine.Participant) bool { return a.Identity == b.Identity }
	switch {
	case r.lookedAt.IsZero() || !slices.EqualFunc(r.participants, participants, same):
		different = otherParticipants
	case !slices.Equal(r.participants, participants):
		different = otherDetails
	}
	if r.lookedAt.IsZero() || len(participants) > 0 {
		r.neededAt = now
	}
	r.participants, r.lookedAt = participants, now
	return different
}
