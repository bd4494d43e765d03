// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestNothingHangsWithoutManagers takes the manager away before what it cares for, people in a meeting included.
func TestNothingHangsWithoutManagers(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t)
	w.Create(t, w.meeting("standing"))
	w.a.enter(map[string]any{"room": "busy", "name": "Ada"})
	w.eventually(t, w.hasPhase("standing", v1alpha1.MeetingActive))
	w.manager.Kill()
	w.Kubectl(t, "delete", "meetings,conferenceconfigs", "--all", "--timeout=30s")
	if out := w.Kubectl(t, "get", "meetings,conferenceconfigs", "--output=name"); strings.TrimSpace(out) != "" {
		t.Fatalf("still there: %s", out)
	}
}
