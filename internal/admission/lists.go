// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	// listEvery is the shortest time between two lists of one room that pages ask for.
	listEvery   = time.Second
	listTimeout = 5 * time.Second
)

// lists shares the list of the people in a room among all pages that ask within a second: each is a call of the media server, and a link makes
// as many sessions as its holder likes.
type lists struct {
	mu  sync.Mutex
	all map[place]*list
}

// place is a room on a media server.
type place struct {
	server types.NamespacedName
	room   engine.RoomName
}

type list struct {
	// done is closed when people and err are known.
	done   chan struct{}
	people []engine.Participant
	err    error
	// next is for those whom this list is too old for; nil while there are none.
	next *list
}

func newList() *list { return &list{done: make(chan struct{})} }

// recently is RecentParticipants for any room of a meeting.
func (s *Service) recently(
	ctx context.Context, t *tenant.Tenant, v meeting.View, room engine.RoomName, enough func([]engine.Participant) bool,
) ([]engine.Participant, error) {
	at := place{v.MediaServer, room}
	ask := func() (people []engine.Participant, letGo func(), err error) {
		// A page that does not wait for the answer does not take it from the others.
		ctx, letGo := limit.Holding(context.WithoutCancel(ctx))
		ctx, cancel := context.WithTimeout(ctx, listTimeout)
		defer cancel()
		people, err = PeopleIn(ctx, t, v, room)
		return people, letGo, err
	}
	one, isNew := s.lists.of(at, nil, ask)
	people, err := one.wait(ctx)
	if isNew || err != nil || enough == nil || enough(people) {
		return people, err
	}
	one, _ = s.lists.of(at, one, ask)
	return one.wait(ctx)
}

func (l *list) wait(ctx context.Context) ([]engine.Participant, error) {
	select {
	case <-l.done:
		return l.people, l.err
	case <-ctx.Done():
		return nil, OfEngine(fault.Unavailable("The media server does not answer").Because(ctx.Err()))
	}
}

// ask asks the media server for a list, which holds memory until it is let go.
type ask func() (people []engine.Participant, letGo func(), err error)

// of is the list of a room, or the one after a list that is known already. It is new where the media server has not been asked yet.
func (l *lists) of(at place, known *list, ask ask) (one *list, isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one = l.all[at]
	switch {
	case one == nil:
		one = newList()
		l.all[at] = one
		go l.fill(at, one, ask)
		return one, true
	case one != known:
		return one, false
	case one.next == nil:
		one.next = newList()
	}
	return one.next, true
}

func (l *lists) fill(at place, one *list, ask ask) {
	people, letGo, err := ask()
	one.people, one.err = people, err
	close(one.done)
	time.AfterFunc(listEvery, func() {
		letGo()
		l.mu.Lock()
		next := one.next
		if next == nil {
			delete(l.all, at)
		} else {
			l.all[at] = next
		}
		l.mu.Unlock()
		if next != nil {
			l.fill(at, next, ask)
		}
	})
}

// RecentParticipants lists the participants of a meeting as of a second ago. Where enough reports false about that list, RecentParticipants waits
// for a list that is newer than the call; a nil enough takes any list. The caller changes nothing in the list.
func (s *Service) RecentParticipants(
	ctx context.Context, t *tenant.Tenant, v meeting.View, enough func([]engine.Participant) bool,
) ([]engine.Participant, error) {
	return s.recently(ctx, t, v, v.EngineRoom, enough)
}

// RecentPeers are the first hundred participants of a meeting, oldest first, as of a second ago. What the media server does not answer stays
// empty.
func (s *Service) RecentPeers(ctx context.Context, t *tenant.Tenant, v meeting.View) []v1alpha1.Participant {
	if !t.NamesHidden {
		return v.Peers
	}
	people, _ := s.RecentParticipants(ctx, t, v, nil)
	return meeting.Participants(people, v.Created)
}
