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
	room := string(meeting.EngineRoom(configUID, "uid-1"))
	for _, c := range []struct {
		reason, method, authorization, body string
		status                              int
		hints                               []engine.RoomName
	}{
		{"of a room of ours", "POST", "signed", room, http.StatusOK, []engine.RoomName{engine.RoomName(room)}},
		{"of another installation's room", "POST", "signed", "convene_other_uid", http.StatusOK, nil},
		{"of another service's room", "POST", "signed", "lobby", http.StatusOK, nil},
		{"about no room", "POST", "signed", "", http.StatusOK, nil},
		{"not signed", "POST", "", room, http.StatusUnauthorized, nil},
		{"signed by a stranger", "POST", "forged", room, http.StatusUnauthorized, nil},
		{"too long", "POST", "signed", strings.Repeat("x", 1<<20+1), http.StatusRequestEntityTooLarge, nil},
		{"not posted", "GET", "signed", "", http.StatusMethodNotAllowed, nil},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t)
			r := newRequest(c.method, "/engine/webhook", c.body)
			r.Host = "10.0.0.7:8080"
			r.Header.Set("Authorization", c.authorization)
			if got := s.do(t, r); got.Code != c.status {
				t.Errorf("status %d, want %d", got.Code, c.status)
			}
			if diff := cmp.Diff(c.hints, s.hints); diff != "" {
				t.Errorf("hints (-want +got)\n%s", diff)
			}
		})
	}
}

// refusingEngine takes no signature.
type refusingEngine struct{ *fakeEngine }

func (refusingEngine) Signed(string) bool { return false }

func (refusingEngine) Hint(string, []byte) (engine.RoomName, error) {
	return (&fakeEngine{}).Hint("", nil)
}

func TestAnEngineHasNoSayAboutAnothersRooms(t *testing.T) {
	s := newSite(t)
	other := *s.tenant
	other.UID = "22222222-bbbb"
	other.Media = []*tenant.Media{{Server: engine.Server{URL: "http://other:7880", Key: "key"}, Engine: refusingEngine{}}}
	s.Tenants = fakeTenants{&other, {}, s.tenant}
	for room, want := range map[engine.RoomName]int{
		meeting.EngineRoom("22222222-bbbb", "uid-1"): 0,
		meeting.EngineRoom(configUID, "uid-1"):       1,
	} {
		s.hints = nil
		r := newRequest(http.MethodPost, "/engine/webhook", string(room))
		r.Header.Set("Authorization", "signed")
		if got := s.do(t, r); got.Code != http.StatusOK || len(s.hints) != want {
			t.Errorf("%s: status %d, hints %v", room, got.Code, s.hints)
		}
	}
}
