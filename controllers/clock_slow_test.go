// SPDX-License-Identifier: Apache-2.0

//go:build slow

package controllers

import (
	"fmt"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
)

// The clock is set back and corrected: nothing is early, and nothing waits for its old alarm.
func TestClockSetBackAndCorrected(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m", func(m *v1alpha1.Meeting) { m.Spec.Duration = "1h" })
	w.enter(c, m, "anna")
	expires := w.is("m", v1alpha1.MeetingActive, people(1)).Status.ExpiryTime.Time
	set := func(d time.Duration) {
		w.mu.Lock()
		w.ahead += d
		w.mu.Unlock()
		w.meetings.ClockJumped()
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
