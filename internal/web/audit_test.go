// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// listen collects the log's lines, taken apart.
func (s *site) listen(t *testing.T) (lines func() []map[string]any) {
	t.Helper()
	var all []map[string]any
	s.log = funcr.NewJSON(func(line string) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		all = append(all, one)
	}, funcr.Options{})
	s.router = s.route(s.handler)
	return func() []map[string]any {
		taken := all
		all = nil
		return taken
	}
}

func TestAuditOfPages(t *testing.T) {
	s := newSite(t, withUsers)
	v := s.meetings.open("room", nil)
	paula, bob := s.inside(t, presenting), s.inside(t, nil)
	lines := s.listen(t)
	act := func(session string, b object) func() answer {
		return func() answer { return s.call(t, http.MethodPost, "/session/act", session, b) }
	}
	enter := func(b object) func() answer { return func() answer { return s.enterWith(t, b) } }
	line := func(msg, action string, more map[string]any) map[string]any {
		out := map[string]any{"logger": "", "level": 0.0, "msg": msg, "tenant": "ns/default", "action": action, "room": "room",
			"time": "2026-11-21T12:00:00Z", "requestID": "id-1"}
		for key, value := range more {
			out[key] = value
		}
		return out
	}
	done := func(action string, more map[string]any) []map[string]any {
		more["result"] = "done"
		if more["status"] = 204.0; action == "enter" {
			more["status"] = 200.0
		}
		return []map[string]any{line("Page call", action, more)}
	}
	refused := func(action string, more map[string]any) []map[string]any {
		return []map[string]any{line("Page call refused", action, more)}
	}
	me, other := string(paula.You.Identity), string(bob.You.Identity)
	for _, tc := range []struct {
		reason string
		do     func() answer
		want   []map[string]any
	}{
		{"a participant comes in by a link", enter(object{"room": "room", "name": "Ann"}), done("enter", map[string]any{"by": "link"})},
		{"a user logs in", enter(object{"room": "room", "name": "Bob", "username": "bob", "userPassword": "bob"}), done("enter", map[string]any{"by": "login", "user": "bob"})},
		{
			"a wrong login", enter(object{"room": "room", "name": "Bob", "username": "bob", "userPassword": "guess"}),
			refused("enter", map[string]any{"room": "", "status": 403.0, "result": admission.ErrWrongLogin.Message}),
		},
		{"a page", func() answer { return s.call(t, http.MethodGet, "/join/room", "", nil) }, nil},
		{"a look at the session", func() answer { return s.call(t, http.MethodGet, "/session", bob.Session, nil) }, nil},
		{"a participant speaks", func() answer {
			return s.call(t, http.MethodPost, "/session/chat", bob.Session, object{"text": "hello"})
		}, nil},
		{"a participant says nothing", func() answer { return s.call(t, http.MethodPost, "/session/chat", bob.Session, object{}) }, refused("chat", map[string]any{
			"identity": other, "status": 400.0, "result": "text is required; write 1 to 4000 characters",
		})},
		{"a mute", act(paula.Session, object{"action": "mute", "identity": other}), done("mute", map[string]any{"identity": me, "to": other})},
		{"the end of a mute", act(paula.Session, object{"action": "allowToSpeak", "identity": other}), done("allowToSpeak", map[string]any{"identity": me, "to": other})},
		{"a removal by a participant who may not", act(bob.Session, object{"action": "remove", "identity": me}), refused("act", map[string]any{
			"identity": other, "status": 403.0, "result": "Only presenters may do this",
		})},
		{"a removal", act(paula.Session, object{"action": "remove", "identity": other}), done("remove", map[string]any{"identity": me, "to": other})},
		{"an unknown session", act("a.b.c", object{"action": "end"}), refused("act", map[string]any{
			"room": "", "status": 403.0, "result": "This session is over: open the link of the meeting again",
		})},
		{"a connection of a removed participant", func() answer {
			return s.connect(t, "rtc", url.Values{"access_token": {accessTo(t, v.EngineRoom, engine.Identity(other))}})
		}, refused("connect", map[string]any{"identity": other, "status": 403.0, "result": admission.ErrRemoved.Message})},
		{"an end", act(paula.Session, object{"action": "end"}), done("end", map[string]any{"identity": me})},
		{"after it", enter(object{"room": "room", "name": "Ann"}), refused("enter", map[string]any{
			"by": "link", "status": 410.0, "result": "This meeting has ended",
		})},
	} {
		tc.do()
		got := lines()
		ignored := cmpopts.IgnoreMapEntries(func(key string, _ any) bool { return key == "requestID" })
		if tc.want != nil && tc.want[0]["identity"] == nil {
			ignored = cmpopts.IgnoreMapEntries(func(key string, _ any) bool { return key == "requestID" || key == "identity" })
		}
		if diff := cmp.Diff(tc.want, got, ignored, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
		}
	}
}

func TestAuditOfForgedWebhooks(t *testing.T) {
	s := newSite(t)
	lines := s.listen(t)
	r := newRequest(http.MethodPost, "/media-server/webhook", "room")
	r.Header.Set("Authorization", "forged")
	r.Header.Set("X-Request-Id", "id-1")
	if got := s.do(t, r); got.Code != http.StatusUnauthorized {
		t.Fatalf("status %d", got.Code)
	}
	got := lines()
	if len(got) != 1 || got[0]["msg"] != "Webhook refused" || got[0]["requestID"] != "id-1" || len(s.hints) > 0 {
		t.Errorf("logged %v, hints %v", got, s.hints)
	}
}

func TestRequestIDsOfPages(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/", "/nowhere/at/all", "/session", "/assets/main-abc123.js", "/media-server/rtc", "/media-server/webhook"} {
		r := newRequest(http.MethodGet, path, "")
		r.Header.Set("X-Request-Id", "mine")
		if got := s.do(t, r).Header().Get("X-Request-Id"); got != "mine" {
			t.Errorf("%s: %q", path, got)
		}
		r.Header.Set("X-Request-Id", "not\nfit")
		if got := s.do(t, r).Header().Get("X-Request-Id"); got == "" || strings.Contains(got, "fit") {
			t.Errorf("%s, an unfit one: %q", path, got)
		}
	}
}

// TestAPanicIsLogged: the operator must hear of it, and the page reads an error like others.
func TestAPanicIsLogged(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	in := s.inside(t, nil)
	lines := s.listen(t)
	s.engine.onAct = func() { panic("the engine's client is broken") }
	got := s.call(t, http.MethodPost, "/session/hand", in.Session, object{"raised": true})
	if got.Code != http.StatusInternalServerError || got.refusal().Reason != "Unavailable" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if logged := lines(); len(logged) != 1 || !strings.Contains(logged[0]["error"].(string), "the engine's client is broken") {
		t.Errorf("logged %v", logged)
	}
}

func TestWhatFailsOnOurSideIsLoggedWithItsCause(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	lines := s.listen(t)
	s.engine.err = fault.Unavailable("away").Because(errors.New("the cause" + strings.Repeat("!", 9000)))
	s.enterWith(t, object{"room": "room", "name": "Ann"})
	got := lines()
	if len(got) != 1 || got[0]["status"] != 503.0 || !strings.Contains(got[0]["cause"].(string), "the cause") || len(got[0]["cause"].(string)) > 500 {
		t.Errorf("logged %v", got)
	}
}
