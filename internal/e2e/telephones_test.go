// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// service joins the media server's room of a meeting as what the operator runs beside Convene does.
func (w *world) service(t *testing.T, room, identity string, kind lk.ParticipantInfo_Kind, grant auth.VideoGrant) *peer.Peer {
	t.Helper()
	grant.RoomJoin, grant.Room = true, string(w.engineRoom(t, room))
	token, err := auth.NewAccessToken(w.livekit.Key, w.livekit.Secret).SetIdentity(identity).SetKind(kind).SetVideoGrant(&grant).ToJWT()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, err := peer.Join(ctx, w.livekit.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// telephone calls a meeting.
func (w *world) telephone(t *testing.T, room, identity string) *peer.Peer {
	return w.service(t, room, identity, lk.ParticipantInfo_SIP, auth.VideoGrant{})
}

// TestTelephones: callers whom LiveKit brings in are participants. They are listed and counted, keep the meeting going when all pages have left,
// are muted, locked and removed, and have no more places than pages.
func TestTelephones(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t, controlled, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{EmptyTimeout: &metav1.Duration{Duration: time.Second}}
	})
	const room, path, first, second = "board", "/api/v1/meeting/board", "sip_+4915112345", "sip_anna-b@example.com"
	ada, _ := w.a.enter(map[string]any{"room": room, "name": "Ada", "token": w.a.presenterToken("ada")})
	one, two := w.telephone(t, room, first), w.telephone(t, room, second)
	w.eventually(t, w.hasPeople(room, 3))
	listed := w.a.want(http.StatusOK, "GET", path+"/participants", nil).raw
	m := w.meetingsOf(t, room)[0]
	for i, p := range m.Status.Participants {
		if (p.Kind == v1alpha1.KindSIP) != strings.HasPrefix(p.Identity, "sip_") || i > 0 && p.Name != p.Identity {
			t.Errorf("listed as %+v", p)
		}
	}
	if strings.Count(listed, `"kind":"SIP"`) != 2 {
		t.Errorf("GET participants answers %s", listed)
	}
	// Where the limit is the ConferenceConfig's, LiveKit refuses them by itself.
	w.a.want(http.StatusOK, "PATCH", path, map[string]any{"maxParticipants": 3})
	for _, kind := range []lk.ParticipantInfo_Kind{lk.ParticipantInfo_SIP, lk.ParticipantInfo_INGRESS} {
		extra := w.service(t, room, "one-more", kind, auth.VideoGrant{})
		select {
		case reason := <-extra.Disconnected():
			if reason != "PARTICIPANT_REMOVED" {
				t.Errorf("a telephone too many is gone because of %s", reason)
			}
		case <-time.After(patience):
			t.Fatalf("%s stays in a full meeting", kind)
		}
	}
	w.eventually(t, func() error {
		var all eventsv1.EventList
		if err := w.Client.List(t.Context(), &all, client.InNamespace(w.Namespace)); err != nil {
			return err
		}
		for _, e := range all.Items {
			if e.Reason == v1alpha1.ReasonMeetingFull && e.Regarding.Name == m.Name {
				return nil
			}
		}
		return errors.New("no Event tells of it")
	})

	// With the callers alone the meeting goes on, longer than an empty one would.
	ada.Close()
	w.eventually(t, w.hasPeople(room, 2))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := one.Publish(ctx, peer.Microphone); err != nil {
		t.Fatal(err)
	}
	heard := func(what string, want bool) {
		t.Helper()
		w.eventually(t, func() error {
			if got := w.a.audible(room, first); got != want {
				return fmt.Errorf("%s: heard %t", what, got)
			}
			return nil
		})
	}
	patch := func(body map[string]any) {
		t.Helper()
		w.a.want(http.StatusOK, "PATCH", path+"/participants/"+first, body)
	}
	heard("at first", true)
	patch(map[string]any{"media": map[string]any{"audio": false}})
	heard("muted", false)
	patch(map[string]any{"askToUnmute": true})
	heard("unmuted", true)
	patch(map[string]any{"muted": true})
	heard("locked", false)
	patch(map[string]any{"askToUnmute": true})
	heard("still locked", false)
	w.patch(t, &m, `{"spec": {"participants": [{"identity": "`+first+`", "muted": false}]}}`)
	heard("unlocked with kubectl", true)
	w.a.want(http.StatusOK, "PATCH", path, map[string]any{"policy": map[string]any{"microphone": "Presenters"}})
	heard("against the policy", false)
	patch(map[string]any{"allowToSpeak": true})
	heard("allowed to speak", true)
	w.a.want(http.StatusOK, "DELETE", path+"/participants/"+second, nil)
	if reason := <-two.Disconnected(); reason != "PARTICIPANT_REMOVED" {
		t.Errorf("a caller who is removed is gone because of %s", reason)
	}
	w.eventually(t, w.hasPeople(room, 1))
	again := w.telephone(t, room, second)
	if reason := <-again.Disconnected(); reason != "PARTICIPANT_REMOVED" {
		t.Errorf("a removed caller who calls again is gone because of %s", reason)
	}
	one.Close()
	w.eventually(t, func() error { return phaseIs(w.meetingsOf(t, room), v1alpha1.MeetingEnded) })
	if m := w.meetingsOf(t, room)[0]; m.Status.EndReason != v1alpha1.EndEmpty {
		t.Errorf("ended like this: %+v", m.Status)
	}
}
