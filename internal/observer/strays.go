// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"errors"
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
	// unknownAfter is how long a room without any Meeting, or without its ConferenceConfig, must have been seen before
	// it is closed: the cache may not have the Meeting yet, and to close its room would throw people out.
	unknownAfter = 10 * time.Second
	// strayPause is before the next try to close a stray; it doubles with each that fails, up to longestStrayPause.
	strayPause        = time.Second
	longestStrayPause = time.Minute
	// parallelCloses bounds how many strays of one media server are closed at once. It is as many as ends go on at once: those of deleted
	// Meetings are ends.
	parallelCloses = 64
	// closingTime is after how long a pass begins to close no more strays. The next list has the others.
	closingTime = 5 * time.Second
)

// strays are the rooms of one media server that belong to no live Meeting that is placed on it: left over from a time when the
// server, or the manager, was unavailable, made again by a join that was in flight at the end, or left by a Meeting that has
// moved.
type strays struct {
	// closing is held while strays are closed.
	closing sync.Mutex

	mu     sync.Mutex
	byName map[engine.RoomName]*stray
}

// stray is when a stray was first seen, and when closing it may be tried, by monotonic time.
type stray struct {
	since, next time.Time
	pause       time.Duration
}

// suspect is a stray that is to be closed, as it was when the rooms were listed.
type suspect struct {
	*stray
	name   engine.RoomName
	sid    string
	tenant *tenant.Tenant
	// meeting is the object that the room is for; nil where none is known.
	meeting *v1alpha1.Meeting
	// over says that the Meeting has ended or was deleted, or is ending while people wait in this room or are where it is not known to be, or
	// that the time of a test is over. Moved says that the Meeting is on another media server now, gone that its ConferenceConfig was deleted. With
	// none of them, no Meeting is known for the room.
	over, moved, gone bool
}

// closeStrays closes the strays among the rooms of a list. A room counts as a stray when two lists in a row have it so.
func (s *server) closeStrays(ctx context.Context, list []engine.Room) {
	due := s.dueStrays(list)
	if len(due) == 0 {
		return
	}
	// Closing takes a quarter of a second and more: looks go on beside it.
	s.env.unlessRunning(&s.strays.closing, func() {
		began := s.env.monotonic()
		var all errgroup.Group
		all.SetLimit(parallelCloses)
		closeAll := func(suspects []suspect) {
			for _, c := range suspects {
				if ctx.Err() != nil || s.env.monotonic().Sub(began) >= closingTime {
					return
				}
				all.Go(func() error {
					s.closeStray(ctx, c)
					return nil
				})
			}
		}
		closeAll(slices.DeleteFunc(slices.Clone(due), func(c suspect) bool { return !c.over }))
		closeAll(s.confirm(ctx, slices.DeleteFunc(due, func(c suspect) bool { return c.over })))
		_ = all.Wait()
	})
}

// dueStrays remembers the strays of a list, and returns those to close.
func (s *server) dueStrays(list []engine.Room) (due []suspect) {
	now := s.env.monotonic()
	s.strays.mu.Lock()
	defer s.strays.mu.Unlock()
	before := s.strays.byName
	s.strays.byName = map[engine.RoomName]*stray{}
	for _, room := range list {
		c, is := s.suspectOf(room)
		if !is {
			continue
		}
		seen := before[room.Name]
		if seen == nil {
			s.strays.byName[room.Name] = &stray{since: now, pause: strayPause}
			continue
		}
		s.strays.byName[room.Name] = seen
		if !now.Before(seen.next) && (c.over || c.moved || now.Sub(seen.since) >= unknownAfter) {
			c.stray = seen
			due = append(due, c)
		}
	}
	return due
}

