// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// Two MediaServers name one real LiveKit by two addresses, and each has a meeting. Nobody is thrown out of either, and each MediaServer
// tells of the other.
func TestOneLiveKitUnderTwoNames(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) { a.Spec.MediaRefs = testkit.MediaRefs("livekit", "twin") })
	twin := testkit.MediaServer(w.Namespace, strings.Replace(w.livekit.URL, "127.0.0.1", "localhost", 1))
	twin.Name = "twin"
	w.Create(t, twin)
	w.Kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "mediaserver/livekit", "mediaserver/twin")
	w.eventually(t, w.usesAllMedia)

	people := map[string]*peer.Peer{}
	on := map[string]string{}
	for _, room := range []string{"one", "two", "three", "four"} {
		w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
		w.eventually(t, func() error { return w.placed(room, "") })
		if at := w.meetingsOf(t, room)[0].Status.MediaServer.Name; on[at] == "" {
			on[at] = room
			people[room], _ = w.a.enter(map[string]any{"room": room, "name": "Ada"})
		}
	}
	if len(people) != 2 {
		t.Fatalf("there are meetings on %v", on)
	}
	for name, other := range map[string]string{"livekit": "twin", "twin": "livekit"} {
		w.eventually(t, func() error {
			var s v1alpha1.MediaServer
			if err := w.Client.Get(context.Background(), w.key(name), &s); err != nil {
				return err
			}
			if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionSharedLiveKit); c == nil || !strings.Contains(c.Message, other) {
				return fmt.Errorf("the conditions of %s are %+v", name, s.Status.Conditions)
			}
			return nil
		})
	}
	for room, p := range people {
		select {
		case <-p.Disconnected():
			t.Errorf("the participant of %s was thrown out", room)
		default:
		}
		if err := w.hasPeople(room, 1)(); err != nil {
			t.Error(err)
		}
	}
}
