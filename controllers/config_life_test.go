// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// A ConferenceConfig that breaks while meetings run: they run, and can be ended.
func TestConfigBreaksWhileMeetingsRun(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m, other := w.meeting("m"), w.meeting("other")
	w.enter(c, m, "anna")
	w.enter(c, other, "tom")
	w.is("m", v1alpha1.MeetingActive, people(1))
	w.is("other", v1alpha1.MeetingActive, people(1))
	for _, name := range []string{"keys", "livekit"} {
		w.must(w.Client.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}))
	}
	w.patch(c, `{"spec":{"meetings":{"maxDuration":"1h","defaultDuration":"2h"}}}`)
	w.configSays(v1alpha1.ConditionSettingsInvalid, v1alpha1.ReasonContradiction)
	w.configSays(v1alpha1.ConditionMediaServersReachable, v1alpha1.ReasonSecretNotFound)
	w.configSays(v1alpha1.ConditionAPIKeysResolved, v1alpha1.ReasonSecretNotFound)
	w.pass(2 * time.Hour)
	w.is("m", v1alpha1.MeetingActive, people(1), func(m *v1alpha1.Meeting) bool { return m.Status.ExpiryTime == nil })
	w.patch(m, `{"spec":{"end":{}}}`)
	w.is("m", v1alpha1.MeetingEnded, because(v1alpha1.EndRequested))
	w.is("other", v1alpha1.MeetingActive, people(1))
}

// The engine is reached at another address: nothing ends for it, and ends reach it there.
func TestMediaEndpointChanges(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m")
	w.enter(c, m, "anna")
	before := w.is("m", v1alpha1.MeetingActive, people(1))
	w.patch(testkit.MediaServer(w.Namespace, ""), `{"spec":{"apiURL":"http://livekit.example:7880"}}`)
	w.eventually(func() error {
		media := w.media(c)
		media.Server.URL = "http://livekit.example:7880"
		if since, err := w.observer.Reach(media.Server); since.IsZero() || err != nil {
			return fmt.Errorf("it has not been seen there (%w)", err)
		}
		return nil
	})
	w.configSays(v1alpha1.ConditionMediaServersReachable, v1alpha1.ReasonReachable)
	w.pass(time.Hour)
	after := w.is("m", v1alpha1.MeetingActive, people(1))
	if !after.Status.StartTime.Equal(before.Status.StartTime) {
		t.Errorf("it began at %s, and then at %s", before.Status.StartTime, after.Status.StartTime)
	}
	w.patch(m, `{"spec":{"end":{}}}`)
	w.is("m", v1alpha1.MeetingEnded, because(v1alpha1.EndRequested))
}

// Events tell once of a problem, of its end, and of the meeting's end, and of nothing else.
func TestEventsOfAMeeting(t *testing.T) {
	w := newWorld(t)
	m := w.meeting("m", func(m *v1alpha1.Meeting) { m.Spec.Duration = "1h" })
	told := func() string {
		return w.Kubectl(t, "get", "events.v1.events.k8s.io", "--field-selector=regarding.name=m",
			"-o", `jsonpath={range .items[*]}{.reason}{.series.count},{.note}{"\n"}{end}`)
	}
	has := func(want ...string) {
		t.Helper()
		w.eventually(func() error {
			lines := strings.Split(strings.TrimSpace(told()), "\n")
			if len(lines) != len(want) {
				return fmt.Errorf("told was:\n%s", strings.Join(lines, "\n"))
			}
			for _, line := range want {
				if !strings.Contains("\n"+strings.Join(lines, "\n"), "\n"+line) {
					return fmt.Errorf("%q was not told:\n%s", line, strings.Join(lines, "\n"))
				}
			}
			return nil
		})
	}
	problem, opened := "ConfigNotFound,", "Opened,People can enter at https://x.example/join/m"
	has(problem)
	c := w.config()
	has(problem, opened)
	w.enter(c, m, "anna", "tom")
	w.is("m", v1alpha1.MeetingActive, people(2))
	for range 3 { // Looks, and changes that change no phase, tell nothing.
		w.touch()
	}
	w.patch(m, `{"spec":{"duration":"2h"}}`)
	w.is("m", v1alpha1.MeetingActive, func(m *v1alpha1.Meeting) bool { return m.Status.Duration == "2h" })
	has(problem, opened)
	w.pass(2*time.Hour + time.Minute)
	w.is("m", v1alpha1.MeetingEnded, because(v1alpha1.EndExpired))
	w.touch()
	has(problem, opened, "Ended,The meeting's duration was over")
}
