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
	// looks are the rooms that are probed again and again, asks all rooms by the last time that a participant was checked.
	looks, asks rotation
	// recounted are the rooms in which the media server counts other participants than the last probe found, inDoubt the rooms in which not all
	// listed participants seem to be.
	recounted, inDoubt map[engine.RoomName]bool
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
	presence presence
	// size is the memory for the participants, in bytes.
	size int
}

func newRooms() rooms {
	return rooms{
		listed: map[engine.RoomName]*room{}, absent: map[engine.RoomName]time.Time{}, looks: newRotation(), asks: newRotation(),
		recounted: map[engine.RoomName]bool{}, inDoubt: map[engine.RoomName]bool{},
	}
}

// replace keeps a list of all rooms, and names those that have gone or tell their pages something else.
func (r *rooms) replace(now time.Time, list []engine.Room) (changed []engine.RoomName) {
	there := make(map[engine.RoomName]bool, len(list))
	for _, room := range list {
		there[room.Name] = true
		if r.add(now, room) {
			changed = append(changed, room.Name)
		}
	}
	for name := range r.listed {
		if !there[name] {
			r.remove(name)
			changed = append(changed, name)
		}
	}
	return changed
}

// add keeps what the media server lists of a room, and says whether its pages are told something else than before.
func (r *rooms) add(now time.Time, listed engine.Room) (changed bool) {
	delete(r.absent, listed.Name)
	known := r.listed[listed.Name]
	if known == nil {
		r.listed[listed.Name] = &room{state: listed.State, presence: presence{counted: listed.Participants, called: now}}
		r.looks.first(listed.Name)
		r.asks.last(listed.Name, now)
		return false
	}
	if known.presence.counted != listed.Participants {
		known.presence.counted = listed.Participants
		r.recounted[listed.Name] = true
		r.doubt(listed.Name)
	}
	changed = !known.state.Equal(listed.State)
	known.state = listed.State
	return changed
}

func (r *rooms) remove(name engine.RoomName) {
	delete(r.listed, name)
	delete(r.recounted, name)
	delete(r.inDoubt, name)
	r.looks.remove(name)
	r.asks.remove(name)
}

// doubt keeps whether all who are listed in a room seem to be there.
func (r *rooms) doubt(name engine.RoomName) {
	if r.listed[name].presence.isInDoubt() {
		r.inDoubt[name] = true
	} else {
		delete(r.inDoubt, name)
	}
}

// begin keeps that a probe of a room begins.
func (r *rooms) begin(name engine.RoomName, now time.Time) {
	if known := r.listed[name]; known != nil {
		known.triedAt, known.inFlight = now, true
		delete(r.recounted, name)
		r.looks.last(name, now)
	}
}

// end keeps that a probe of a room is over. An empty room is probed no more; the media server does not count the people in a waiting room.
func (r *rooms) end(name engine.RoomName) {
	known := r.listed[name]
	if known == nil {
		return
	}
	known.inFlight = false
	inUse := known.presence.counted > 0 || len(known.participants) > 0 || meeting.IsWaitingRoom(name)
	if !inUse && !known.lookedAt.IsZero() {
		r.looks.remove(name)
	}
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
