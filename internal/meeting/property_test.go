// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// chance reads choices from bytes, so that a life is the same whenever the bytes are, and the fuzzer can vary it.
type chance struct{ data []byte }

func (c *chance) next() int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b)
}

func (c *chance) of(n int) int { return c.next() % n }

func pick[T any](c *chance, from ...T) T { return from[c.of(len(from))] }

// randomLife is a Meeting of any kind in a world of any kind.
func randomLife(t testing.TB, c *chance) *life {
	return newLife(t, func(l *life) {
		l.meeting.Spec.Duration = pick[v1alpha1.Duration](c, "", "unlimited", "10m", "1h", "99h59m59s", "1s")
		if c.of(3) == 0 {
			standing(l)
		}
		if c.of(3) == 0 {
			l.meeting.Spec.EmptyTimeout = &metav1.Duration{Duration: pick(c, time.Second, time.Minute, 1500*time.Millisecond)}
		}
		if c.of(3) == 0 {
			l.meeting.Spec.UnjoinedTimeout = &metav1.Duration{Duration: pick(c, time.Second, time.Hour, 36*time.Hour)}
		}
		l.tenant.NamesHidden = c.of(4) == 0
		s := &l.tenant.Settings
		s.DefaultLength, s.MaxLength = pick(c, 0, hour), pick(c, 0, hour, 2*hour)
		s.TTLAfterEnded = pick(c, 5*time.Minute, 0, 48*time.Hour)
		s.LinkLifetime = pick(c, 24*time.Hour, time.Second, time.Hour)
		s.EmptyTimeout = pick(c, 5*time.Minute, time.Second)
		s.UnjoinedTimeout = pick(c, 24*time.Hour, time.Minute)
		s.ForgetEnded = pick(c, false, true)
		// A link opens a room at once, and a backend can end it before its Meeting has a status.
		if c.of(4) == 0 {
			l.enter("Early")
		}
		if c.of(8) == 0 {
			l.edit(func(s *v1alpha1.MeetingSpec) { s.End = &v1alpha1.MeetingEnd{} })
		}
	})
}

// happen lets something happen, and says what.
func (l *life) happen(c *chance) string {
	tenant := &Tenant{Settings: DefaultSettings(), URL: "https://meet.example.com/join/Standup", Places: onePlace}
	name := pick(c, "Anna", "Tom", "Eve")
	switch c.of(24) {
	case 0, 1, 2:
		if l.engine.up && l.tenant != nil && len(l.tenant.Places) > 0 && l.meeting.Status.Phase == v1alpha1.MeetingActive {
			l.enter(name)
			return name + " enters"
		}
	case 3, 4, 5:
		l.leave(name)
		return name + " leaves"
	case 6:
		if l.engine.up && l.opened() {
			l.enter(name)
			return name + "'s join in flight makes the room again"
		}
	case 7:
		if l.engine.up {
			l.engineGoes()
			return "the engine goes"
		}
	case 8, 9:
		if !l.engine.up {
			l.engineReturns()
			return "the engine returns"
		}
	case 10:
		l.engineRestarts()
		return "the engine restarts"
	case 11:
		if c.of(4) == 0 {
			l.edit(func(s *v1alpha1.MeetingSpec) {
				s.End = &v1alpha1.MeetingEnd{Redirect: pick(c, nil, ptr.To(v1alpha1.URL("https://x.example/")))}
			})
			return "the end is asked for"
		}
	case 12:
		if c.of(4) == 0 {
			l.remove()
			return "the object is deleted"
		}
	case 13:
		d := pick[v1alpha1.Duration](c, "", "unlimited", "10m", "2h", "1s", "nonsense")
		l.edit(func(s *v1alpha1.MeetingSpec) { s.Duration = d })
		return "the duration becomes " + string(d)
	case 14:
		l.tenant = pick(c, nil, tenant, tenant)
		l.configGone = l.tenant == nil && c.of(4) == 0
		return fmt.Sprintf("the config is there: %t, was deleted: %t", l.tenant != nil, l.configGone)
	case 15:
		if l.tenant != nil {
			if l.tenant.Places == nil {
				l.tenant.Places = onePlace
			} else {
				l.tenant.Places = nil
			}
			return "media come or go"
		}
	case 16:
		if l.tenant != nil && c.of(4) == 0 {
			l.tenant.Deleting = true
			return "the config is being deleted"
		}
	case 17:
		l.rival, l.heirSince = pick(c, "", "older"), time.Time{}
		l.lent = l.rival != "" && Stands(l.meeting) && c.of(2) == 0
		if l.rival == "" && !Stands(l.meeting) && c.of(2) == 0 {
			l.heirSince = l.now.Truncate(time.Second)
		}
		return fmt.Sprintf("the rival is %q, lent %t, an heir waits since %s", l.rival, l.lent, clock(l.heirSince))
	case 18:
		jump := time.Duration(c.of(21)-10) * time.Minute
		l.now = l.now.Add(jump)
		return "the clock jumps by " + jump.String()
	case 19:
		l.crowd(pick(c, 0, 1, 3, 99, 100, 101, 200))
		return "a crowd"
	case 20:
		if l.engine.up && l.meeting.Status.Phase == v1alpha1.MeetingActive && len(l.engine.people) == 0 {
			l.enter(name)
			l.leave(name)
			return name + " gives up on the way in"
		}
	case 21:
		if l.tenant != nil && len(l.tenant.Places) == 1 {
			l.tenant.Places = twoPlaces
			return "there is a second media server"
		}
	case 22:
		if l.second.up {
			l.second.up, l.second.since = false, l.now
		} else {
			l.second.up = true
		}
		return fmt.Sprintf("the second media server answers: %t", l.second.up)
	case 23:
		if l.engine.up {
			l.engineRefuses()
			return "the engine refuses the key"
		}
	}
	d := pick(c, 0, 300*time.Millisecond, time.Second, time.Second, 2*time.Second, time.Minute, 5*time.Minute, time.Hour, 25*time.Hour)
	l.pass(d)
	return d.String() + " pass"
}

