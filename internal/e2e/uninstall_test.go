// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"errors"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestNoOrderOfDeletionHangs deletes a tenant, its Secrets and its meetings, one of which has people in it, in
// different orders, with the manager there. The deletion of a namespace can take any order.
func TestNoOrderOfDeletionHangs(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	all := []string{"conferenceconfigs", "secrets", "meetings"}
	for _, first := range all {
		t.Run(first+" first", func(t *testing.T) {
			w := newWorld(t)
			w.Create(t, w.meeting("standing"))
			w.a.enter(map[string]any{"room": "busy", "name": "Ada"})
			w.eventually(t, w.hasPhase("standing", v1alpha1.MeetingActive))
			w.Kubectl(t, "delete", first, "--all", "--wait=false")
			for _, kind := range all {
				w.Kubectl(t, "delete", kind, "--all", "--wait=false")
			}
			w.eventually(t, w.nothingLeft(t))
		})
	}
}

func (w *world) nothingLeft(t *testing.T) func() error {
	return func() error {
		if out := w.Kubectl(t, "get", "meetings,conferenceconfigs", "--output=name"); strings.TrimSpace(out) != "" {
			return errors.New("still there: " + out)
		}
		return nil
	}
}

// TestNothingHangsWithoutManagers takes the manager away before what it cares for, people in a meeting included.
func TestNothingHangsWithoutManagers(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t)
	w.Create(t, w.meeting("standing"))
	w.a.enter(map[string]any{"room": "busy", "name": "Ada"})
	w.eventually(t, w.hasPhase("standing", v1alpha1.MeetingActive))
	w.manager.Kill()
	w.Kubectl(t, "delete", "meetings,conferenceconfigs", "--all", "--timeout=30s")
	if err := w.nothingLeft(t)(); err != nil {
		t.Fatal(err)
	}
}
