// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"k8s.io/apimachinery/pkg/api/meta"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// TestSeveralMediaServers: meetings are spread over two real LiveKit servers, leave one that drains and one that is lost, and are
// never on both.
func TestSeveralMediaServers(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) { a.Spec.MediaRefs = testkit.MediaRefs("livekit", "second") })
	second := w.secondMediaServer(t)

	rooms := []string{"one", "two", "three", "four"}
	on := map[string][]string{}
	for _, room := range rooms {
		w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
		w.eventually(t, func() error { return w.placed(room, "") })
		at := w.meetingsOf(t, room)[0].Status.MediaServer.Name
		on[at] = append(on[at], room)
	}
	if len(on["livekit"]) == 0 || len(on["second"]) == 0 {
		t.Fatalf("the meetings are on %v", on)
	}
	staying, leaving := on["second"][0], on["livekit"][0]
	ada, _ := w.a.enter(map[string]any{"room": leaving, "name": "Ada"})
	_, _ = w.a.enter(map[string]any{"room": staying, "name": "Tom"})
	w.eventually(t, w.hasPeople(leaving, 1))
	w.eventually(t, w.hasPeople(staying, 1))
	w.eventually(t, w.openOn(w.livekit, leaving))
	w.eventually(t, w.openOn(second, staying))
	w.changeKey(t, staying)

	w.Kubectl(t, "patch", "mediaserver", "livekit", "--type=merge", "-p", `{"spec":{"draining":true}}`)
	for _, room := range on["livekit"][1:] {
		w.eventually(t, func() error { return w.placed(room, "second") })
	}
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "five"})
	w.eventually(t, func() error { return w.placed("five", "second") })
	if err := w.placed(leaving, "livekit"); err != nil {
		t.Errorf("a meeting with a participant does not stay where it is: %v", err)
	}
	ada.Close()
	w.eventually(t, func() error { return w.placed(leaving, "second") })
	if events := w.Kubectl(t, "get", "events", "--field-selector=reason=Moved"); !strings.Contains(events, "Moved from media server") {
		t.Errorf("no Event tells of it:\n%s", events)
	}
	w.lateJoin(t, leaving)

	w.Kubectl(t, "patch", "mediaserver", "livekit", "--type=merge", "-p", `{"spec":{"draining":false}}`)
	second.Kill()
	w.eventually(t, func() error { return w.placed("five", "livekit") })
	if err := w.placed(staying, "second"); err != nil {
		t.Errorf("a meeting with a participant moves at once: %v", err)
	}
	testkit.Eventually(t, 2*time.Minute, func() error { return w.placed(staying, "livekit") })
	w.a.enter(map[string]any{"room": staying, "name": "Tom again"})
	w.eventually(t, w.hasPeople(staying, 1))
	w.eventually(t, w.openOn(w.livekit, staying))

	second.Start(t)
	w.Kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "mediaserver/second")
	w.eventually(t, func() error { return w.configReady("default") })
}

// secondMediaServer starts a LiveKit of its own, names it, and waits until the tenant uses both.
func (w *world) secondMediaServer(t *testing.T) *testkit.LiveKitServer {
	t.Helper()
	second := testkit.LiveKit(t, testkit.LiveKitOptions{MoreKeys: map[string]string{nextKey: nextSecret}})
	w.Secret(t, v1alpha1.UsedByMediaServer, "second", map[string]string{"apiKey": second.Key, "apiSecret": second.Secret})
	s := testkit.MediaServer(w.Namespace, second.URL)
	s.Name, s.Spec.SecretRef.Name = "second", "second"
	w.Create(t, s)
	w.Kubectl(t, "wait", "--for=condition=Ready", "--timeout=60s", "mediaserver/livekit", "mediaserver/second")
	w.eventually(t, w.usesAllMedia)
	return second
}

// The key of the second media server that it takes beside the first.
const nextKey, nextSecret = "the-next-key", "the-next-secret-0123456789abcdef01"

