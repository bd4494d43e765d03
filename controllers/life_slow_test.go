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

// The engine stays away while a Meeting is deleted: after five minutes the finalizer goes, with an Event, and the room
// is closed when the engine is back.
func TestEngineStaysAwayDuringADelete(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m")
	name := w.enter(c, m, "anna")
	w.is("m", v1alpha1.MeetingActive, people(1))
	for _, verb := range []string{"rooms", "participants", "close"} {
		w.engine.Break(verb, faultyengine.ErrUnavailable)
	}
	w.configSays(v1alpha1.ConditionMediaReachable, v1alpha1.ReasonUnreachable)
	w.must(w.Client.Delete(t.Context(), m))
	w.is("m", v1alpha1.MeetingEnding, because(v1alpha1.EndDeleted))
	w.pass(4 * time.Minute)
	w.is("m", v1alpha1.MeetingEnding)
	w.pass(time.Minute + 2*time.Second)
	w.gone("m")
	w.eventually(func() error {
		if out := w.Kubectl(t, "get", "events", "-o", "jsonpath={.items[*].reason}"); !strings.Contains(out, "EngineAway") {
			return fmt.Errorf("events are %s", out)
		}
		return nil
	})
	for _, verb := range []string{"rooms", "participants", "close"} {
		w.engine.Break(verb, nil)
	}
	w.configSays(v1alpha1.ConditionMediaReachable, v1alpha1.ReasonReachable)
	w.eventually(func() error {
		w.pass(10 * time.Second)
		if slices.Contains(w.engine.Left(), name) {
			return fmt.Errorf("the room is still there")
		}
		return nil
	})
}
