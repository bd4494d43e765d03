// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// gone fails the test unless a participant is disconnected soon.
func gone(t *testing.T, p *peer.Peer) {
	t.Helper()
	select {
	case <-p.Disconnected():
	case <-time.After(patience):
		t.Error("the participant is still in")
	}
}

// TestKubectlDecidesAboutParticipants: spec.participants does what a presenter's page does, no matter who writes it: with a merge patch
// and with server-side apply, which adds to a list.
func TestKubectlDecidesAboutParticipants(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	// Nothing else writes to this control plane.
	w := newWorldOn(t, testkit.OwnControlPlane(t))
	const room = "moderated"
	ada := w.a.mustEnter(map[string]any{"room": room, "name": "Ada", "ticket": w.a.ticket(map[string]any{"room": room, "name": "Ada", "token": w.a.presenterToken("ada")})})
	ada.connect(t)
	eves, bobs := w.a.ticket(map[string]any{"room": room, "name": "Eve"}), w.a.ticket(map[string]any{"room": room, "name": "Bob"})
	eve, bob := w.a.mustEnter(map[string]any{"ticket": eves}), w.a.mustEnter(map[string]any{"ticket": bobs})
	evesPeer, bobsPeer := eve.connect(t), bob.connect(t)
	w.eventually(t, w.hasPeople(room, 3))
	name := w.meetingsOf(t, room)[0].Name

	if _, err := bobsPeer.Publish(t.Context(), peer.Microphone); err != nil {
		t.Fatal(err)
	}
	audible := func(want bool) func() error {
		return func() error {
			for _, p := range w.meetingsOf(t, room)[0].Status.Participants {
				if p.Name == "Bob" && p.Audio == want {
					return nil
				}
			}
			return fmt.Errorf("status is %+v", w.meetingsOf(t, room)[0].Status)
		}
	}
	w.eventually(t, audible(true))
	w.Kubectl(t, "patch", "meeting", name, "--type=merge", "-p", fmt.Sprintf(`{"spec":{"participants":[{"identity":%q,"muted":true}]}}`, bob.You.Identity))
	w.eventually(t, audible(false))

	file := filepath.Join(t.TempDir(), "removed.yaml")
	text := fmt.Sprintf("apiVersion: convene.dev/v1alpha1\nkind: Meeting\nmetadata: {name: %s}\nspec:\n  room: %s\n  participants: [{identity: %s, removed: true}]\n", name, room, eve.You.Identity)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Kubectl(t, "apply", "--server-side", "--filename", file)
	gone(t, evesPeer)
	if status, e := w.a.session(map[string]any{"ticket": eves}); status != http.StatusForbidden || !strings.Contains(e.Error, "removed") {
		t.Errorf("who was removed is let in again: %d %s", status, e.Error)
	}
	if got := w.meetingsOf(t, room)[0].Spec.Participants; len(got) != 2 {
		t.Errorf("decided is %+v, want both", got)
	}
	if back := w.a.mustEnter(map[string]any{"ticket": bobs, "session": bob.Session}); back.You.Audio {
		t.Error("who was muted comes back unmuted")
	}

	// What a presenter does to Bob is one write, and what comes of it another.
	w.eventually(t, w.hasPeople(room, 2))
	before := w.writes(t)
	if status := w.a.withSession(ada, "session/act", map[string]any{"action": "remove", "identity": bob.You.Identity}); status != http.StatusNoContent {
		t.Fatalf("remove: %d", status)
	}
	gone(t, bobsPeer)
	w.eventually(t, w.hasPeople(room, 1))
	w.eventually(t, func() error {
		if m := w.meetingsOf(t, room)[0]; m.Status.ObservedGeneration != m.Generation {
			return fmt.Errorf("generation %d of %d is observed", m.Status.ObservedGeneration, m.Generation)
		}
		return nil
	})
	if its := w.writes(t).since(before).of("meetings"); its.sum() != 2 {
		t.Errorf("to remove a participant took %v", its)
	}
}
