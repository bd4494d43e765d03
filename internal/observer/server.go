// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	// listEvery is how often each media server's list of rooms is read: one call however many rooms there are.
	listEvery = time.Second
	// passTime is after how long a pass over the rooms of one media server begins no more looks, so that the list of
	// rooms and the hints do not wait for it. The next pass goes on with the rooms that waited longest.
	passTime = 750 * time.Millisecond
	// idleAfter is after how long without rooms and live meetings a media server's list is read every idleEvery only: whoever may make
	// MediaServers chooses where these calls go.
	idleAfter, idleEvery = time.Minute, 5 * time.Second
)

// server is a media server, reached with one key, and what is known of it.
type server struct {
	env    *environment
	at     engine.Server
	engine engine.Engine
	pace   *pace
	strays strays
	// looking and checking are held while the rooms are looked at, and while participants are checked.
	looking, checking sync.Mutex

	mu    sync.Mutex
	reach reach
	rooms rooms
	// shared names another MediaServer that is the same LiveKit.
	shared shared
	// listedAt is when the rooms were last listed, and busyAt when there last was a room or a live meeting, or the first look, by monotonic
	// time.
	listedAt, busyAt time.Time
	// namespace is that of a MediaServer that stands for the media server, held is the memory for its rooms, in bytes.
	namespace string
	held      int
	// dropped says that nobody looks at it any more.
	dropped bool
}

func newServer(env *environment, at *tenant.Media, p *pace) *server {
	return &server{env: env, at: at.Server, engine: at.Engine, pace: p, rooms: newRooms(), namespace: at.Name.Namespace}
}

// look lists the rooms, and looks into those whose turn it is.
func (s *server) look(ctx context.Context) {
	if !s.mayList() {
		s.lookIntoDue(ctx)
		return
	}
	listing, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	list, err := s.engine.Rooms(listing, meeting.AllRooms)
	if listing.Err() != nil && err == nil {
		err = listing.Err()
	}
	s.pace.heard(err)
	if err != nil {
		s.record(nil, err)
		return
	}
	list = s.env.owners.ownRooms(s.at, list, s.env.monotonic())
	s.record(ofMeetings(list), nil)
	s.lookIntoDue(ctx)
	s.closeStrays(ctx, list)
}

// ofMeetings are the rooms of meetings, and those where people wait for them. In the others people test their connections: nobody
// looks into them or counts who is there.
func ofMeetings(list []engine.Room) []engine.Room {
	return slices.DeleteFunc(slices.Clone(list), func(r engine.Room) bool { return meeting.IsTestRoom(r.Name) })
}

func (s *server) mayList() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	every, now := s.pace.listEvery(), s.env.monotonic()
	if now.Sub(s.busyAt) > idleAfter {
		every = max(every, idleEvery)
	}
	return now.Sub(s.listedAt) >= every
}

// noteBusy takes in whether live meetings are placed on the media server.
func (s *server) noteBusy(busy bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if busy || s.busyAt.IsZero() || len(s.rooms.listed) > 0 {
		s.busyAt = now
	}
}

// record keeps a list of the rooms, or why there is none, and tells those that this concerns.
func (s *server) record(list []engine.Room, err error) {
	turned, changed := s.recordLocked(list, err)
	if turned {
		s.env.reachChanged(s.at)
	}
	for _, name := range changed {
		s.env.tell(name, otherParticipants)
	}
}

func (s *server) recordLocked(list []engine.Room, err error) (turned bool, changed []engine.RoomName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listedAt = s.env.monotonic()
	if more := len(list) - len(s.rooms.listed); err == nil && more > 0 && !s.hold(more*roomSize) {
		err = errManyRooms
	}
	turned = s.reach.heard(s.env.Now(), err)
	if err == nil {
		changed = s.rooms.replace(s.listedAt, list)
		s.rooms.forgetAbsent(s.env.Now())
		s.hold(s.rooms.size() - s.held)
	}
	return turned, changed
}

