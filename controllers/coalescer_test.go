// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

func statusOf(count int32) v1alpha1.MeetingStatus {
	s := v1alpha1.MeetingStatus{Phase: v1alpha1.MeetingActive, ParticipantCount: count}
	if count > 0 {
		s.StartTime = &metav1.Time{Time: monday}
		s.Participants = []v1alpha1.Participant{{Identity: "a"}}
		s.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionOccupied, Status: metav1.ConditionTrue}}
	}
	return s
}

// A burst of arrivals is one write, 2 s after the first at the latest; a lone change is written within 1 s.
func TestBurstsAreOneWrite(t *testing.T) {
	c := newCoalescer()
	m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Status: statusOf(0)}
	now, people, writes := monday, int32(0), 0
	// arrive has a participant come every tenth of a second, and the status be written when it may be.
	arrive := func(d time.Duration, change func(time.Duration) bool) {
		for passed := time.Duration(0); passed < d; passed += 100 * time.Millisecond {
			if change(passed) {
				people++
			}
			if people != m.Status.ParticipantCount && c.hold(m, statusOf(people), now) == 0 {
				m.Status = statusOf(people)
				writes++
			}
			now = now.Add(100 * time.Millisecond)
		}
	}
	once := func(passed time.Duration) bool { return passed == 0 }
	arrive(time.Second, once)
	if writes != 1 {
		t.Errorf("a lone arrival: %d writes within a second", writes)
	}
	arrive(20*time.Second, func(time.Duration) bool { return true })
	if writes > 1+10 {
		t.Errorf("twenty seconds of arrivals: %d writes", writes-1)
	}
	arrive(2*time.Second, func(time.Duration) bool { return false })
	if m.Status.ParticipantCount != people {
		t.Errorf("%d came, and %d are written two seconds after the last", people, m.Status.ParticipantCount)
	}
}

// What people wait for does not wait for others.
func TestOnlyPeopleWait(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(from, to *v1alpha1.MeetingStatus)
		waits  bool
	}{
		{"an arrival", func(_, to *v1alpha1.MeetingStatus) { *to = statusOf(1) }, true},
		{"the first status", func(from, _ *v1alpha1.MeetingStatus) { from.Phase = "" }, false},
		{"an end", func(_, to *v1alpha1.MeetingStatus) { to.Phase = v1alpha1.MeetingEnding }, false},
		{"another length", func(_, to *v1alpha1.MeetingStatus) { to.Duration = "1h" }, false},
		{"another condition", func(_, to *v1alpha1.MeetingStatus) {
			to.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse}}
		}, false},
		{"another generation", func(_, to *v1alpha1.MeetingStatus) { to.ObservedGeneration = 2 }, true},
	} {
		from, to := statusOf(0), statusOf(0)
		tc.change(&from, &to)
		wait := newCoalescer().hold(&v1alpha1.Meeting{Status: from}, to, monday)
		if (wait > 0) != tc.waits || wait > between {
			t.Errorf("%s waits %s", tc.reason, wait)
		}
	}
}

// crowd has many Meetings whose statuses change each second, and writes when it may, for a time.
type crowd struct {
	c        *coalescer
	meetings []*v1alpha1.Meeting
	now      time.Time
	bytes    int
	// waited is the longest that a change of the last Meeting waited.
	waited time.Duration
}

func newCrowd(n int) *crowd {
	c := &crowd{c: newCoalescer(), now: monday}
	for i := range n {
		c.meetings = append(c.meetings, &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i)}, Status: statusOf(1)})
	}
	return c
}

func (c *crowd) run(d time.Duration, change func(i int, s *v1alpha1.MeetingStatus, at time.Time)) {
	since := map[int]time.Time{}
	for end := c.now.Add(d); c.now.Before(end); c.now = c.now.Add(500 * time.Millisecond) {
		for i, m := range c.meetings {
			to := *m.Status.DeepCopy()
			change(i, &to, c.now)
			if equality.Semantic.DeepEqual(m.Status, to) {
				continue
			}
			if since[i].IsZero() {
				since[i] = c.now
			}
			if c.c.hold(m, to, c.now) > 0 {
				continue
			}
			m.Status = to
			c.bytes += sizeOf(to)
			if i == len(c.meetings)-1 {
				c.waited = max(c.waited, c.now.Sub(since[i]))
			}
			since[i] = time.Time{}
		}
	}
}

