// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestVariantChangesWhileAMeetingRuns: the other variant has other operations and reads its own fields, without a
// restart; meetings, their people and their links are the same ones.
func TestVariantChangesWhileAMeetingRuns(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	const room = "board"
	ada, e := w.a.enter(map[string]any{"room": room, "name": "Ada", "duration": "01:00:00"})
	w.eventually(t, w.hasPeople(room, 1))
	link := w.a.ticket(map[string]any{"room": room, "name": "Grace"})
	before := w.meetingsOf(t, room)[0]

	// becomes changes the ConferenceConfig, and waits until the gateway answers GET stats as it should then.
	becomes := func(patch string, stats int) {
		t.Helper()
		w.Kubectl(t, "patch", "confcfg", "default", "-n", w.Namespace, "--type=merge", "-p", patch)
		w.eventually(t, func() error {
			if r := w.a.call("GET", "/api/v1/stats", nil); r.status != stats {
				return fmt.Errorf("stats answers %d %s", r.status, r.raw)
			}
			return w.configReady("default")
		})
		now := w.meetingsOf(t, room)[0]
		if now.UID != before.UID || now.Status.Phase != v1alpha1.MeetingActive || !now.Status.StartTime.Equal(before.Status.StartTime) ||
			!now.Status.ExpiryTime.Equal(before.Status.ExpiryTime) || now.Status.ParticipantCount != 1 {
			t.Errorf("the Meeting was %+v and is %+v", before.Status, now.Status)
		}
		if state := w.a.as(e.Session, "GET", "/session", nil); state.text("state") != "live" {
			t.Errorf("who is in is told %s", state.raw)
		}
	}

	becomes(`{"spec":{"variant":"B","api":{"disabled":["stats"]}}}`, http.StatusForbidden)
	// Variant B has no end operation, and knows no password of a room.
	w.a.want(http.StatusNotFound, "DELETE", "/api/v1/meeting/"+room, nil)
	w.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": room, "name": "Tom", "roomPassword": "of variant A"})
	if status, grace := w.a.session(map[string]any{"room": room, "name": "Grace", "ticket": link}); status != http.StatusOK || grace.Engine.Token == "" {
		t.Errorf("a link of before answers %d %+v", status, grace)
	}

	becomes(`{"spec":{"variant":"A","api":{"disabled":null,"allowed":{"docs":false}}}}`, http.StatusOK)
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, nil)
	<-ada.Disconnected()
}
