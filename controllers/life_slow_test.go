// SPDX-License-Identifier: Apache-2.0

//go:build slow

package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// The engine stays away while a Meeting is ended: after five minutes it has ended, with an Event, and the room is closed when the engine
// is back. A Meeting that is deleted meanwhile goes at once, and its room is closed then too.
func TestEngineStaysAwayDuringAnEnd(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m")
	name := w.enter(c, m, "anna")
	deleted := w.meeting("deleted")
	other := w.enter(c, deleted, "tom")
	w.is("m", v1alpha1.MeetingActive, people(1))
	w.is("deleted", v1alpha1.MeetingActive, people(1))
	for _, verb := range []string{"rooms", "participants", "close"} {
		w.engine.Break(verb, faultyengine.ErrUnavailable)
	}
	w.configSays(v1alpha1.ConditionMediaServersReachable, v1alpha1.ReasonUnreachable)
	w.must(w.Client.Delete(t.Context(), deleted))
	w.patch(m, `{"spec":{"end":{}}}`)
	w.is("m", v1alpha1.MeetingEnding, because(v1alpha1.EndRequested))
	w.pass(4 * time.Minute)
	w.is("m", v1alpha1.MeetingEnding)
	w.pass(time.Minute + 2*time.Second)
	w.is("m", v1alpha1.MeetingEnded)
	w.eventually(func() error {
		if out := w.Kubectl(t, "get", "events", "-o", "jsonpath={.items[*].reason}"); !strings.Contains(out, v1alpha1.ReasonMediaServerUnreachable) {
			return fmt.Errorf("events are %s", out)
		}
		return nil
	})
	for _, verb := range []string{"rooms", "participants", "close"} {
		w.engine.Break(verb, nil)
	}
	w.configSays(v1alpha1.ConditionMediaServersReachable, v1alpha1.ReasonReachable)
	w.eventually(func() error {
		w.pass(10 * time.Second)
		if left := w.engine.Left(); slices.Contains(left, name) || slices.Contains(left, other) {
			return fmt.Errorf("the rooms %q are still there", left)
		}
		return nil
	})
}
