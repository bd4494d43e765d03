// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// places are those of participants who are connected through this replica. The engine lists participants a moment after they
// have come, and several who come in that moment would each find the last place free.
type places struct {
	mu     sync.Mutex
	inside map[engine.RoomName]map[engine.Identity]*presence
}

// presence is one participant's.
type presence struct {
	connections int
	// site is that of the last connection.
	site netip.Prefix
}

func newPlaces() *places {
	return &places{inside: map[engine.RoomName]map[engine.Identity]*presence{}}
}

// In a room of manyPlaces or more, the last tenth of the places is for participants of sites that have few: one who makes participants without
// an end leaves others a place. Smaller rooms are often for people at one place, a class for example.
const manyPlaces, keptShare, fewShare = 100, 10, 4

var errFull = fault.Conflict("This meeting is full; try again when a participant has left").WithReason(ReasonFull)

// enter counts a participant in, unless there is no place beside those listed by the engine and those who came through here. Leave counts out
// again.
func (p *places) enter(room engine.RoomName, who engine.Identity, from netip.Prefix, listed []engine.Participant, limit int) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full(room, who, from, listed, limit) {
		return nil, errFull
	}
	if p.inside[room] == nil {
		p.inside[room] = map[engine.Identity]*presence{}
	}
	if p.inside[room][who] == nil {
		p.inside[room][who] = &presence{}
	}
	p.inside[room][who].connections++
	p.inside[room][who].site = from
	return func() { p.leave(room, who) }, nil
}

func (p *places) leave(room engine.RoomName, who engine.Identity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	people := p.inside[room]
	if people[who].connections--; people[who].connections == 0 {
		delete(people, who)
	}
	if len(people) == 0 {
		delete(p.inside, room)
	}
}

// full reports whether there is no place for a participant, who comes from a site. A participant who is in has a place. The caller holds the
// lock.
func (p *places) full(room engine.RoomName, who engine.Identity, from netip.Prefix, listed []engine.Participant, limit int) bool {
	others := make(map[engine.Identity]bool, len(listed))
	for _, one := range listed {
		others[one.Identity] = true
	}
	ofSite := 0
	for id, other := range p.inside[room] {
		others[id] = true
		if other.site == from {
			ofSite++
		}
	}
	if others[who] {
		return false
	}
	kept := 0
	if limit >= manyPlaces {
		kept = limit / keptShare
	}
	free := limit - len(others)
	return free <= 0 || free <= kept && ofSite >= kept/fewShare
}

// isFull refuses early what enter would refuse a moment later, with an error that the page can show.
func (p *places) isFull(room engine.RoomName, who engine.Identity, from netip.Prefix, listed []engine.Participant, limit int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.full(room, who, from, listed, limit)
}

// IsConnected reports whether a participant is connected through this replica, in a meeting or waiting for it.
func (s *Service) IsConnected(v meeting.View, who engine.Identity) bool {
	return s.places.has(v.EngineRoom, who) || s.places.has(meeting.WaitingRoom(v.EngineRoom), who)
}

// has reports whether a participant is connected through this replica.
func (p *places) has(room engine.RoomName, who engine.Identity) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inside[room][who] != nil
}

// Connected is how many participants of a room are connected through this replica.
func (s *Service) Connected(room engine.RoomName) int {
	s.places.mu.Lock()
	defer s.places.mu.Unlock()
	return len(s.places.inside[room])
}

// isAmong reports whether a participant is among the people that the media server lists in a meeting, or is connected through this replica.
func (s *Service) isAmong(v meeting.View, who engine.Identity, people []engine.Participant) bool {
	return s.places.has(v.EngineRoom, who) || isListed(people, who)
}

func isListed(people []engine.Participant, who engine.Identity) bool {
	return slices.ContainsFunc(people, func(p engine.Participant) bool { return p.Identity == who })
}

// limitOf is the greatest number of people in a meeting, hidden ones included.
func limitOf(t *tenant.Tenant, v meeting.View) int {
	if v.MaxParticipants > 0 {
		return v.MaxParticipants
	}
	return t.Settings.MaxParticipants
}

// TakePlace counts a connection of a participant, who comes from a site, unless there is no place, or the meeting was closed to the participant
// after their access token was made. Leave has to be called when the connection ends.
func (s *Service) TakePlace(ctx context.Context, t *tenant.Tenant, v meeting.View, b engine.Bearer, from netip.Prefix) (leave func(), err error) {
	listed, err := s.listed(ctx, t, v)
	if err != nil {
		return nil, err
	}
	if !b.In && !s.isAmong(v, b.Identity, listed) {
		decided := v.DecisionOn(b.Username, b.Identity)
		if !v.Admits(decided, v.Rights(decided, b.Granted).Presenter, time.Time{}, meeting.HasPresenter(listed)) {
			return nil, errClosed(v)
		}
	}
	return s.places.enter(v.EngineRoom, b.Identity, from, listed, limitOf(t, v))
}

// errClosed is for one who may not enter a meeting any more, and has to ask again.
func errClosed(v meeting.View) error {
	if v.Locked {
		return ErrLocked
	}
	return ErrWaiting
}

// WasIn reports whether a participant has been in a meeting, as of a second ago.
func (s *Service) WasIn(ctx context.Context, t *tenant.Tenant, v meeting.View, shown credential.Session) bool {
	who := engine.Identity(shown.Identity)
	if shown.In || s.places.has(v.EngineRoom, who) {
		return true
	}
	people, err := s.RecentParticipants(ctx, t, v, nil)
	return err == nil && isListed(people, who)
}

// IsIn reports whether a participant is in a room. A session alone is not presence: no page would show who it is, and no
// presenter could remove them.
func (s *Service) IsIn(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity) (bool, error) {
	_, in, err := s.Find(ctx, t, v, who)
	return in, err
}

// Find finds a participant who is in a room. It knows only the identity of a participant who is connected through this replica.
func (s *Service) Find(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity) (one engine.Participant, in bool, err error) {
	if s.places.has(v.EngineRoom, who) {
		return engine.Participant{Identity: who}, true, nil
	}
	people, err := s.RecentParticipants(ctx, t, v, func(people []engine.Participant) bool { return isListed(people, who) })
	if at := slices.IndexFunc(people, func(p engine.Participant) bool { return p.Identity == who }); at >= 0 {
		return people[at], true, err
	}
	return one, false, err
}
