// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"context"
	"sync"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	waitingTopic = "convene.waiting"
	// maxWaiting is how many people wait for one meeting through one replica: the media server has to be able to list them all.
	maxWaiting = 1000
	// MaxMessageLength is the greatest length of what one who waits writes to the presenters, in Unicode characters.
	MaxMessageLength = 200
	// knockEvery is how often the presenters of a meeting are told at most, and knockTimeout bounds one time.
	knockEvery   = time.Second
	knockTimeout = 5 * time.Second
)

var (
	errQueueFull = fault.Conflict("Too many people wait to be let into this meeting; try again later").WithReason(ReasonFull)
	errWritten   = fault.Conflict("You have written to the presenters already; wait until they let you in")
	errArriving  = fault.Unavailable("You are just arriving; write again in a moment")
)

// queue has an entrant wait, from now on or from when they first came.
func (s *Service) queue(a *Admission) error {
	a.Since = a.at.Truncate(time.Millisecond)
	if since := a.waitedSince(a.Meeting); !since.IsZero() {
		a.Since, a.Message = since, a.previous.Message
	}
	if s.places.isFull(meeting.WaitingRoom(a.Meeting.EngineRoom), a.Identity, nil, maxWaiting) {
		return errQueueFull
	}
	return nil
}

// OpenWaitingRoom sees to it that the engine has the room where people wait. Nothing is written down: rooms that are not needed
// are found by their names.
func (s *Service) OpenWaitingRoom(ctx context.Context, t *tenant.Tenant, v meeting.View) error {
	media, err := mediaOf(t, v)
	if err != nil {
		return err
	}
	return OfEngine(media.Engine.Ensure(ctx, meeting.WaitingRoom(v.EngineRoom), engine.RoomOptions{}, engine.RoomState{}))
}

// TakeWaitingPlace counts a connection of one who waits, and tells the presenters. Leave has to be called when it ends.
func (s *Service) TakeWaitingPlace(t *tenant.Tenant, v meeting.View, who engine.Identity) (leave func(), err error) {
	out, err := s.places.enter(meeting.WaitingRoom(v.EngineRoom), who, nil, maxWaiting)
	if err != nil {
		return nil, errQueueFull
	}
	s.knock(t, v)
	return func() {
		out()
		s.knock(t, v)
	}, nil
}

// inWaitingRoom are those in the waiting room of a meeting that has one.
func (s *Service) inWaitingRoom(ctx context.Context, t *tenant.Tenant, v meeting.View) ([]engine.Participant, error) {
	if !v.HasWaitingRoom() {
		return nil, nil
	}
	return peopleIn(ctx, t, v, meeting.WaitingRoom(v.EngineRoom))
}

// Waiting are those who have still to be let into a meeting, those who have waited longest first.
func (s *Service) Waiting(ctx context.Context, t *tenant.Tenant, v meeting.View) ([]engine.Participant, error) {
	people, err := s.inWaitingRoom(ctx, t, v)
	if err != nil || len(people) == 0 {
		return nil, err
	}
	presenterIn, err := s.presenterIn(ctx, t, v)
	return v.WhoWaits(people, presenterIn), err
}

// presenterIn says that a presenter is in, where that matters to those who wait.
func (s *Service) presenterIn(ctx context.Context, t *tenant.Tenant, v meeting.View) (bool, error) {
	if v.Admission != v1alpha1.AdmissionWithPresenter {
		return false, nil
	}
	people, err := s.Participants(ctx, t, v)
	return meeting.HasPresenter(people), err
}

// MayComeIn says whether one who shows that they wait may come in now.
func (s *Service) MayComeIn(ctx context.Context, t *tenant.Tenant, v meeting.View, w credential.Session, presenter bool) (bool, error) {
	presenterIn, err := s.presenterIn(ctx, t, v)
	return v.Admits(v.DecisionOn(w.Username, engine.Identity(w.Identity)), presenter, w.Since, presenterIn), err
}

// AdmitAll lets in all who wait now, and changes what else is asked for in the same write. Late is as for Change.
func (s *Service) AdmitAll(
	ctx context.Context, t *tenant.Tenant, v meeting.View, now time.Time, also func(*v1alpha1.MeetingSpec),
) (_ meeting.View, late, err error) {
	waiting, err := s.Waiting(ctx, t, v)
	if err != nil {
		return v, nil, err
	}
	return s.Change(ctx, t, v, func(spec *v1alpha1.MeetingSpec) {
		also(spec)
		if len(waiting) > 0 {
			meeting.AdmitAll(spec, waiting, now)
		}
	})
}

// tellDoor tells those who wait what was decided.
func (s *Service) tellDoor(ctx context.Context, t *tenant.Tenant, v meeting.View) error {
	room := meeting.WaitingRoom(v.EngineRoom)
	people, err := peopleIn(ctx, t, v, room)
	if err != nil || len(people) == 0 {
		return err
	}
	presenterIn, err := s.presenterIn(ctx, t, v)
	if err != nil {
		return err
	}
	return actAll(ctx, t, v, room, v.AtTheDoor(engine.RoomState{}, people, presenterIn))
}

// ValidateMessage checks what one who waits writes.
func ValidateMessage(text string) error { return validateText(text, MaxMessageLength) }

// Write keeps what one who waits writes to the presenters, who can write once.
func (s *Service) Write(ctx context.Context, t *tenant.Tenant, v meeting.View, w credential.Session, text string) error {
	if cmp.Or(w.Message, text) != text {
		return errWritten
	}
	err := act(ctx, t, v, meeting.WaitingRoom(v.EngineRoom), engine.Write{Who: engine.Identity(w.Identity), Message: text})
	switch {
	case fault.Is(err, fault.KindNotFound):
		return errArriving.Because(err)
	case fault.Is(err, fault.KindConflict):
		return errWritten.Because(err)
	case err == nil:
		s.knock(t, v)
	}
	return err
}

// knocks are the meetings whose presenters will be told in a moment.
type knocks struct {
	mu      sync.Mutex
	pending map[engine.RoomName]bool
}

// knock tells the presenters of a meeting to ask who waits, once for all that happens within a second. Where it is lost, their pages
// ask by themselves a little later.
func (s *Service) knock(t *tenant.Tenant, v meeting.View) {
	if v.Admission != v1alpha1.AdmissionAsk {
		return
	}
	s.knocks.mu.Lock()
	defer s.knocks.mu.Unlock()
	if s.knocks.pending[v.EngineRoom] {
		return
	}
	s.knocks.pending[v.EngineRoom] = true
	time.AfterFunc(knockEvery, func() {
		s.knocks.mu.Lock()
		delete(s.knocks.pending, v.EngineRoom)
		s.knocks.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), knockTimeout)
		defer cancel()
		_ = act(ctx, t, v, v.EngineRoom, engine.TellPresenters{Topic: waitingTopic, Payload: []byte("{}")})
	})
}
