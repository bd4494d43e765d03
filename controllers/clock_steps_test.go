// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
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
