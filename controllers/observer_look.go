// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// look reads one engine's rooms, and looks into those that are due.
func (o *Observer) look(ctx context.Context, looks *sync.WaitGroup, server engine.Server, e engine.Engine) {
	if !o.mayList(server) {
		o.lookIntoDue(ctx, looks, server, e)
		return
	}
	listing, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	rooms, err := e.Rooms(listing, meeting.AllRooms)
	if listing.Err() != nil && err == nil {
		err = listing.Err()
	}
	o.paceOf(server).heard(err)
	rooms = o.ours(server, rooms, err == nil)
	for _, name := range o.record(server, rooms, err) {
		o.tell(name)
	}
	if err != nil {
		return
	}
	o.lookIntoDue(ctx, looks, server, e)
	o.lookForStrays(ctx, looks, server, e, rooms)
}

// lookIntoDue begins to look into the rooms whose turn it is, as many as the budget of calls and the time of a pass allow.
// It does not wait for answers: one that does not come holds up no other room.
func (o *Observer) lookIntoDue(ctx context.Context, looks *sync.WaitGroup, server engine.Server, e engine.Engine) {
	now, pace := o.monotonic(), o.paceOf(server)
	due := o.due(server, now)
	due = due[:pace.take(now, len(due))]
	over := time.NewTimer(passTime)
	defer over.Stop()
	for _, name := range due {
		select {
		case <-over.C:
			return
		case <-ctx.Done():
			return
		case pace.inFlight <- struct{}{}:
		}
		if pace.isThrottled() {
			<-pace.inFlight
			return
		}
		began := o.begins(server, name)
		looks.Go(func() {
			defer func() { <-pace.inFlight }()
			err := o.lookInto(ctx, server, e, name, began)
			o.ends(server, name)
			if err != nil {
				o.Log.V(1).Info("A room could not be looked into; trying again", "room", name, "error", err.Error())
			}
		})
	}
}

func (o *Observer) lookInto(ctx context.Context, server engine.Server, e engine.Engine, name engine.RoomName, began time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	participants, err := e.Participants(ctx, name)
	o.paceOf(server).heard(err)
	if err != nil {
		return err
	}
	participants = o.withoutGhosts(server, name, participants)
	switch o.keep(server, name, began, participants) {
	case meeting.ParticipantsChange:
		o.tell(name)
	case meeting.DetailsChange:
		if m := o.meetingOf(name); m != nil {
			o.Details(m)
		}
	}
	o.enforce(ctx, e, name, participants)
	return nil
}

// record keeps a look at the list of rooms and names those that have gone since the last, or tell their pages something
// else.
func (o *Observer) record(server engine.Server, rooms []engine.Room, err error) (changed []engine.RoomName) {
	turned, changed := o.recordLocked(server, rooms, err)
	if turned {
		o.EngineChanged(server)
	}
	return changed
}

// recordLocked also says whether the engine has come into reach or gone out of it.
func (o *Observer) recordLocked(server engine.Server, rooms []engine.Room, err error) (turned bool, changed []engine.RoomName) {
	now := o.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.serverState(server)
	s.listedAt = o.monotonic()
	if errors.Is(err, engine.ErrTooManyCalls) {
		s.throttled = true // Slower, not away.
		return false, nil
	}
	if s.err = err; err != nil {
		if turned = s.unavailableSince.IsZero(); turned {
			s.unavailableSince = now
		}
		return turned, nil
	}
	turned = s.visible(now)
	there := make(map[engine.RoomName]bool, len(rooms))
	for _, r := range rooms {
		there[r.Name] = true
		delete(s.absent, r.Name)
		if s.list(r) {
			changed = append(changed, r.Name)
		}
	}
	for name := range s.rooms {
		if !there[name] {
			delete(s.rooms, name)
			changed = append(changed, name)
		}
	}
	return turned, changed
}

// list keeps what the engine lists of a room, and says whether its pages have come to be told something else.
func (s *observedServer) list(r engine.Room) (changed bool) {
	seen := s.rooms[r.Name]
	if seen == nil {
		s.rooms[r.Name] = &observedRoom{state: r.State, presence: presence{counted: r.Participants}}
		return false
	}
	seen.news = seen.news || seen.presence.counted != r.Participants
	seen.presence.counted = r.Participants
	changed = !seen.state.ExpiresAt.Equal(r.State.ExpiresAt)
	seen.state = r.State
	return changed
}

// keep remembers the participants of a room that was looked into after a time, and says what has changed.
func (o *Observer) keep(server engine.Server, name engine.RoomName, began time.Time, participants []engine.Participant) (changed meeting.Change) {
	slices.SortFunc(participants, func(a, b engine.Participant) int {
		if a.Identity < b.Identity {
			return -1
		}
		return 1
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := o.roomState(server, name)
	if seen == nil {
		return meeting.OtherChange
	}
	same := func(a, b engine.Participant) bool { return a.Identity == b.Identity }
	switch {
	case seen.lookedAt.IsZero() || !slices.EqualFunc(seen.participants, participants, same):
		changed = meeting.ParticipantsChange
	case !slices.Equal(seen.participants, participants):
		changed = meeting.DetailsChange
	}
	seen.participants, seen.lookedAt = participants, o.monotonic()
	if !o.hints[name].After(began) {
		delete(o.hints, name)
	}
	return changed
}

// tell wakes the Meeting of a room.
func (o *Observer) tell(name engine.RoomName) {
	if m := o.meetingOf(name); m != nil {
		o.Changed(m)
	}
}

func (o *Observer) meetingOf(name engine.RoomName) *v1alpha1.Meeting {
	_, uid, ok := meeting.ParseEngineRoom(name)
	if !ok {
		return nil
	}
	return o.Meetings.WithUID(uid)
}
