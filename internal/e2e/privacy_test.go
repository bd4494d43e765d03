// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// countsAlone is nil while the status of a room's Meeting has so many participants and no object of the namespace has any of the
// names.
func (w *world) countsAlone(t *testing.T, room string, count int32, names ...string) func() error {
	return func() error {
		if s := w.meetingsOf(t, room)[0].Status; s.ParticipantCount != count || len(s.Participants) > 0 {
			return fmt.Errorf("status is %+v", s)
		}
		text := w.Kubectl(t, "get", "meetings,conferenceconfigs,events", "-o", "yaml")
		for _, name := range names {
			if strings.Contains(text, name) {
				return fmt.Errorf("%s is named in\n%s", name, text)
			}
		}
		return nil
	}
}

// TestMeetingsThatShowNoNames: where a tenant asks for counts, no object tells who is in a meeting, and the API answers on every
// replica as it does for other tenants. While LiveKit is unavailable it answers the counts. Names that were shown before go as
// soon as the tenant asks for it.
func TestMeetingsThatShowNoNames(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Privacy = &v1alpha1.PrivacySpec{Participants: v1alpha1.ShowCounts}
	})
	ada, _ := w.a.enter(map[string]any{"room": "board", "name": "Adalina", "audio": true})
	w.a.enter(map[string]any{"room": "board", "name": "Gracelyn", "hide": true})
	w.eventually(t, w.countsAlone(t, "board", 2, "Adalina", "Gracelyn"))
	answers := func(listed ...string) func() error {
		return func() error {
			for range 2 * replicas {
				if stats := w.a.want(http.StatusOK, "GET", "/api/v1/stats", nil); !strings.Contains(stats.raw, `"totalUsers":2`) {
					return errors.New(stats.raw)
				}
				got := w.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil)
				for _, text := range append(listed, `"participants":2`) {
					if !strings.Contains(got.raw, text) {
						return fmt.Errorf("%s is not in %s", text, got.raw)
					}
				}
			}
			return nil
		}
	}
	w.eventually(t, answers(`"name":"Adalina"`, `"name":"Gracelyn"`, `"hidden":true`))

	w.enterAndShowNames(t)
	w.livekit.Kill()
	w.eventually(t, answers(`"peers":[]`))
	ada.Close()
}

// enterAndShowNames takes the tenant that shows names through the change to counts, with a participant in.
func (w *world) enterAndShowNames(t *testing.T) {
	t.Helper()
	w.b.enter(map[string]any{"room": "open", "name": "Barbarella"})
	w.eventually(t, func() error {
		if s := w.meetingsOf(t, "open")[0].Status; len(s.Participants) != 1 || s.Participants[0].Name != "Barbarella" {
			return fmt.Errorf("status is %+v", s)
		}
		return nil
	})
	w.Kubectl(t, "patch", "conferenceconfig", "variant-b", "--type=merge", "-p", `{"spec":{"privacy":{"participants":"Counts"}}}`)
	w.eventually(t, w.countsAlone(t, "open", 1, "Barbarella"))
}
