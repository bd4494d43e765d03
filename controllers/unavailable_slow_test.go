// SPDX-License-Identifier: Apache-2.0

//go:build slow

package controllers

import (
	"fmt"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
)

// An engine that does not answer for a moment does not begin the empty time-out again.
func TestFailedLookKeepsTheEmptyTimeout(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m")
	name := w.enter(c, m, "anna")
	w.is("m", v1alpha1.MeetingActive, people(1))
	w.engine.Set(name)
	w.observer.Hint(name)
	w.is("m", v1alpha1.MeetingActive, people(0))
	w.pass(4 * time.Minute)
	w.engine.Took()
	w.eventually(func() error { // the second of these looks has begun after the time passed, and been answered
		if n := w.engine.Count("rooms"); n < 3 {
			return fmt.Errorf("looked %d times", n)
		}
		return nil
	})
	w.away(true)
	w.away(false)
	w.pass(2 * time.Minute)
	w.is("m", v1alpha1.MeetingEnded, because(v1alpha1.EndEmpty))
}
