// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/compat/compattest"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const integrationsKey = "operators-own-jwt-key"

func acceptsLegacy(t *tenant.Tenant) { t.LegacyTokens = compat.NewTokenKey(integrationsKey) }

// TestTokensThatIntegrationsSign are accepted as the string in a join's token, and make nobody more than the API's own would.
func TestTokensThatIntegrationsSign(t *testing.T) {
	protected := func(t *tenant.Tenant) { t.Protected = true }
	sign := func(user any, password string, presenter any) string {
		return compattest.Token(t, integrationsKey, start, map[string]any{"username": user, "password": password, "presenter": presenter}, time.Hour)
	}
	for _, tc := range []struct {
		reason    string
		change    []func(*tenant.Tenant)
		token     string
		status    int
		username  string
		presenter bool
	}{
		{"a tenant that accepts none", nil, sign("ada", "x", true), 403, "", false},
		{"a presenter, no users", []func(*tenant.Tenant){acceptsLegacy}, sign("ada", "x", true), 200, "ada", true},
		{"a user with a number", []func(*tenant.Tenant){acceptsLegacy}, sign(42, "x", "True"), 200, "42", true},
		{"a presenter in other spelling", []func(*tenant.Tenant){acceptsLegacy}, sign("ada", "x", "1"), 200, "ada", true},
		{"no presenter", []func(*tenant.Tenant){acceptsLegacy}, sign("ada", "x", "false"), 200, "ada", false},
		{"a protected host", []func(*tenant.Tenant){acceptsLegacy, protected}, sign("ada", "", false), 200, "ada", false},
		{"users, the right password", []func(*tenant.Tenant){acceptsLegacy, protected, withUsers}, sign("ada", "correct-horse", true), 200, "ada", true},
		{"users, a wrong password", []func(*tenant.Tenant){acceptsLegacy, protected, withUsers}, sign("ada", "battery", true), 403, "", false},
		{"users, no password", []func(*tenant.Tenant){acceptsLegacy, withUsers}, sign("ada", "", true), 403, "", false},
		{"users, an unknown one", []func(*tenant.Tenant){acceptsLegacy, withUsers}, sign("eve", "correct-horse", true), 403, "", false},
		{"another key", []func(*tenant.Tenant){acceptsLegacy}, compattest.Token(t, "another-key-of-16", start, map[string]any{"username": "ada"}, time.Hour), 403, "", false},
		{"over", []func(*tenant.Tenant){acceptsLegacy}, compattest.Token(t, integrationsKey, start.Add(-2*time.Hour), map[string]any{"username": "ada"}, time.Hour), 403, "", false},
	} {
		one := testTenant(v1alpha1.VariantA, tc.change...)
		w := newWorld(t, one).serve()
		got := w.do(http.MethodPost, "join", `{"room":"r","name":"n","token":"`+tc.token+`"}`)
		if got.status != tc.status {
			t.Errorf("%s: %d %s, want %d", tc.reason, got.status, got.body, tc.status)
			continue
		}
		if tc.status != http.StatusOK {
			if commands := w.meetings.took(); len(commands) > 0 || strings.Contains(got.body, "ada") {
				t.Errorf("%s: refused with %s, and %v", tc.reason, got.body, commands)
			}
			continue
		}
		ticket := w.joined(one, got).ticket
		if ticket.Username != tc.username || ticket.Presenter != tc.presenter || ticket.Expires.After(start.Add(time.Hour)) {
			t.Errorf("%s: %+v", tc.reason, ticket)
		}
	}
}

