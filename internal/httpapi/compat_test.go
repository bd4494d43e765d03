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

func TestMeetingsByRoom(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantB, func(t *tenant.Tenant) { t.Compat.MeetingsByRoom = true })).serve()
	for room, body := range map[string]string{"none": `{"meetings":{}}`} {
		if got := w.do(http.MethodGet, "meetings", ""); got.body != body {
			t.Errorf("%s: %s", room, got.body)
		}
	}
	rooms := []string{`a "room"`, "stand-up", "ünïcødé"}
	for _, room := range rooms {
		body, err := json.Marshal(map[string]string{"room": room})
		if err != nil {
			t.Fatal(err)
		}
		w.do(http.MethodPost, "meeting", string(body))
	}
	var listed struct {
		Meetings map[string]struct {
			RoomID string `json:"roomId"`
			Peers  []any  `json:"peers"`
		} `json:"meetings"`
	}
	got := w.do(http.MethodGet, "meetings", "")
	if err := json.Unmarshal([]byte(got.body), &listed); err != nil {
		t.Fatalf("%s: %v", got.body, err)
	}
	var names []string
	for _, room := range rooms {
		names = append(names, listed.Meetings[room].RoomID)
	}
	if diff := cmp.Diff(rooms, names); diff != "" || len(listed.Meetings) != len(rooms) {
		t.Errorf("%s (-want +got):\n%s", got.body, diff)
	}
}
