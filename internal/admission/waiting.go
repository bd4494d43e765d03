// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
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
	errArriving  = fault.Unavailable("You are still connecting; try again in a moment")
)

// queue has an entrant, who comes from a site, wait from now on or from when they first came.
func (s *Service) queue(a *Admission, from netip.Prefix) error {
	a.Since = a.at.Truncate(time.Millisecond)
	if since := a.waitedSince(a.Meeting); !since.IsZero() {
		a.Since, a.Message = since, a.previous.Message
	}
	if s.places.isFull(meeting.WaitingRoom(a.Meeting.EngineRoom), a.Identity, from, nil, maxWaiting) {
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

// TakeWaitingPlace counts a connection of one who waits, and who comes from a site, and tells the presenters. Leave has to be called when it ends.
func (s *Service) TakeWaitingPlace(t *tenant.Tenant, v meeting.View, who engine.Identity, from netip.Prefix) (leave func(), err error) {
	out, err := s.places.enter(meeting.WaitingRoom(v.EngineRoom), who, from, nil, maxWaiting)
	if err != nil {
		return nil, errQueueFull
	}
	s.knock(t, v)
	return func() {
		out()
		s.knock(t, v)
	}, nil
}

// look asks for the people in a room of a meeting.
type look func(context.Context, *tenant.Tenant, meeting.View, engine.RoomName) ([]engine.Participant, error)

// lately is a look at a list that may be a second old.
func (s *Service) lately(ctx context.Context, t *tenant.Tenant, v meeting.View, room engine.RoomName) ([]engine.Participant, error) {
	return s.recently(ctx, t, v, room, nil)
}

// inWaitingRoom are those in the waiting room of a meeting that has one.
func inWaitingRoom(ctx context.Context, t *tenant.Tenant, v meeting.View, ask look) ([]engine.Participant, error) {
	if !v.HasWaitingRoom() {
		return nil, nil
	}
	return ask(ctx, t, v, meeting.WaitingRoom(v.EngineRoom))
}

// Waiting are those who have still to be let into a meeting, those who have waited longest first.
func (*Service) Waiting(ctx context.Context, t *tenant.Tenant, v meeting.View) ([]engine.Participant, error) {
	return waiting(ctx, t, v, PeopleIn)
}

// RecentlyWaiting is Waiting as of a second ago, for pages, which ask again and again.
func (s *Service) RecentlyWaiting(ctx context.Context, t *tenant.Tenant, v meeting.View) ([]engine.Participant, error) {
	return waiting(ctx, t, v, s.lately)
}

func waiting(ctx context.Context, t *tenant.Tenant, v meeting.View, ask look) ([]engine.Participant, error) {
	people, err := inWaitingRoom(ctx, t, v, ask)
	if err != nil || len(people) == 0 {
		return nil, err
	}
	isIn, err := presenterIsIn(ctx, t, v, ask)
	return v.WhoWaits(people, isIn), err
}

func presenterIsIn(ctx context.Context, t *tenant.Tenant, v meeting.View, ask look) (bool, error) {
	if v.Admission != v1alpha1.AdmissionWithPresenter || !v.Opened {
		return false, nil
	}
	people, err := ask(ctx, t, v, v.EngineRoom)
	return meeting.HasPresenter(people), err
}

// PresenterIsIn reports whether a presenter is in, where that matters to those who wait.
func PresenterIsIn(ctx context.Context, t *tenant.Tenant, v meeting.View) (bool, error) {
	return presenterIsIn(ctx, t, v, PeopleIn)
}

// MayComeIn reports whether a person who shows that they wait may come in now, by who was in a second ago.
func (s *Service) MayComeIn(ctx context.Context, t *tenant.Tenant, v meeting.View, w credential.Session, presenter bool) (bool, error) {
	who := engine.Identity(w.Identity)
	knocked, err := s.knockedAt(ctx, t, v, who, w.Since)
	if err != nil {
		return false, err
	}
	isIn, err := presenterIsIn(ctx, t, v, s.lately)
	return v.Admits(v.DecisionOn(w.Username, who), presenter, knocked, isIn), err
}

// knockedAt is when one whose session says since when they wait knocked, zero for one who is not in the waiting room: a session alone is no
// place in the queue, and no presenter saw its holder. Whom the time cannot let in is not looked up.
func (s *Service) knockedAt(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity, since time.Time) (time.Time, error) {
	if since.IsZero() || since.After(v.AdmittedUntil) {
		return since, nil
	}
	isWho := func(p engine.Participant) bool { return p.Identity == who }
	people, err := s.recently(ctx, t, v, meeting.WaitingRoom(v.EngineRoom), func(people []engine.Participant) bool { return slices.ContainsFunc(people, isWho) })
	if at := slices.IndexFunc(people, isWho); at >= 0 {
		return meeting.KnockedAt(people[at]), err
	}
	return time.Time{}, err
}

// ValidateMessage checks what one who waits writes.
func ValidateMessage(text string) error { return meeting.ValidateText(text, MaxMessageLength) }

// Write keeps what one who waits writes to the presenters, who can write once.
func (s *Service) Write(ctx context.Context, t *tenant.Tenant, v meeting.View, w credential.Session, text string) error {
	if cmp.Or(w.Message, text) != text {
		return errWritten
	}
	err := Act(ctx, t, v, meeting.WaitingRoom(v.EngineRoom), engine.Write{Who: engine.Identity(w.Identity), Message: text})
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
		_ = Act(ctx, t, v, v.EngineRoom, engine.TellPresenters{Topic: waitingTopic, Payload: []byte("{}")})
	})
}
