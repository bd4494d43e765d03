// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// engine asks the world's LiveKit, past Convene.
func (w *world) engine(t testing.TB) engine.Engine {
	t.Helper()
	e, err := livekit.New("media", engine.Server{URL: w.livekit.URL, Key: w.livekit.Key, Secret: w.livekit.Secret})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// hasPeople reports whether all active Meetings of a room, of any tenant, show so many participants.
func (w *world) hasPeople(room string, n int32) func() error {
	return func() error {
		var all v1alpha1.MeetingList
		if err := w.Client.List(context.Background(), &all, client.InNamespace(w.Namespace)); err != nil {
			return err
		}
		active := slices.DeleteFunc(all.Items, func(m v1alpha1.Meeting) bool { return m.Spec.Room != room || m.Status.Phase != v1alpha1.MeetingActive })
		if len(active) == 0 {
			return errors.New("no such meeting")
		}
		for _, m := range active {
			if m.Status.ParticipantCount != n {
				return fmt.Errorf("%d people, want %d", m.Status.ParticipantCount, n)
			}
		}
		return nil
	}
}

func TestAPIServerAway(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOn(t, testkit.OwnControlPlane(t))
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "board", "duration": "01:00:00"})
	for _, replica := range w.each() {
		w.eventually(t, func() error { return replica.lists("board", true) })
	}
	w.KillAPIServer(t)

	w.a.want(http.StatusOK, "GET", "/api/v1/stats", nil)
	if listed := w.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil); len(listed.body["meetings"].([]any)) != 1 {
		t.Errorf("the listing is %s", listed.raw)
	}
	w.a.want(http.StatusOK, "POST", "/api/v1/token", map[string]any{"username": "ada", "password": "x"})
	w.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "board", "name": "Ada"})
	for _, call := range []struct{ method, path string }{{"POST", "/api/v1/meeting"}, {"DELETE", "/api/v1/meeting/board"}} {
		refused := w.a.want(http.StatusServiceUnavailable, call.method, call.path, nil)
		if refused.header.Get("Retry-After") == "" || refused.text("error") == "" {
			t.Errorf("%s answered %s with %v", call.method, refused.raw, refused.header)
		}
	}

	w.StartAPIServer(t)
	w.eventually(t, func() error {
		// 404 where a call that got no answer in time was carried out.
		if r := w.a.call("DELETE", "/api/v1/meeting/board", nil); r.status != http.StatusOK && r.status != http.StatusNotFound {
			return fmt.Errorf("DELETE answers %d %s", r.status, r.raw)
		}
		return nil
	})
	w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, "board"), v1alpha1.MeetingEnded) })
}

func TestLiveKitLosesItsRooms(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	_, e := w.a.enter(map[string]any{"room": "board", "name": "Ada"})
	w.eventually(t, w.hasPeople("board", 1))
	w.livekit.Kill()
	w.eventually(t, func() error {
		if w.configReady("default") == nil {
			return errors.New("the config is still ready")
		}
		return nil
	})
	if status, refused := w.a.session(map[string]any{"room": "board", "name": "Bob"}); status != http.StatusServiceUnavailable || refused.Reason != "Unavailable" {
		t.Errorf("a session without an engine: %d %+v", status, refused)
	}
	w.livekit.Start(t)
	w.eventually(t, func() error { return w.configReady("default") })
	w.eventually(t, w.hasPeople("board", 0))

	// The page comes back with its session.
	status, back := w.a.session(map[string]any{"room": "board", "name": "Ada", "session": e.Session})
	if status != http.StatusOK {
		t.Fatalf("no way back: %d %+v", status, back)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, err := peer.Join(ctx, back.Engine.URL, back.Engine.Token)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	w.eventually(t, w.hasPeople("board", 1))
	if m := w.meetingsOf(t, "board"); len(m) != 1 || m[0].Status.EndReason != "" {
		t.Errorf("the meeting was ended: %+v", m)
	}
}

func TestManagerKilledInTheMiddleOfEnds(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t)
	const n = 6
	var peers []*peer.Peer
	for i := range n {
		p, _ := w.a.enter(map[string]any{"room": fmt.Sprint("room", i), "name": "Ada"})
		peers = append(peers, p)
	}
	for i := range n {
		w.eventually(t, w.hasPeople(fmt.Sprint("room", i), 1))
	}
	for i := range n {
		w.Kubectl(t, "patch", "meeting", w.meetingsOf(t, fmt.Sprint("room", i))[0].Name, "-n", w.Namespace, "--type=merge", "-p", `{"spec":{"end":{}}}`)
		if i == n/2 {
			w.manager.Kill()
		}
	}
	w.Create(t, w.meeting("unseen", func(s *v1alpha1.MeetingSpec) { s.Duration = "1s" }))
	w.manager.Start(t)
	for i, p := range peers {
		select {
		case <-p.Disconnected():
		case <-time.After(patience):
			t.Errorf("a participant is still in room %d", i)
		}
		w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, fmt.Sprint("room", i)), v1alpha1.MeetingEnded) })
	}
	w.eventually(t, w.hasPhase("unseen", v1alpha1.MeetingEnded))
	w.eventually(t, func() error {
		rooms, err := w.engine(t).Rooms(t.Context(), meeting.AllRooms)
		if err == nil && len(rooms) > 0 {
			err = fmt.Errorf("rooms are left: %+v", rooms)
		}
		return err
	})
}
