// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestAttackWaitForTheEnd: who waits until a room has ended empty, and has it made again, finds what was decided in it.
func TestAttackWaitForTheEnd(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, controlled, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{EmptyTimeout: &metav1.Duration{Duration: time.Second}}
	})
	const room = "again"
	bob, b := w.a.enter(map[string]any{"room": room, "name": "Bob"})
	decided := map[string]any{"locked": true, "admission": "Ask", "policy": map[string]any{"chat": "Presenters", "microphone": "Presenters"}}
	w.a.want(http.StatusOK, "PATCH", "/api/v1/meeting/"+room, decided)
	w.a.want(http.StatusOK, "PATCH", fmt.Sprintf("/api/v1/meeting/%s/participants/%s", room, b.You.Identity), map[string]any{"muted": true})
	w.eventually(t, w.hasPeople(room, 1))
	was := w.meetingsOf(t, room)[0].Spec
	for _, path := range []string{"join", "meeting"} {
		bob.Close()
		w.endedBy(t, room, v1alpha1.EndEmpty)
		w.a.insist(http.StatusOK, "POST", "/api/v1/"+path, map[string]any{"room": room, "name": "Eve"})
		is := w.meetingsOf(t, room)[0].Spec
		if fmt.Sprint(is.Policy, is.Admission, is.Participants) != fmt.Sprint(was.Policy, was.Admission, was.Participants) || is.Locked == nil || !*is.Locked {
			t.Errorf("POST %s: decided is %+v, was %+v", path, is, was)
		}
		w.a.refused("a room that was locked before it ended", map[string]any{"room": room, "name": "Eve"}, "Locked")
		bob, _ = w.a.enter(map[string]any{"room": room, "name": "Ada", "token": w.a.presenterToken("ada")})
		w.eventually(t, w.hasPeople(room, 1))
	}
}