// crowd is more people than a status lists, some of whom the schema would refuse, and whose clocks are wrong.
func (l *life) crowd(n int) {
	if !l.engine.up || !l.engine.room {
		return
	}
	l.engine.people = nil
	for i := range n {
		l.engine.people = append(l.engine.people, engine.Participant{
			Identity: engine.Identity(strings.Repeat("i", 250) + fmt.Sprint(i%7, i)), Name: strings.Repeat("é", i),
			JoinedAt: l.now.Add(time.Duration(i%5-2) * time.Hour), Traits: engine.Traits{OS: strings.Repeat("o", i), Browser: strings.Repeat("b", i)},
		})
	}
	if n > 0 {
		l.engine.people[0].JoinedAt = time.Time{}
	}
}

// live runs a life of what the bytes say. Every plan in it is checked. What it reaches is counted in met.
func live(t testing.TB, data []byte, met map[string]int) {
	c := &chance{data}
	l := randomLife(t, c)
	if c.of(4) == 0 { // a room that nobody but a browser that gave up has opened
		l.enter("Anna")
		l.leave("Anna")
	}
	l.told = func(_ Input, d Decision) {
		met[string(d.Status.Phase)+string(d.Status.EndReason)]++
		for _, e := range d.Events {
			met["event "+e.Reason]++
		}
		if d.Delete {
			met["delete"]++
		}
		if len(d.Status.LeftMediaServers) > 0 {
			met["left"]++
		}
		if d.Refresh != nil {
			met["refresh"]++
		}
	}
	l.reconcile()
	var said []string
	for l.meeting != nil && len(c.data) > 0 {
		said = append(said, clock(l.now)+" "+l.happen(c))
		if l.meeting != nil {
			l.reconcile()
		}
		if t.Failed() {
			t.Fatalf("in the life of %q:\n%s", data, strings.Join(said, "\n"))
		}
	}
}

// Whatever happens, in whatever order, every plan keeps what is numbered in invariants_test.go.
func TestAnyLife(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	met := map[string]int{}
	for range 400 {
		data := make([]byte, 120)
		_, _ = random.Read(data)
		live(t, data, met)
	}
	for _, what := range []string{
		"Pending", "Active", "EndingRequested", "EndingDeleted", "EndingExpired", "EndingEmpty", "EndingUnjoined",
		"EndedRequested", "EndedDeleted", "EndedExpired", "EndedEmpty", "EndedUnjoined", "delete", "refresh",
		"event Opened", "event Ended", "event MediaServerUnreachable", "event RoomTaken", "event RoomLent", "event NoMedia", "event ConfigNotFound",
		"event Moved", "left",
	} {
		if met[what] == 0 {
			t.Errorf("no life has met %q: the test proves nothing about it", what)
		}
	}
}

// Whatever has happened, a Meeting that is asked to end does end, and its object goes.
func TestAnyLifeEnds(t *testing.T) {
	random := rand.NewChaCha8([32]byte{2})
	for range 200 {
		data := make([]byte, 60)
		_, _ = random.Read(data)
		c := &chance{data}
		l := randomLife(t, c)
		l.reconcile()
		for l.meeting != nil && len(c.data) > 0 {
			l.happen(c)
			if l.meeting != nil {
				l.reconcile()
			}
		}
		if t.Failed() {
			t.Fatalf("in the life of %q", data)
		}
		if l.meeting == nil {
			continue
		}
		l.edit(func(s *v1alpha1.MeetingSpec) { s.End = &v1alpha1.MeetingEnd{} })
		l.reconcile()
		l.pass(engineUnavailableLimit + 11*time.Minute) // a clock that was set back by ten minutes counts those again
		if l.meeting != nil && l.meeting.Status.Phase != v1alpha1.MeetingEnded {
			t.Fatalf("the life of %q does not end: %s", data, summary(l.meeting.Status))
		}
		l.pass(49 * time.Hour)
		if l.meeting != nil {
			t.Fatalf("after the life of %q the object stays: %s", data, summary(l.meeting.Status))
		}
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte("a life"))
	random := rand.NewChaCha8([32]byte{3})
	for range 8 {
		data := make([]byte, 200)
		_, _ = random.Read(data)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { live(t, data[:min(len(data), 400)], map[string]int{}) })
}
