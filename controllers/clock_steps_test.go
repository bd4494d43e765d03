// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

// listed are Meetings that are listed, whatever is asked.
type listed struct {
	client.Reader
	meetings []v1alpha1.Meeting
}

// List lists.
func (l listed) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*v1alpha1.MeetingList).Items = l.meetings
	return nil
}

// A wait for a deadline ends within a second after the clock was set, and not otherwise.
func TestJumpsWakeEveryMeeting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead, woken atomic.Int64
		j := &ClockSteps{
			Meetings: listed{meetings: make([]v1alpha1.Meeting, 3)},
			Now:      func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
			Wake:     func(*v1alpha1.Meeting) { woken.Add(1) },
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { _ = j.Start(ctx) }()
		pass := func(d time.Duration) {
			<-time.After(d)
			synctest.Wait()
		}
		for _, step := range []struct {
			reason string
			jump   time.Duration
			want   int64
		}{
			{"nothing happens", 0, 0}, {"ten minutes ahead", 10 * time.Minute, 3}, {"nothing more", 0, 0},
			{"corrected", -10 * time.Minute, 3}, {"ten minutes back", -10 * time.Minute, 3}, {"corrected again", 10 * time.Minute, 3},
			{"as a clock that is slowed down", -100 * time.Millisecond, 0},
		} {
			ahead.Add(int64(step.jump))
			pass(clockStepCheck)
			if got := woken.Swap(0); got != step.want {
				t.Errorf("%s: %d were woken, want %d", step.reason, got, step.want)
			}
			pass(time.Minute)
			if got := woken.Swap(0); got != 0 {
				t.Errorf("%s: %d were woken in the minute after", step.reason, got)
			}
		}
	})
}

// The clock is set back and corrected, with nobody but the alarms to notice: nothing is early, and nothing waits for its
// old alarm.
func TestClockSetBackAndCorrected(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m", func(m *v1alpha1.Meeting) { m.Spec.Duration = "1h" })
	w.enter(c, m, "anna")
	expires := w.is("m", v1alpha1.MeetingActive, people(1)).Status.ExpiryTime.Time
	set := func(d time.Duration) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ahead += d
	}
	looked := func() {
		w.engine.Took()
		w.eventually(func() error {
			if n := w.engine.Count(""); n < 4 {
				return fmt.Errorf("%d calls", n)
			}
			return nil
		})
	}
	set(50 * time.Minute)
	looked()
	set(-10 * time.Minute)
	looked()
	w.is("m", v1alpha1.MeetingActive, people(1))
	set(10 * time.Minute)
	looked()
	w.is("m", v1alpha1.MeetingActive, people(1))
	set(10 * time.Minute)
	ended := w.is("m", v1alpha1.MeetingEnded, because(v1alpha1.EndExpired))
	if ended.Status.EndTime.Time.Before(expires) {
		t.Errorf("it ended at %s, before %s", ended.Status.EndTime, expires)
	}
}
