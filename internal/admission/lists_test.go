// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// listing is a media server that takes a while to list people.
type listing struct {
	engine.Engine
	mu     sync.Mutex
	people []engine.Participant
	asked  int
	err    error
}

func (l *listing) Participants(ctx context.Context, _ engine.RoomName) ([]engine.Participant, error) {
	select {
	case <-time.After(10 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	return slices.Clone(l.people), l.err
}

func (l *listing) joins(who engine.Identity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.people = append(l.people, engine.Participant{Identity: who})
}

func newListing() (*listing, *Service, *tenant.Tenant, meeting.View) {
	l := &listing{}
	return l, New(nil), &tenant.Tenant{Media: []*tenant.Media{{Engine: l}}}, meeting.View{EngineRoom: "room", Opened: true}
}

// TestListsAreShared: however many pages ask, for whomever, the media server lists the people of a room once a second.
func TestListsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s, of, v := newListing()
		l.joins("ann-1")
		var asks sync.WaitGroup
		const seconds, pages = 10, 100
		for i := range pages {
			asks.Go(func() {
				for range 10 * seconds {
					<-time.After(100 * time.Millisecond)
					who := []engine.Identity{"ann-1", "eve-1"}[i%2]
					in, err := s.IsIn(t.Context(), of, v, who)
					if err != nil || in != (who == "ann-1") {
						t.Errorf("%s is in: %v, %v", who, in, err)
					}
					if i%10 > 0 {
						continue
					}
					if _, err := s.RecentParticipants(t.Context(), of, v, nil); err != nil {
						t.Error(err)
					}
				}
			})
		}
		start := time.Now()
		asks.Wait()
		took := time.Since(start)
		<-time.After(3 * listEvery)
		synctest.Wait()
		if most := int(took/listEvery) + 2; l.asked > most || len(s.lists.all) > 0 {
			t.Errorf("%d lists in %s, and %d kept", l.asked, took, len(s.lists.all))
		}
	})
}

// TestWhoHasJustComeInIsIn: a list from before is too old to say who is not in.
func TestWhoHasJustComeInIsIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s, of, v := newListing()
		for _, who := range []engine.Identity{"ann-1", "bob-1", "cem-1"} {
			if in, err := s.IsIn(t.Context(), of, v, who); in || err != nil {
				t.Errorf("%s is in: %v, %v", who, in, err)
			}
			l.joins(who)
			if in, err := s.IsIn(t.Context(), of, v, who); !in || err != nil {
				t.Errorf("%s is in: %v, %v", who, in, err)
			}
		}
		synctest.Wait()
	})
}

// TestAListWithoutAnAnswer: an error is everybody's for a second, and who goes away takes the answer from nobody.
func TestAListWithoutAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s, of, v := newListing()
		l.err = errors.New("away")
		for range 10 {
			if _, err := s.IsIn(t.Context(), of, v, "ann-1"); !errors.Is(err, l.err) {
				t.Error(err)
			}
		}
		if l.asked != 1 {
			t.Errorf("%d questions", l.asked)
		}
		<-time.After(2 * listEvery)
		l.err = nil
		l.joins("ann-1")
		gone, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.IsIn(gone, of, v, "ann-1"); err == nil {
			t.Error("one who has gone away gets an answer")
		}
		if in, err := s.IsIn(t.Context(), of, v, "ann-1"); !in || err != nil || l.asked != 2 {
			t.Errorf("is in: %v, %v; %d questions", in, err, l.asked)
		}
		<-time.After(2 * listEvery)
	})
}
