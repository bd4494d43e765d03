// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// away makes the engine fail, or answer again, and waits until that has been noticed.
func (w *world) away(away bool) {
	w.t.Helper()
	for _, verb := range []string{"rooms", "participants", "ensure", "close"} {
		if away {
			w.engine.Break(verb, faultyengine.ErrUnavailable)
		} else {
			w.engine.Break(verb, nil)
		}
	}
	w.configSays(v1alpha1.ConditionMediaServersReachable, map[bool]string{true: v1alpha1.ReasonUnreachable, false: v1alpha1.ReasonReachable}[away])
}

// The pages learn of an expiry that has changed while the engine could not be told, and of one that another replica told
// them wrongly.
func TestPagesLearnOfTheExpiryInTheEnd(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m", func(m *v1alpha1.Meeting) { m.Spec.Duration = "1h" })
	name := w.enter(c, m, "anna")
	told := func() error {
		expires := w.is("m", v1alpha1.MeetingActive, people(1)).Status.ExpiryTime.Time
		if got := w.engine.Told(name).ExpiresAt; !got.Equal(expires) {
			return fmt.Errorf("the pages were told %s, and it expires at %s", got, expires)
		}
		return nil
	}
	w.eventually(told)
	first := w.is("m", v1alpha1.MeetingActive).Status.ExpiryTime
	w.away(true)
	w.patch(m, `{"spec":{"duration":"2h"}}`)
	w.is("m", v1alpha1.MeetingActive, func(m *v1alpha1.Meeting) bool { return m.Status.ExpiryTime.Sub(first.Time) == time.Hour })
	w.away(false)
	w.eventually(told)

	w.must(w.engine.Ensure(t.Context(), name, engine.RoomOptions{}, engine.RoomState{ExpiresAt: first.Time}))
	w.eventually(told)

	// A LiveKit that refuses this call alone keeps no status back.
	w.engine.Break("ensure", faultyengine.ErrUnavailable)
	w.patch(m, `{"spec":{"duration":"3h"}}`)
	w.is("m", v1alpha1.MeetingActive, func(m *v1alpha1.Meeting) bool { return m.Status.ExpiryTime.Sub(first.Time) == 2*time.Hour })
	w.engine.Break("ensure", nil)
	w.eventually(told)
}