// answers is false before the first list, and while lists fail.
func (s *server) answers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reach.answers()
}

func (s *server) reached() (since time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reach.visibleSince, s.reach.err
}

// lookIntoDue begins to look into the rooms whose turn it is, as many as the budget of calls and the time of a pass allow.
// It does not wait for answers: one that does not come holds up no other room.
func (s *server) lookIntoDue(ctx context.Context) {
	now := s.env.monotonic()
	due := s.due(now, int(s.pace.greatest))
	due = due[:s.pace.take(now, len(due))]
	over := time.NewTimer(passTime)
	defer over.Stop()
	for _, name := range due {
		select {
		case <-over.C:
			return
		case <-ctx.Done():
			return
		case s.pace.inFlight <- struct{}{}:
		}
		if s.pace.isThrottled() {
			<-s.pace.inFlight
			return
		}
		began := s.begin(name)
		s.env.work.Go(func() {
			defer func() { <-s.pace.inFlight }()
			err := s.lookInto(ctx, name, began)
			s.end(name)
			if err != nil {
				s.env.Log.V(1).Info("A room could not be looked into; trying again", "room", name, "error", err.Error())
			}
		})
	}
}

// begin keeps that a room is being looked into, and returns since when.
func (s *server) begin(name engine.RoomName) (began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	began = s.env.monotonic()
	s.rooms.begin(name, began)
	return began
}

func (s *server) end(name engine.RoomName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rooms.end(name)
}

func (s *server) lookInto(ctx context.Context, name engine.RoomName, began time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	participants, err := s.engine.Participants(ctx, name)
	s.pace.heard(err)
	if err != nil {
		return err
	}
	if !s.holdParticipants(name, participants) {
		return errManyParticipants
	}
	participants = s.withoutGhosts(name, participants)
	different := s.keep(name, began, participants)
	s.env.tell(name, different)
	s.enforce(ctx, name, participants)
	if different != noDifference || meeting.IsWaitingRoom(name) {
		s.keepDoor(ctx, meeting.RoomOfWaiting(name))
	}
	return nil
}

// keep remembers the participants of a room, into which a look began at a time.
func (s *server) keep(name engine.RoomName, began time.Time, participants []engine.Participant) difference {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms.listed[name]
	if r == nil {
		return noDifference
	}
	s.env.hints.answer(name, began)
	return r.keep(s.env.monotonic(), participants)
}

// find asks for rooms that webhooks named and the last list did not have.
func (s *server) find(ctx context.Context, names []engine.RoomName) {
	unknown := s.unknown(names)
	unknown = unknown[:s.pace.take(s.env.monotonic(), len(unknown))]
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var all errgroup.Group
	all.SetLimit(parallelLooks)
	for _, name := range unknown {
		all.Go(func() error {
			room, there, err := s.engine.Room(ctx, name)
			s.pace.heard(err)
			if err == nil && there {
				s.found(room)
			}
			return nil // Until the next list, the hint stays.
		})
	}
	_ = all.Wait()
}

func (s *server) unknown(names []engine.RoomName) (unknown []engine.RoomName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		if s.rooms.listed[name] == nil {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func (s *server) found(room engine.Room) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rooms.listed[room.Name] != nil || s.hold(roomSize) {
		s.rooms.add(s.env.monotonic(), room)
	}
}

// tell calls back for the Meeting of a room in which something is different.
func (e *environment) tell(name engine.RoomName, different difference) {
	if different == noDifference {
		return
	}
	switch m := e.meetingOf(name); {
	case m == nil:
	case different == otherParticipants:
		e.Changed(m)
	default:
		e.Details(m)
	}
}

// meetingOf is the Meeting of a room, as the cache has it; nil when there is none.
func (e *environment) meetingOf(name engine.RoomName) *v1alpha1.Meeting {
	_, uid, ok := meeting.ParseEngineRoom(name)
	if !ok {
		return nil
	}
	return e.Meetings.WithUID(uid)
}
