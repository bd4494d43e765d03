// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

func TestWebhook(t *testing.T) {
	room := meeting.EngineRoom(configUID, "uid-1")
	of := func(room engine.RoomName) *http.Request { return webhook(t, engineServer, room) }
	with := func(change func(*http.Request)) *http.Request {
		r := of(room)
		change(r)
		return r
	}
	for _, c := range []struct {
		reason string
		r      *http.Request
		status int
		hints  []engine.RoomName
	}{
		{"of a room of ours", of(room), http.StatusOK, []engine.RoomName{room}},
		{"of another installation's room", of("convene_other_uid"), http.StatusOK, nil},
		{"of another service's room", of("lobby"), http.StatusOK, nil},
		{"about no room", of(""), http.StatusOK, nil},
		{"not signed", with(func(r *http.Request) { r.Header.Del("Authorization") }), http.StatusUnauthorized, nil},
		{"signed by a stranger", webhook(t, engine.Server{Key: engineServer.Key, Secret: "another"}, room), http.StatusUnauthorized, nil},
		{"with the access token of a participant", with(func(r *http.Request) {
			r.Header.Set("Authorization", accessTo(t, room, "ann-1"))
		}), http.StatusUnauthorized, nil},
		{"too long", of(engine.RoomName(strings.Repeat("x", 1<<20))), http.StatusRequestEntityTooLarge, nil},
		{"not posted", with(func(r *http.Request) { r.Method = http.MethodGet }), http.StatusMethodNotAllowed, nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t)
			c.r.Host = "10.0.0.7:8080"
			if got := s.do(t, c.r); got.Code != c.status {
				t.Errorf("status %d, want %d", got.Code, c.status)
			}
			if diff := cmp.Diff(c.hints, s.hints); diff != "" {
				t.Errorf("hints (-want +got)\n%s", diff)
			}
		})
	}
}

func TestAnEngineHasNoSayAboutAnothersRooms(t *testing.T) {
	s := newSite(t)
	other := *s.tenant
	other.UID = "22222222-bbbb"
	at := engine.Server{URL: "http://other:7880", Key: engineServer.Key, Secret: "another"}
	other.Media = []*tenant.Media{{Server: at, Engine: newFakeEngine(at)}}
	s.Tenants = fakeTenants{&other, {}, s.tenant}
	for room, want := range map[engine.RoomName]int{
		meeting.EngineRoom("22222222-bbbb", "uid-1"): 0,
		meeting.EngineRoom(configUID, "uid-1"):       1,
	} {
		s.hints = nil
		if got := s.do(t, webhook(t, engineServer, room)); got.Code != http.StatusOK || len(s.hints) != want {
			t.Errorf("%s: status %d, hints %v", room, got.Code, s.hints)
		}
	}
}
