// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// resident is what a participant has who is in the room that both tenants call the same.
type resident struct {
	account
	name                  string
	token, ticket, secret string
	entry
	*peer.Peer
}

// settle has a participant live in a room of a tenant, with a password.
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

// attempt is something that a tenant tries on another one.
type attempt struct {
	// what it shows or does, and what it would have got.
	what, gains string
	// try says what it got; empty when it was refused.
	try func(here, there resident) (got string)
}

// attempts are all that a tenant has to try over the API and the pages: what it holds of its own, shown to the other.
var attempts = []attempt{
	{"the API key, for totals", "how many meet there", withKey("GET", "/api/v1/stats", "")},
	{"the API key, for the listing", "who is in which room", withKey("GET", "/api/v1/meetings", "")},
	{"the API key, for a meeting", "a room on the other's account", withKey("POST", "/api/v1/meeting", "{}")},
	{"the API key, for a link", "a way into any room", withKey("POST", "/api/v1/join", `{"room":"x","name":"n"}`)},
	{"the API key, for a token", "a presenter's rights", withKey("POST", "/api/v1/token", `{"username":"u","password":"p"}`)},
	{"the API key, for an end", "everybody out of a room", func(here, there resident) string {
		r := there.with(here.key).call("DELETE", "/api/v1/meeting/"+url.PathEscape(there.Meeting.Room), nil)
		if r.status == http.StatusNotFound && r.text("error") != "" && r.body["success"] == nil {
			return "" // Variant B has no such endpoint.
		}
		return unless(http.StatusForbidden, r)
	}},
	{"a token, in a join", "a presenter's link", func(here, there resident) string {
		body := map[string]any{"room": there.Meeting.Room, "name": "n", "roomPassword": there.secret, "token": here.token}
		return unless(http.StatusForbidden, there.call("POST", "/api/v1/join", body))
	}},
	{"a token, on the page", "a presenter's session", enters("WrongLogin", func(here, there resident) map[string]any {
		return map[string]any{"room": there.Meeting.Room, "name": "n", "token": here.token, "password": there.secret}
	})},
	{"a ticket", "a place in the room of that name", enters("LinkExpired", func(here, _ resident) map[string]any {
		return map[string]any{"ticket": here.ticket}
	})},
	{"a ticket with its session", "the same", enters("LinkExpired", func(here, _ resident) map[string]any {
		return map[string]any{"ticket": here.ticket, "session": here.Session}
	})},
	{"a session", "a place without the password", enters("PasswordRequired", func(here, there resident) map[string]any {
		return map[string]any{"room": there.Meeting.Room, "name": "n", "session": here.Session}
	})},
	{"the password of a room of the same name", "a place in it", enters("WrongPassword", func(here, there resident) map[string]any {
		return map[string]any{"room": there.Meeting.Room, "name": "n", "password": here.secret}
	})},
	{"a session, for the state", "what goes on in the room", withSession("GET", "/session", "")},
	{"a session, for chat", "a message to people in the room", withSession("POST", "/session/chat", `{"text":"hello"}`)},
	{"a session, for a hand", "a raised hand in the room", withSession("POST", "/session/hand", `{"raised":true}`)},
	{"a session, for a reaction", "a reaction in the room", withSession("POST", "/session/reaction", `{"reaction":"like"}`)},
	{"a presenter's session, for the end", "everybody out", withSession("POST", "/session/act", `{"action":"end"}`)},
	{"a presenter's session, for a removal", "a participant out", func(here, there resident) string {
		body := map[string]any{"action": "remove", "identity": there.You.Identity}
		return unless(http.StatusForbidden, there.as(here.Session, "POST", "/session/act", body))
	}},
	{"an access token, at the door", "the room's sound and pictures", func(here, there resident) string {
		if status := there.door(here.Engine.Token); status != http.StatusForbidden {
			return fmt.Sprint(status)
		}
		return ""
	}},
	{"the own listing", "what the other's would show", func(here, there resident) string {
		var listed string
		testkit.Eventually(here.t, patience, func() error { // A listing may be a moment behind, where another replica wrote.
			if listed = here.want(http.StatusOK, "GET", "/api/v1/meetings", nil).raw; !strings.Contains(listed, here.name) {
				return errors.New(listed)
			}
			return nil
		})
		if strings.Contains(listed, there.name) || strings.Contains(listed, there.baseURL) {
			return listed
		}
		return ""
	}},
}

func unless(status int, r reply) (got string) {
	if r.status == status {
		return ""
	}
	return fmt.Sprintf("%d %s", r.status, r.raw)
}

// withKey makes a call of the other's API with the own key.
func withKey(method, path, body string) func(here, there resident) string {
	return func(here, there resident) string {
		r := there.with(here.key).call(method, path, body)
		if r.status == http.StatusForbidden && !strings.Contains(r.text("error"), "Unauthorized") {
			return r.raw
		}
		return unless(http.StatusForbidden, r)
	}
}

// withSession makes a call of the other's page with the own session.
func withSession(method, path, body string) func(here, there resident) string {
	return func(here, there resident) string {
		return unless(http.StatusForbidden, there.as(here.Session, method, path, body))
	}
}

// enters asks the other for a session.
func enters(refusedWith string, body func(here, there resident) map[string]any) func(here, there resident) string {
	return func(here, there resident) string {
		status, e := there.session(body(here, there))
		if status >= 400 && e.Reason == refusedWith {
			return ""
		}
		return fmt.Sprintf("%d %q", status, e.Reason)
	}
}

// tries has a tenant try everything on another.
func (here resident) tries(t *testing.T, there resident) {
	for _, a := range attempts {
		t.Run(a.what, func(t *testing.T) {
			here, there := here, there
			here.account, there.account = here.on(t), there.on(t)
			if got := a.try(here, there); got != "" {
				t.Errorf("%s tries %s, to get %s, and gets %s", here.name, a.what, a.gains, got)
			}
		})
	}
}

// TestTwoTenantsSideBySide: two tenants on one LiveKit in one namespace call a room the same, and nothing of one opens,
// shows or ends anything of the other.
func TestTwoTenantsSideBySide(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	const room = "board & more ☕"
	one, two := settle(w.a, room, "Ada of A", "sesame-a"), settle(w.b, room, "Ada of B", "sesame-b")
	if one.Meeting.Room != two.Meeting.Room || one.You.Identity == two.You.Identity {
		t.Fatalf("%+v and %+v", one.You, two.You)
	}
	w.eventually(t, w.hasPeople(room, 1))
	for _, pair := range []struct{ here, there resident }{{one, two}, {two, one}} {
		t.Run(pair.here.name+" at the other's", func(t *testing.T) { pair.here.tries(t, pair.there) })
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