// All Meetings together write no more than a bound, what they write last is what is so, and a participant who comes does not
// wait for the microphones of others.
func TestPeopleWritesOfAllMeetingsAreBounded(t *testing.T) {
	c := newCrowd(1000)
	last := len(c.meetings) - 1
	toggle := func(i int, s *v1alpha1.MeetingStatus, at time.Time) {
		if i == last {
			*s = statusOf(1 + int32(at.Sub(monday)/(5*time.Second))%2) // a participant comes and goes
			return
		}
		s.Participants[0].Audio = at.Second()%2 == 0
	}
	const d = 2 * time.Minute
	c.run(d, toggle)
	if most := detailBytes*int(d/time.Second) + detailBytes + 100*statusBytes; c.bytes > most {
		t.Errorf("%d bytes in %s, want %d at most", c.bytes, d, most)
	}
	if c.waited > 3*time.Second {
		t.Errorf("an arrival waited %s", c.waited)
	}
	final := c.now
	c.run(time.Minute, func(i int, s *v1alpha1.MeetingStatus, _ time.Time) { toggle(i, s, final) })
	for i, m := range c.meetings {
		want := *m.Status.DeepCopy()
		if toggle(i, &want, final); !equality.Semantic.DeepEqual(want, m.Status) {
			t.Fatalf("Meeting %d says %+v a minute after its last change", i, m.Status)
		}
	}
}

// The first arrival in each of many meetings waits for nobody: it begins the meeting.
func TestFirstArrivalsAreNotBounded(t *testing.T) {
	c := newCrowd(1000)
	for _, m := range c.meetings {
		m.Status = statusOf(0)
	}
	c.run(2*time.Second, func(_ int, s *v1alpha1.MeetingStatus, _ time.Time) { *s = statusOf(1) })
	for i, m := range c.meetings {
		if m.Status.StartTime == nil {
			t.Fatalf("Meeting %d has not begun after two seconds", i)
		}
	}
}

func TestMicrophonesAreWrittenSeldom(t *testing.T) {
	c := newCrowd(1)
	c.run(time.Minute, func(_ int, s *v1alpha1.MeetingStatus, at time.Time) { s.Participants[0].Audio = at.Second()%2 == 0 })
	if writes := c.bytes / sizeOf(statusOf(1)); writes < 4 || writes > 7 {
		t.Errorf("in a minute of changes it was written %d times", writes)
	}
}

// A participant is removed: the change of the spec and what comes of it a second later are one write.
func TestADecisionAndWhatComesOfItAreOneWrite(t *testing.T) {
	c := newCrowd(1)
	m := c.meetings[0]
	m.Status = statusOf(2)
	m.Status.ObservedGeneration = 1
	begun := c.now
	c.run(10*time.Second, func(_ int, s *v1alpha1.MeetingStatus, at time.Time) {
		s.ObservedGeneration = 2
		if at.After(begun.Add(time.Second)) {
			s.Participants, s.ParticipantCount = s.Participants[:1], 1
		}
	})
	if c.bytes != sizeOf(m.Status) || m.Status.ParticipantCount != 1 {
		t.Errorf("%d bytes were written for one write of %d", c.bytes, sizeOf(m.Status))
	}
}

// A change of the spec that shows in nothing is seen to be observed in a few seconds, and at once if it shows.
func TestTheSpecIsObservedSoon(t *testing.T) {
	c := newCrowd(1)
	m := c.meetings[0]
	c.run(3*time.Second, func(_ int, s *v1alpha1.MeetingStatus, _ time.Time) { s.ObservedGeneration = 7 })
	if m.Status.ObservedGeneration != 7 {
		t.Errorf("generation %d is observed after three seconds", m.Status.ObservedGeneration)
	}
	to := *m.Status.DeepCopy()
	to.ObservedGeneration, to.Duration = 8, "00:30:00"
	if wait := c.c.hold(m, to, c.now); wait > 0 {
		t.Errorf("another duration waits for %s", wait)
	}
}

// Meetings that are deleted while participants come and go leave nothing behind.
func TestDeletedMeetingsLeaveNothingBehind(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	const some = 20
	kept := func() int {
		r := w.meetings.writes
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.last) + len(r.waiting)
	}
	for i := range some {
		w.meeting(fmt.Sprint("m", i))
	}
	for i := range some { // An arrival that is written with a Meeting's first status leaves no entry.
		w.enter(c, w.is(fmt.Sprint("m", i), v1alpha1.MeetingActive), "anna")
	}
	for i := range some {
		w.is(fmt.Sprint("m", i), v1alpha1.MeetingActive, people(1))
	}
	if kept() < some {
		t.Fatalf("%d entries of %d Meetings", kept(), some)
	}
	w.must(w.Client.DeleteAllOf(t.Context(), &v1alpha1.Meeting{}, client.InNamespace(w.Namespace)))
	w.eventually(func() error {
		if n := kept(); n > 0 {
			return fmt.Errorf("%d entries are left", n)
		}
		return nil
	})
}