// changeKey has the managers use the next key of the second media server. Who is in a meeting stays, and others come in.
func (w *world) changeKey(t *testing.T, room string) {
	t.Helper()
	in, _ := w.a.enter(map[string]any{"room": room, "name": "Tim"})
	w.eventually(t, w.hasPeople(room, 2))
	w.Secret(t, v1alpha1.UsedByMediaServer, "second-next", map[string]string{"apiKey": nextKey, "apiSecret": nextSecret})
	w.Kubectl(t, "patch", "mediaserver", "second", "--type=merge", "-p", `{"spec":{"secretRef":{"name":"second-next"}}}`)
	ticket := w.a.ticket(map[string]any{"room": room, "name": "Tess"})
	w.eventually(t, func() error {
		e := w.a.mustEnter(map[string]any{"room": room, "name": "Tess", "ticket": ticket})
		var claims jwt.RegisteredClaims
		if _, _, err := jwt.NewParser().ParseUnverified(e.Engine.Token, &claims); err != nil || claims.Issuer != nextKey {
			return fmt.Errorf("an access token is of the key %q: %w", claims.Issuer, err)
		}
		return nil
	})
	w.a.enter(map[string]any{"room": room, "name": "Tia"})
	w.eventually(t, w.hasPeople(room, 3))
	select {
	case why := <-in.Disconnected():
		t.Errorf("who was in is out: %v", why)
	default:
	}
	w.eventually(t, w.usesAllMedia)
}

// usesAllMedia fails while the tenant cannot use a media server that it names.
func (w *world) usesAllMedia() error {
	var c v1alpha1.ConferenceConfig
	if err := w.Client.Get(context.Background(), w.key("default"), &c); err != nil {
		return err
	}
	if degraded := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionMediaServersDegraded); degraded != nil {
		return fmt.Errorf("%s", degraded.Message)
	}
	return nil
}

// placed says whether the meeting of a room is on a media server; any will do for an empty name.
func (w *world) placed(room, on string) error {
	var all v1alpha1.MeetingList
	if err := w.Client.List(context.Background(), &all); err != nil {
		return err
	}
	for _, m := range all.Items {
		if m.Namespace != w.Namespace || m.Spec.Room != room {
			continue
		}
		if at := m.Status.MediaServer; at == nil || (on != "" && at.Name != on) {
			return fmt.Errorf("%s is on %+v, want %q", room, at, on)
		}
		return nil
	}
	return fmt.Errorf("there is no meeting of %s", room)
}

func engineOf(s *testkit.LiveKitServer) (engine.Engine, error) {
	return livekit.New("media", engine.Server{URL: s.URL, Key: s.Key, Secret: s.Secret})
}

// engineRoom is LiveKit's name of a room.
func (w *world) engineRoom(t testing.TB, room string) engine.RoomName {
	t.Helper()
	var c v1alpha1.ConferenceConfig
	if err := w.Client.Get(t.Context(), w.key("default"), &c); err != nil {
		t.Fatal(err)
	}
	return meeting.EngineRoom(string(c.UID), string(w.meetingsOf(t, room)[0].UID))
}

// openOn says whether a LiveKit has a room.
func (w *world) openOn(s *testkit.LiveKitServer, room string) func() error {
	return func() error {
		e, err := engineOf(s)
		if err != nil {
			return err
		}
		_, there, err := e.Room(context.Background(), w.engineRoom(w.a.t, room))
		if err == nil && !there {
			err = fmt.Errorf("%s is not open there", room)
		}
		return err
	}
}

// lateJoin has a participant arrive on the media server that a meeting has left. They are disconnected, to come back where the
// meeting is, and the meeting goes on.
func (w *world) lateJoin(t *testing.T, room string) {
	t.Helper()
	e, err := engineOf(w.livekit)
	if err != nil {
		t.Fatal(err)
	}
	name := w.engineRoom(t, room)
	if err := e.Ensure(t.Context(), name, engine.RoomOptions{MaxParticipants: 10}, engine.RoomState{}); err != nil {
		t.Fatal(err)
	}
	token, err := e.Grant(engine.Grant{Room: name, Identity: "late", Name: "Late", Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	late, err := peer.Join(t.Context(), strings.Replace(w.livekit.URL, "http", "ws", 1), token)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	select {
	case <-late.Disconnected():
	case <-time.After(patience):
		t.Error("a participant stays on the media server that the meeting has left")
	}
	if strings.Contains(late.Metadata(), `"ended":true`) {
		t.Errorf("the participant was told that the meeting is over: %s", late.Metadata())
	}
	if err := phaseIs(w.meetingsOf(t, room), v1alpha1.MeetingActive); err != nil {
		t.Error(err)
	}
}