// TestTokensOfClocksThatAreAhead are good where only when they were made is in the future, and are refused with what to do otherwise.
func TestTokensOfClocksThatAreAhead(t *testing.T) {
	for claim, status := range map[string]int{"iat": http.StatusOK, "nbf": http.StatusForbidden} {
		w := newWorld(t, testTenant(v1alpha1.VariantA, acceptsLegacy)).serve()
		token := compattest.Sign(t, jwt.MapClaims{
			"data": compattest.Encrypt(t, `{"username":"ada"}`, integrationsKey), claim: start.Add(3 * time.Minute).Unix(), "exp": start.Add(time.Hour).Unix(),
		}, integrationsKey)
		got := w.do(http.MethodPost, "join", `{"room":"r","name":"n","token":"`+token+`"}`)
		if got.status != status || status != http.StatusOK && !strings.Contains(got.body, "set that clock") {
			t.Errorf("%s: %d %s, want %d", claim, got.status, got.body, status)
		}
	}
}

// TestGuessesInTokensThatIntegrationsSign: a client with the key cannot try passwords without an end.
func TestGuessesInTokensThatIntegrationsSign(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, acceptsLegacy, withUsers)).serve()
	last := 0
	for range 200 {
		token := compattest.Token(t, integrationsKey, start, map[string]any{"username": "ada", "password": "wrong"}, time.Hour)
		if last = w.do(http.MethodPost, "join", `{"room":"r","name":"n","token":"`+token+`"}`).status; last == http.StatusTooManyRequests {
			return
		}
	}
	t.Errorf("after 200 wrong passwords: %d", last)
}

// TestChatOffClosesPanel: a client that means the panel keeps its chat, and its link shows what it asked for.
func TestChatOffClosesPanel(t *testing.T) {
	for closes, chat := range map[bool]bool{false: false, true: true} {
		one := testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.Compat.ChatOffClosesPanel = closes })
		w := newWorld(t, one).serve()
		got := w.joined(one, w.do(http.MethodPost, "join", `{"room":"r","name":"n","chat":false}`))
		if got.ticket.Chat != chat || got.query.Get("chat") != "false" {
			t.Errorf("closes the panel %v: the ticket has chat %v, and the link shows %s", closes, got.ticket.Chat, got.query.Get("chat"))
		}
	}
}

// TestMeetingsByRoom has what clients of MiroTalk P2P read: participants by room and identity, with their names of before.
func TestMeetingsByRoom(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantB, func(t *tenant.Tenant) { t.Compat.MeetingsByRoom = true })).serve()
	if got := w.do(http.MethodGet, "meetings", ""); got.body != `{"meetings":{}}` {
		t.Errorf("none: %s", got.body)
	}
	w.meetings.live = []meeting.View{
		{UID: "1", Room: `a "room" ☕`, Peers: []v1alpha1.Participant{
			{Identity: "i-1", Name: "Ada </script>", Presenter: true, Audio: true, Screen: true, OS: "Linux", Browser: "Firefox 145"},
			{Identity: "i-2", Name: "Eve", Video: true, Hand: true, Hidden: true},
		}},
		{UID: "2", Room: "empty"},
	}
	var got struct {
		Meetings map[string]map[string]map[string]any `json:"meetings"`
	}
	answer := w.do(http.MethodGet, "meetings", "")
	if err := json.Unmarshal([]byte(answer.body), &got); err != nil {
		t.Fatalf("%s: %v", answer.body, err)
	}
	want := map[string]map[string]map[string]any{
		`a "room" ☕`: {
			"i-1": {
				"peer_name": "Ada </script>", "peer_presenter": true, "peer_video": false, "peer_video_status": false, "peer_audio": true,
				"peer_audio_status": true, "peer_screen_status": true, "peer_hand_status": false, "hidden": false, "os": "Linux", "browser": "Firefox 145",
			},
			"i-2": {
				"peer_name": "Eve", "peer_presenter": false, "peer_video": true, "peer_video_status": true, "peer_audio": false,
				"peer_audio_status": false, "peer_screen_status": false, "peer_hand_status": true, "hidden": true, "os": "", "browser": "",
			},
		},
		"empty": {},
	}
	if diff := cmp.Diff(want, got.Meetings); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
