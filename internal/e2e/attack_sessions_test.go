// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// TestAttackCollectedSessions: sessions and access tokens that were collected before a lock, or before people had to wait, open nothing
// afterwards. Who was in comes back, at once with the access token that LiveKit has renewed, and later with a session.
func TestAttackCollectedSessions(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, controlled)
	for door, patch := range map[string]map[string]any{"locked": {"locked": true}, "asking": {"admission": "Ask"}} {
		ada, a := w.a.enter(map[string]any{"room": door, "name": "Ada"})
		_, b := w.a.enter(map[string]any{"room": door, "name": "Bob"})
		eve := func(i int) map[string]any { return map[string]any{"room": door, "name": fmt.Sprint("Eve ", i)} }
		var collected []entry
		for i := range 20 {
			collected = append(collected, w.a.mustEnter(eve(i)))
		}
		proof := w.proof(t, a)
		w.identities(t, door, 2)
		w.a.want(http.StatusOK, "PATCH", "/api/v1/meeting/"+door, patch)
		for i, e := range collected {
			again := eve(i)
			again["session"] = e.Session
			if status, _ := w.a.session(again); status == http.StatusOK {
				t.Errorf("%s: collected session %d comes in", door, i)
			}
			if status := w.a.door(e.Engine.Token); status != http.StatusForbidden {
				t.Errorf("%s: collected access token %d comes in: %d", door, i, status)
			}
		}
		if err := ada.Until(t.Context(), func() bool { return ada.Token() != "" }); err != nil {
			t.Fatal(err)
		}
		ada.Close()
		if people := w.identities(t, door, 1); people[0] != b.You.Identity {
			t.Errorf("%s: %v are in", door, people)
		}
		again, err := peer.Join(t.Context(), a.Engine.URL, ada.Token())
		if err != nil {
			t.Fatalf("%s: with a renewed access token: %v", door, err)
		}
		again.Close()
		back := w.a.mustEnter(map[string]any{"room": door, "name": "Ada", "session": proof})
		if back.You.Identity != a.You.Identity {
			t.Errorf("%s: %s came back as %s", door, a.You.Identity, back.You.Identity)
		}
		back.connect(t)
	}
}