// suspectOf reports whether a room of a list belongs to no live Meeting that is placed here.
func (s *server) suspectOf(room engine.Room) (c suspect, is bool) {
	owner, known := s.env.owners.of(room.Name)
	m := s.env.meetingOf(room.Name)
	at, placed := owner.serverOf(m)
	here := placed && at == s.at
	over := isOver(m, room.Name) || m != nil && !here && meeting.IsLeaving(m) || m == nil && known && s.env.wasDeleted(owner.tenant, room.Name)
	moved := placed && !here && !over
	c = suspect{name: room.Name, sid: room.SID, tenant: owner.tenant, meeting: m, over: over, moved: moved, gone: owner.gone()}
	return c, known && !s.isTested(room.Name) && (owner.gone() || m == nil || over || moved)
}

// isOver says that a room is needed no more: of a Meeting, or of a test that is not under way. Nobody waits for a meeting that ends;
// its own room is closed by its end.
func isOver(m *v1alpha1.Meeting, room engine.RoomName) bool {
	if m == nil {
		return meeting.IsTestRoom(room)
	}
	return meeting.IsOver(m) || meeting.IsWaitingRoom(room) && meeting.IsLeaving(m)
}

// wasDeleted reports whether the Meeting of a room was deleted, as the cache has seen: no Meeting comes back with its UID. The cache may learn
// of a live one after the caller has asked for it.
func (e *environment) wasDeleted(t *tenant.Tenant, room engine.RoomName) bool {
	_, uid, _ := meeting.ParseEngineRoom(room)
	view, remembered := e.Meetings.ByUID(t, uid)
	return remembered && view.Ended
}

// isTested says that a person may be testing their connection in a room.
func (s *server) isTested(room engine.RoomName) bool {
	test, ok := meeting.ParseTestRoom(room)
	return ok && !test.IsOver(s.env.Now())
}

// confirm leaves out those to which the API server knows a live Meeting that is here: the cache may be behind for as long as a
// watch is held up, and people meet by way of another replica.
func (s *server) confirm(ctx context.Context, suspects []suspect) (confirmed []suspect) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	known := newKnown(s.env.API)
	for _, c := range suspects {
		switch alive, err := known.alive(ctx, s.at, &c); {
		case err != nil:
			if !errors.Is(err, errNotAnswered) { // Said once for all rooms of a tenant.
				s.env.Log.Info("Cannot verify that a room has no live Meeting; trying again", "room", c.name, "error", err.Error())
			}
			s.strays.later(c.stray, s.env.monotonic())
		case alive:
			s.strays.again(c.stray, s.env.monotonic())
		case c.moved && s.isNeeded(ctx, c):
			s.strays.later(c.stray, s.env.monotonic())
		default:
			confirmed = append(confirmed, c)
		}
	}
	return confirmed
}

// again begins to wait again for a room that is no stray after all.
func (s *strays) again(room *stray, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room.since = now
}

// later has a stray tried again after a pause, which grows.
func (s *strays) later(room *stray, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room.next = now.Add(room.pause)
	room.pause = min(2*room.pause, longestStrayPause)
}

// closeStray sends those who are in where their meeting's redirect says, as its end would have. Those of a Meeting that has
// moved come back to where it is now.
func (s *server) closeStray(ctx context.Context, c suspect) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if c.moved {
		if err := s.engine.Drop(ctx, c.name); err != nil {
			s.env.Log.Info("A room that its Meeting has left could not be deleted; trying again", "room", c.name, "error", err.Error())
			s.strays.later(c.stray, s.env.monotonic())
			return
		}
		s.env.Log.Info("Deleted a room that its Meeting has left", "room", c.name)
		return
	}
	_, uid, _ := meeting.ParseEngineRoom(c.name)
	view, _ := s.env.Meetings.ByUID(c.tenant, uid)
	if err := s.engine.Close(ctx, c.name, view.Redirect); err != nil {
		s.env.Log.Info("A room without a live Meeting could not be closed; trying again", "room", c.name, "error", err.Error())
		s.strays.later(c.stray, s.env.monotonic())
		return
	}
	s.env.Log.Info("Closed a room without a live Meeting", "room", c.name)
}
