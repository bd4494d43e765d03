// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"convene.dev/convene/internal/testkit/peer"
)

// resident is what somebody has who is in the room that both tenants call the same.
type resident struct {
	account
	name                  string
	token, ticket, secret string
	entry
	*peer.Peer
}

// settle has somebody live in a room of a tenant, with a password.
func settle(a account, room, name, secret string) resident {
	a.t.Helper()
	a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room, "roomPassword": secret})
	r := resident{account: a, name: name, secret: secret}
	r.token = a.presenterToken("ada")
	r.ticket = a.ticket(map[string]any{"room": room, "name": name, "roomPassword": secret, "token": r.token})
	r.entry = a.mustEnter(map[string]any{"ticket": r.ticket})
	r.Peer = r.connect(a.t)
	return r
}

// TestTwoTenantsSideBySide: two tenants on one LiveKit in one namespace call a room the same, and nothing of one opens,
// shows or ends anything of the other.
func TestTwoTenantsSideBySide(t *testing.T) {
	w := newWorld(t)
	const room = "board & more ☕"
	one, two := settle(w.a, room, "Ada of A", "sesame-a"), settle(w.b, room, "Ada of B", "sesame-b")
	if one.Meeting.Room != two.Meeting.Room || one.You.Identity == two.You.Identity {
		t.Fatalf("%+v and %+v", one.You, two.You)
	}
	w.eventually(t, w.hasPeople(room, 1))
	for _, pair := range []struct{ here, there resident }{{one, two}, {two, one}} {
		here, there := pair.here, pair.there
		t.Run(here.name+" at the other's", func(t *testing.T) {
			at := there.on(t)
			for _, call := range []struct{ method, path, body string }{
				{"GET", "/api/v1/stats", ""}, {"GET", "/api/v1/meetings", ""}, {"POST", "/api/v1/meeting", "{}"},
				{"POST", "/api/v1/join", `{"room":"x","name":"n"}`}, {"POST", "/api/v1/token", `{"username":"u","password":"p"}`},
			} {
				if r := at.with(here.key).call(call.method, call.path, call.body); r.status != http.StatusForbidden || !strings.Contains(r.text("error"), "Unauthorized") {
					t.Errorf("the key opens %s: %d %s", call.path, r.status, r.raw)
				}
			}
			if r := at.call("POST", "/api/v1/join", map[string]any{"room": room, "name": "n", "roomPassword": there.secret, "token": here.token}); r.status != http.StatusForbidden {
				t.Errorf("the token joins: %d %s", r.status, r.raw)
			}
			at.refused("the ticket", map[string]any{"ticket": here.ticket}, "LinkExpired")
			at.refused("the ticket with the session", map[string]any{"ticket": here.ticket, "session": here.Session}, "LinkExpired")
			at.refused("the token", map[string]any{"room": room, "name": "n", "token": here.token, "password": there.secret}, "WrongLogin")
			at.refused("the session", map[string]any{"room": room, "name": "n", "session": here.Session}, "PasswordRequired")
			if status, e := at.session(map[string]any{"room": room, "name": "n", "password": here.secret}); status != http.StatusForbidden || e.Reason != "WrongPassword" {
				t.Errorf("the room's password: %d %q", status, e.Reason)
			}
			for _, call := range []struct{ method, path, body string }{
				{"GET", "/session", ""}, {"POST", "/session/chat", `{"text":"hello"}`}, {"POST", "/session/hand", `{"raised":true}`},
				{"POST", "/session/act", `{"action":"end"}`}, {"POST", "/session/act", `{"action":"remove","identity":"` + there.You.Identity + `"}`},
			} {
				if r := at.as(here.Session, call.method, call.path, call.body); r.status != http.StatusForbidden {
					t.Errorf("the session's %s %s: %d %s", call.path, call.body, r.status, r.raw)
				}
			}
			if status := at.door(here.Engine.Token); status != http.StatusForbidden {
				t.Errorf("the access token at the other's door: %d", status)
			}
			listed := at.want(http.StatusOK, "GET", "/api/v1/meetings", nil)
			if strings.Contains(listed.raw, here.name) || !strings.Contains(listed.raw, there.name) || strings.Contains(listed.raw, here.baseURL) {
				t.Errorf("the listing: %s", listed.raw)
			}
		})
	}
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/board%20&%20more%20%E2%98%95", map[string]any{"redirect": "https://example.com/bye"})
	<-one.Disconnected()
	if stats := w.b.want(http.StatusOK, "GET", "/api/v1/stats", nil); stats.body["totalRooms"] != 1.0 || stats.body["totalUsers"] != 1.0 {
		t.Errorf("after the other tenant's end: %s", stats.raw)
	}
	if state := w.b.as(two.Session, "GET", "/session", nil); state.text("state") != "live" {
		t.Errorf("after the other tenant's end: %s", state.raw)
	}
	if state := w.a.as(one.Session, "GET", "/session", nil); state.text("state") != "ended" || state.text("redirect") != "https://example.com/bye" {
		t.Errorf("after the own end: %s", state.raw)
	}
	select {
	case reason := <-two.Disconnected():
		t.Errorf("the other tenant's peer was disconnected: %s", reason)
	default:
	}
}
