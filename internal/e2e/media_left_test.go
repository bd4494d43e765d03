// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestAWrongKeyEndsNothing: somebody writes a wrong key into the Secret of a media server on which people talk. Longer than after a minute
// of silence, and than an empty meeting lasts, the meeting is where it was, with the same people.
func TestAWrongKeyEndsNothing(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.MediaRefs = testkit.MediaRefs("livekit", "second")
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{EmptyTimeout: &metav1.Duration{Duration: time.Second}}
	})
	servers := map[string]*testkit.LiveKitServer{"livekit": w.livekit, "second": w.secondMediaServer(t)}
	ada, _ := w.a.enter(map[string]any{"room": "board", "name": "Ada"})
	w.eventually(t, w.hasPeople("board", 1))
	at := w.meetingsOf(t, "board")[0].Status.MediaServer.Name

	setKey := func(secret string) {
		w.Kubectl(t, "patch", "secret", at, "--type=merge", "-p", fmt.Sprintf(`{"stringData":{"apiSecret":%q}}`, secret))
	}
	setKey("another-secret-of-32-characters-or-more")
	w.eventually(t, func() error { return w.mediaIs(at, v1alpha1.ReasonUnauthorized) })
	w.Create(t, w.meeting("clock", func(s *v1alpha1.MeetingSpec) { s.Duration = "75s" }))
	testkit.Eventually(t, 3*time.Minute, w.hasPhase("clock", v1alpha1.MeetingEnded))
	check := func(when string) {
		t.Helper()
		if err := w.placed("board", at); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if err := w.hasPeople("board", 1)(); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		select {
		case <-ada.Disconnected():
			t.Errorf("%s, Ada is out", when)
		default:
		}
	}
	check("while the key is refused")

	setKey(servers[at].Secret)
	w.eventually(t, func() error { return w.mediaIs(at, v1alpha1.ReasonReachable) })
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "other"})
	w.eventually(t, func() error { return w.placed("other", "") })
	check("with the right key")
	ada.Close()
	testkit.Eventually(t, time.Minute, func() error {
		return phaseIs(w.meetingsOf(t, "board"), v1alpha1.MeetingEnded)
	})
}

// mediaIs fails while the reason of a MediaServer's Reachable is another.
func (w *world) mediaIs(name, reason string) error {
	var s v1alpha1.MediaServer
	if err := w.Client.Get(context.Background(), w.key(name), &s); err != nil {
		return err
	}
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionReachable); c == nil || c.Reason != reason {
		return fmt.Errorf("the conditions of %s are %+v", name, s.Status.Conditions)
	}
	return nil
}
