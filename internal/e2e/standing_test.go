// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestAStandingRoomIsNeverUnhealthy: a room that Git holds is ended over the API and joined again. Git's Meeting waits for the one
// that the API made, healthy for Flux and Argo CD, and has the room again when nobody is in that one. Its links open it then.
func TestAStandingRoomIsNeverUnhealthy(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{TTLSecondsAfterEnded: ptr.To(int32(1)), EmptyTimeout: &metav1.Duration{Duration: 3 * time.Second}}
	})
	const room = "stand-up"
	shows := func(says string) {
		t.Helper()
		w.eventually(t, func() error {
			return w.shows(t, "Meeting", w.Namespace, room, "Healthy", status.CurrentStatus, says)
		})
	}
	// sync is what a GitOps tool does every few minutes.
	sync := func() {
		t.Helper()
		w.Create(t, w.meeting(room))
	}
	// endAndJoin ends the room over the API, joins it again, and waits until the object in Git has gone.
	endAndJoin := func() (ticket string) {
		t.Helper()
		w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, nil)
		ticket = w.a.ticket(map[string]any{"room": room, "name": "Ada"})
		w.eventually(t, w.isGone(room))
		return ticket
	}
	sync()
	shows("0 in; People can enter")

	ticket := endAndJoin()
	ada := w.a.mustEnter(map[string]any{"ticket": ticket}).connect(t)
	w.eventually(t, func() error {
		for _, m := range w.meetingsOf(t, room) {
			if m.Status.ParticipantCount == 1 {
				return nil
			}
		}
		return fmt.Errorf("nobody is in: %+v", w.meetingsOf(t, room))
	})
	sync()
	shows("that the API made")
	w.Kubectl(t, "wait", "--for=condition=Ready", "meeting/"+room, "--timeout=30s")
	select {
	case reason := <-ada.Disconnected():
		t.Errorf("the call was cut: %s", reason)
	default:
	}
	ada.Close()
	w.eventually(t, w.hasPhase(room, v1alpha1.MeetingActive))
	shows("0 in; People can enter")
	w.a.mustEnter(map[string]any{"ticket": ticket})

	// Nobody uses the link: the room is given back all the same.
	unused := endAndJoin()
	sync()
	shows("that the API made")
	w.eventually(t, w.hasPhase(room, v1alpha1.MeetingActive))
	w.a.mustEnter(map[string]any{"ticket": unused})
	w.a.refused("a link of a meeting that was ended on request", map[string]any{"ticket": ticket}, "Ended")
}
