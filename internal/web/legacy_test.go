// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/compat/compattest"
	"convene.dev/convene/internal/tenant"
)

const integrationsKey = "operators-own-jwt-key"

func acceptsLegacy(t *tenant.Tenant) { t.LegacyTokens = compat.NewTokenKey(integrationsKey) }

// TestTokensThatIntegrationsSign in links: where the host has users, the password in them is checked.
func TestTokensThatIntegrationsSign(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		change   []func(*tenant.Tenant)
		payload  map[string]any
		reasonOf string
		// presenter is of one who is let in.
		presenter bool
	}{
		{"none are accepted", nil, map[string]any{"username": "paula", "presenter": true}, "WrongLogin", false},
		{"a presenter, no users", []func(*tenant.Tenant){acceptsLegacy, protected}, map[string]any{"username": "eve", "presenter": "1"}, "", true},
		{"no presenter, no users", []func(*tenant.Tenant){acceptsLegacy, protected}, map[string]any{"username": "eve"}, "", false},
		{"a name on the list of presenters", []func(*tenant.Tenant){acceptsLegacy, withUsers}, map[string]any{"username": "paula", "password": "paula"}, "", true},
		{"users, the right password", []func(*tenant.Tenant){acceptsLegacy, withUsers, protected}, map[string]any{"username": "bob", "password": "bob", "presenter": 1}, "", true},
		{"users, a wrong password", []func(*tenant.Tenant){acceptsLegacy, withUsers}, map[string]any{"username": "bob", "password": "x", "presenter": true}, "WrongLogin", false},
		{"users, no password", []func(*tenant.Tenant){acceptsLegacy, withUsers}, map[string]any{"username": "bob", "presenter": true}, "WrongLogin", false},
		{"an unknown user", []func(*tenant.Tenant){acceptsLegacy, withUsers}, map[string]any{"username": "eve", "password": "bob"}, "WrongLogin", false},
	} {
		s := newSite(t, append(tc.change, func(t *tenant.Tenant) { t.TokenLifetime, t.MaxTokenLifetime = time.Hour, 24*time.Hour })...)
		s.meetings.open("room", nil)
		token := compattest.Token(t, integrationsKey, s.now, tc.payload, time.Hour)
		got := s.enterWith(t, object{"room": "room", "name": "Ann", "token": token})
		if tc.reasonOf != "" {
			if got.Code == http.StatusOK || got.refusal().Reason != tc.reasonOf {
				t.Errorf("%s: %d %s", tc.reason, got.Code, got.Body)
			}
			continue
		}
		if you := got.session().You; you.Presenter != tc.presenter {
			t.Errorf("%s: %+v", tc.reason, you)
		}
		s.now = s.now.Add(2 * time.Hour)
		if got := s.enterWith(t, object{"room": "room", "name": "Ann", "token": token}); got.Code == http.StatusOK {
			t.Errorf("%s: it works after its end", tc.reason)
		}
	}
}

// TestOneSignedTokenIsOneParticipant: who was removed does not come back with the same token, and others are not barred.
func TestOneSignedTokenIsOneParticipant(t *testing.T) {
	s := newSite(t, acceptsLegacy, func(t *tenant.Tenant) { t.TokenLifetime, t.MaxTokenLifetime = time.Hour, 24*time.Hour })
	view := s.meetings.open("room", nil)
	enter := func(i int) answer {
		return s.enterWith(t, object{"room": "room", "name": "Ann", "token": compattest.Token(t, integrationsKey, s.now, map[string]any{"username": fmt.Sprint("user-", i)}, time.Hour)})
	}
	token := compattest.Token(t, integrationsKey, s.now, map[string]any{"username": "ann"}, time.Hour)
	first := s.enterWith(t, object{"room": "room", "name": "Ann", "token": token}).session()
	view.Decisions = removed(first.You.Identity)
	if got := s.enterWith(t, object{"room": "room", "name": "Ann", "token": token}); got.Code != http.StatusForbidden {
		t.Errorf("the one who was removed: %d", got.Code)
	}
	enter(1).session()
}

// TestAWishForNoChat: a hand-written link says it as a join does.
func TestAWishForNoChat(t *testing.T) {
	for _, closes := range []bool{false, true} {
		s := newSite(t, func(t *tenant.Tenant) { t.Compat.ChatOffClosesPanel = closes })
		s.meetings.open("room", nil)
		if you := s.enterWith(t, object{"room": "room", "name": "Ann", "chat": false}).session().You; you.Chat != closes {
			t.Errorf("closes the panel %v: chat is %v", closes, you.Chat)
		}
	}
}
