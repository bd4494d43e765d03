// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestConditionsTellWhetherLiveKitAnswers: those of the MediaServer, and of the tenant that uses it.
func TestConditionsTellWhetherLiveKitAnswers(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	saysOf := func(object, condition, status, reason string) {
		t.Helper()
		path := `jsonpath={.status.conditions[?(@.type=="` + condition + `")]['status','reason']}`
		w.eventually(t, func() error {
			if got := w.Kubectl(t, "get", object, "-o", path); got != status+" "+reason {
				return fmt.Errorf("%s is %q, want %s %s", condition, got, status, reason)
			}
			return nil
		})
	}
	says := func(condition, status, reason string) {
		t.Helper()
		saysOf("mediaserver/livekit", condition, status, reason)
	}
	const managers, tenants = v1alpha1.ConditionReachable, "conferenceconfig/default"
	says(managers, "True", v1alpha1.ReasonReachable)
	saysOf(tenants, v1alpha1.ConditionMediaServersReachable, "True", v1alpha1.ReasonReachable)
	says(v1alpha1.ConditionReady, "True", v1alpha1.ReasonServing)
	w.Kubectl(t, "patch", "mediaserver", "livekit", "--type=merge", "-p", `{"spec":{"apiURL":"`+w.b.baseURL+`"}}`)
	says(managers, "False", v1alpha1.ReasonUnreachable)
	says(v1alpha1.ConditionReady, "False", v1alpha1.ReasonUnreachable)
	saysOf(tenants, v1alpha1.ConditionMediaServersReachable, "False", v1alpha1.ReasonUnreachable)
	saysOf(tenants, v1alpha1.ConditionReady, "False", v1alpha1.ReasonUnreachable)
}

// TestKubectlTellsWhatIsGoingOn runs the commands of docs/operate.md that only look.
func TestKubectlTellsWhatIsGoingOn(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	w.Create(t, w.meeting("board"), w.meeting("waiting", func(s *v1alpha1.MeetingSpec) { s.ConfigRef.Name = "nobody" }))
	w.Kubectl(t, "wait", "--for=condition=Ready", "--timeout=30s", "meeting/board")
	w.eventually(t, w.hasPhase("waiting", v1alpha1.MeetingPending))
	shows := func(want []string, not string, args ...string) {
		t.Helper()
		out := w.Kubectl(t, args...)
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("kubectl %q does not show %q:\n%s", args, text, out)
			}
		}
		if not != "" && strings.Contains(out, not) {
			t.Errorf("kubectl %q shows %q:\n%s", args, not, out)
		}
	}
	shows([]string{"board", "Active", "unlimited", "default", w.a.baseURL + "/join/board", "Pending", `no ConferenceConfig "nobody"`},
		"", "get", "meetings", "-o", "wide")
	shows([]string{"board"}, "waiting", "get", "meetings", "--field-selector", "status.phase=Active")
	shows([]string{"waiting"}, "board", "get", "meetings", "--field-selector", "spec.room=waiting")
	shows([]string{"default", "True", w.a.baseURL, "meetingEnd", "Serving", "variant-b"}, "", "get", "confcfg", "-o", "wide")
	shows([]string{"board"}, "", "get", "convene")
	w.Kubectl(t, "patch", "meeting", "board", "--type=merge", "-p", `{"spec":{"end":{}}}`)
	w.Kubectl(t, "wait", "--for=jsonpath={.status.phase}=Ended", "--timeout=30s", "meeting/board")
	w.eventually(t, func() error {
		out := w.Kubectl(t, "describe", "meeting", "board")
		for _, event := range []string{"Ended", "The meeting was ended on request"} {
			if !strings.Contains(out, event) {
				return fmt.Errorf("describe does not tell %q:\n%s", event, out)
			}
		}
		return nil
	})
}
