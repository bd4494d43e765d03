// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// inside lets a participant in by ticket, all the way into the engine's room.
func (s *site) inside(t *testing.T, change func(*credential.Ticket)) sessionAnswer {
	t.Helper()
	in := s.enterWith(t, object{"ticket": s.ticket(t, change)}).session()
	s.engine.join(in.You.Identity)
	return in
}

func presenting(k *credential.Ticket) { k.Presenter = true }

func TestState(t *testing.T) {
	for _, c := range []struct {
		reason string
		given  func(*site, sessionAnswer)
		want   string
	}{
		{"live", func(*site, sessionAnswer) {}, `{"state":"live"}`},
		{"removed", func(s *site, in sessionAnswer) { s.bar(in.You.Identity) }, `{"state":"removed"}`},
		{"ended without a redirect", func(s *site, _ sessionAnswer) { s.meetings.byRoom["room"].Ended = true }, `{"state":"ended","redirect":""}`},
		{"ended with one", func(s *site, _ sessionAnswer) {
			v := s.meetings.byRoom["room"]
			v.Ended, v.Redirect = true, "https://bye.example/"
		}, `{"state":"ended","redirect":"https://bye.example/"}`},
		{"not known to this replica", func(s *site, _ sessionAnswer) { s.meetings.unknown["uid-1"] = true }, `{"state":"live"}`},
		{"ended long ago", func(s *site, _ sessionAnswer) { clear(s.meetings.byUID) }, `{"state":"ended","redirect":""}`},
		{"live with the engine away", func(s *site, _ sessionAnswer) { s.engine.err = fault.Unavailable("away") }, `{"state":"live"}`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t)
			s.meetings.open("room", nil)
			in := s.inside(t, nil)
			c.given(s, in)
			got := s.call(t, http.MethodGet, "/session", in.Session, nil)
			if got.Code != http.StatusOK || withoutProof(got) != c.want {
				t.Errorf("status %d: %s, want %s", got.Code, got.Body, c.want)
			}
		})
	}
}

func TestCallsWithoutARight(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	in := s.inside(t, presenting)
	calls := []struct{ method, path, body string }{
		{http.MethodGet, "/session", ""},
		{http.MethodPost, "/session/chat", `{"text":"hello"}`},
		{http.MethodPost, "/session/history", `{"from":"ann-1"}`},
		{http.MethodPost, "/session/history/messages", `{}`},
		{http.MethodPost, "/session/hand", `{"raised":true}`},
		{http.MethodPost, "/session/reaction", `{"reaction":"like"}`},
		{http.MethodPost, "/session/act", `{"action":"end"}`},
	}
	const header, old = sessionHeader, "Authorization"
	for name, shown := range map[string][2]string{
		"none":                        {header, ""},
		"a scheme":                    {header, "Bearer " + in.Session},
		"a ticket":                    {header, s.ticket(t, presenting)},
		"an API token":                {header, s.token(t, "ann", true)},
		"one of their own":            {header, "a.b.c"},
		"one whose time's over":       {header, in.Session},
		"no scheme, as before":        {old, in.Session},
		"another scheme, as before":   {old, "Basic " + in.Session},
		"a ticket, as before":         {old, "Bearer " + s.ticket(t, presenting)},
		"one of their own, as before": {old, "Bearer a.b.c"},
	} {
		for _, c := range calls {
			t.Run(name+" "+c.path, func(t *testing.T) {
				if name == "one whose time's over" {
					now := s.now
					s.now = now.Add(25 * time.Hour)
					defer func() { s.now = now }()
				}
				r := newRequest(c.method, c.path, c.body)
				r.Header.Set(shown[0], shown[1])
				got := s.do(t, r)
				if got.Code != http.StatusForbidden || got.refusal().Reason != "NotAllowed" {
					t.Errorf("status %d: %s", got.Code, got.Body)
				}
			})
		}
	}
	if len(s.engine.acts) > 0 || s.meetings.byRoom["room"].Ended {
		t.Errorf("something was done: %v", s.engine.acts)
	}
}

// TestASessionBesideOtherAuthorization: a proxy in front keeps Authorization for itself.
func TestASessionBesideOtherAuthorization(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	in := s.inside(t, presenting)
	for name, header := range map[string]http.Header{
		"alone":                       {sessionHeader: {in.Session}},
		"with HTTP Basic":             {sessionHeader: {in.Session}, "Authorization": {"Basic YWRhOnNlc2FtZQ=="}},
		"with another bearer token":   {sessionHeader: {in.Session}, "Authorization": {"Bearer a.b.c"}},
		"of a page before an upgrade": {"Authorization": {"bearer " + in.Session}},
	} {
		r := newRequest(http.MethodGet, "/session", "")
		for key, values := range header {
			r.Header[key] = values
		}
		if got := s.do(t, r); got.Code != http.StatusOK {
			t.Errorf("%s: status %d: %s", name, got.Code, got.Body)
		}
	}
}

// TestNothingEndsWhileNobodyCanSay: the API server does not say whether a meeting has ended, which this replica does not know.
func TestNothingEndsWhileNobodyCanSay(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", nil)
	in := s.inside(t, presenting)
	s.meetings.unknown[v.UID], s.meetings.knownErr = true, fault.Unavailable("away")
	for _, call := range []string{
		"GET /session", "POST /session/chat", "POST /session/history", "POST /session/hand", "POST /session/reaction", "POST /session/act",
	} {
		method, path, _ := strings.Cut(call, " ")
		got := s.call(t, method, path, in.Session, object{})
		if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") == "" {
			t.Errorf("%s: status %d: %s", call, got.Code, got.Body)
		}
	}
}

func TestCallsAfterTheEnd(t *testing.T) {
	for _, path := range []string{"/session/chat", "/session/history", "/session/history/messages", "/session/hand", "/session/reaction", "/session/act"} {
		s := newSite(t)
		v := s.meetings.open("room", nil)
		in := s.inside(t, presenting)
		s.bar(in.You.Identity)
		if got := s.call(t, http.MethodPost, path, in.Session, object{}); got.Code != http.StatusForbidden {
			t.Errorf("%s of a removed participant: status %d: %s", path, got.Code, got.Body)
		}
		v.Ended, v.Redirect = true, "https://bye.example/"
		got := s.call(t, http.MethodPost, path, in.Session, object{})
		if got.Code != http.StatusGone || got.refusal().Redirect != v.Redirect {
			t.Errorf("%s after the end: status %d: %s", path, got.Code, got.Body)
		}
	}
}

func TestChat(t *testing.T) {
	hello := object{"text": "<hello> & good day"}
	for _, c := range []struct {
		reason string
		ticket func(*credential.Ticket)
		given  func(*site)
		body   any
		status int
	}{
		{"with chat on", nil, nil, hello, http.StatusNoContent},
		{"with chat off", func(k *credential.Ticket) { k.Chat = false }, nil, hello, http.StatusForbidden},
		{"hidden", func(k *credential.Ticket) { k.Hide = true }, nil, hello, http.StatusForbidden},
		{"a participant who is not in", nil, func(s *site) { s.engine.people = nil }, hello, http.StatusForbidden},
		{"nothing", nil, nil, object{}, http.StatusBadRequest},
		{"blanks", nil, nil, object{"text": " \n "}, http.StatusBadRequest},
		{"4,000 characters", nil, nil, object{"text": strings.Repeat("é", 4000)}, http.StatusNoContent},
		{"4,001 characters", nil, nil, object{"text": strings.Repeat("é", 4001)}, http.StatusBadRequest},
		{"not JSON", nil, nil, "hello", http.StatusBadRequest},
		{"the engine away", nil, func(s *site) { s.engine.err = fault.Unavailable("away") }, hello, http.StatusServiceUnavailable},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t)
			s.meetings.open("room", nil)
			in := s.inside(t, c.ticket)
			if c.given != nil {
				c.given(s)
			}
			got := s.call(t, http.MethodPost, "/session/chat", in.Session, c.body)
			if got.Code != c.status {
				t.Fatalf("status %d, want %d: %s", got.Code, c.status, got.Body)
			}
			if said := len(s.engine.acts) > 0; said != (c.status == http.StatusNoContent) {
				t.Errorf("said: %v", s.engine.acts)
			}
		})
	}

	s := newSite(t)
	s.meetings.open("room", nil)
	in := s.inside(t, nil)
	s.call(t, http.MethodPost, "/session/chat", in.Session, hello.with(object{"name": "Eve", "from": "eve"}))
	say := s.engine.acts[0].(engine.Say)
	var m chatMessage
	if err := json.Unmarshal(say.Payload, &m); err != nil {
		t.Fatal(err)
	}
	if m.ID == "" {
		t.Error("a message without an id")
	}
	if !s.tenant.Signer.VerifyMessage(m.of("uid-1"), m.Stamp) {
		t.Errorf("the stamp %q is not of the message", m.Stamp)
	}
	m.ID, m.Stamp = "", ""
	want := chatMessage{From: in.You.Identity, Name: "Tina", Text: "<hello> & good day", At: s.now}
	if diff := cmp.Diff(want, m); diff != "" || say.Topic != "convene.chat" {
		t.Errorf("on %s (-want +got)\n%s", say.Topic, diff)
	}
}

func TestCallsAreLimitedBySession(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	in, other := s.inside(t, nil), s.inside(t, nil)
	say := func(session string) answer {
		return s.call(t, http.MethodPost, "/session/chat", session, object{"text": "hello"})
	}
	for i := range 20 {
		if got := say(in.Session); got.Code != http.StatusNoContent {
			t.Fatalf("message %d: status %d: %s", i, got.Code, got.Body)
		}
	}
	got := say(in.Session)
	if got.Code != http.StatusTooManyRequests || got.refusal().Reason != "TooManyAttempts" || got.Header().Get("Retry-After") != "1" {
		t.Errorf("status %d, Retry-After %s: %s", got.Code, got.Header().Get("Retry-After"), got.Body)
	}
	if got := say(other.Session); got.Code != http.StatusNoContent {
		t.Errorf("another one: status %d: %s", got.Code, got.Body)
	}
	s.now = s.now.Add(200 * time.Millisecond)
	if got := say(in.Session); got.Code != http.StatusNoContent {
		t.Errorf("a fifth of a second later: status %d: %s", got.Code, got.Body)
	}
}

func TestHand(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	in := s.inside(t, nil)
	hidden := s.inside(t, func(k *credential.Ticket) { k.Hide = true })
	for _, c := range []struct {
		session string
		body    any
		status  int
	}{
		{in.Session, object{"raised": true}, http.StatusNoContent},
		{in.Session, object{"raised": false, "identity": "other"}, http.StatusNoContent},
		{in.Session, object{}, http.StatusBadRequest},
		{in.Session, object{"raised": "yes"}, http.StatusBadRequest},
		{hidden.Session, object{"raised": true}, http.StatusForbidden},
	} {
		if got := s.call(t, http.MethodPost, "/session/hand", c.session, c.body); got.Code != c.status {
			t.Errorf("%v: status %d, want %d: %s", c.body, got.Code, c.status, got.Body)
		}
	}
	want := []engine.Action{engine.Hand{Who: in.You.Identity, Raised: true}, engine.Hand{Who: in.You.Identity}}
	if diff := cmp.Diff(want, s.engine.acts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.engine.err = fault.NotFound("nobody of that name")
	if got := s.call(t, http.MethodPost, "/session/hand", in.Session, object{"raised": true}); got.Code != http.StatusForbidden {
		t.Errorf("of a participant who is not in: status %d: %s", got.Code, got.Body)
	}
}

func TestAct(t *testing.T) {
	for _, c := range []struct {
		reason string
		ticket func(*credential.Ticket)
		given  func(*site)
		body   func(me, other engine.Identity) object
		status int
		// acts are what the engine is asked.
		acts func(other engine.Identity) []engine.Action
	}{
		{
			reason: "mute", ticket: presenting, status: http.StatusNoContent,
			given: func(s *site) { s.engine.people[1].Audio = true },
			body:  func(_, other engine.Identity) object { return object{"action": "mute", "identity": other} },
			acts: func(other engine.Identity) []engine.Action {
				return []engine.Action{engine.Mute{Who: other, What: engine.Microphone}}
			},
		}, {
			reason: "mute one who is silent", ticket: presenting, status: http.StatusNoContent,
			body: func(_, other engine.Identity) object { return object{"action": "mute", "identity": other} },
		}, {
			reason: "lock the microphone", ticket: presenting, status: http.StatusNoContent,
			body: func(_, other engine.Identity) object { return object{"action": "lockMicrophone", "identity": other} },
			acts: func(other engine.Identity) []engine.Action {
				return []engine.Action{engine.SetRights{Who: other, Rights: engine.Rights{Forbidden: engine.Microphone, Held: engine.Microphone}}}
			},
		}, {
			reason: "let a muted participant speak", ticket: presenting, status: http.StatusNoContent,
			body:  func(_, other engine.Identity) object { return object{"action": "allowToSpeak", "identity": other} },
			given: func(s *site) { s.engine.people[1].Forbidden = engine.Microphone },
			acts:  func(other engine.Identity) []engine.Action { return []engine.Action{engine.SetRights{Who: other}} },
		}, {
			reason: "let one speak who asks for it", ticket: presenting, status: http.StatusNoContent,
			body:  func(_, other engine.Identity) object { return object{"action": "allowToSpeak", "identity": other} },
			given: func(s *site) { s.engine.people[1].Forbidden, s.engine.people[1].Hand = engine.Microphone, true },
			acts: func(other engine.Identity) []engine.Action {
				return []engine.Action{engine.SetRights{Who: other}, engine.Hand{Who: other}}
			},
		}, {
			reason: "let a muted participant speak, by one who is no presenter", status: http.StatusForbidden,
			body: func(_, other engine.Identity) object { return object{"action": "allowToSpeak", "identity": other} },
		}, {
			reason: "let a muted participant speak when it cannot be written down", ticket: presenting, status: http.StatusServiceUnavailable,
			given: func(s *site) { s.meetings.err = fault.Unavailable("the API server is away") },
			body:  func(_, other engine.Identity) object { return object{"action": "allowToSpeak", "identity": other} },
		}, {
			reason: "lower a hand", ticket: presenting, status: http.StatusNoContent,
			body: func(_, other engine.Identity) object { return object{"action": "lowerHand", "identity": other} },
			acts: func(other engine.Identity) []engine.Action { return []engine.Action{engine.Hand{Who: other}} },
		}, {
			reason: "remove", ticket: presenting, status: http.StatusNoContent,
			body: func(_, other engine.Identity) object { return object{"action": "remove", "identity": other} },
			acts: func(other engine.Identity) []engine.Action { return []engine.Action{engine.Remove{Who: other}} },
		}, {
			reason: "remove when it cannot be written down", ticket: presenting, status: http.StatusServiceUnavailable,
			given: func(s *site) { s.meetings.err = fault.Unavailable("the API server is away") },
			body:  func(_, other engine.Identity) object { return object{"action": "remove", "identity": other} },
		}, {
			reason: "remove oneself", ticket: presenting, status: http.StatusBadRequest,
			body: func(me, _ engine.Identity) object { return object{"action": "remove", "identity": me} },
		}, {
			reason: "remove a participant who is not there", ticket: presenting, status: http.StatusNotFound,
			body: func(_, _ engine.Identity) object { return object{"action": "remove", "identity": "nobody"} },
		}, {
			reason: "nobody named", ticket: presenting, status: http.StatusBadRequest,
			body: func(_, _ engine.Identity) object { return object{"action": "mute"} },
		}, {
			reason: "an unknown action", ticket: presenting, status: http.StatusBadRequest,
			body: func(_, other engine.Identity) object { return object{"action": "praise", "identity": other} },
		}, {
			reason: "mute by a participant who is no presenter", status: http.StatusForbidden,
			body: func(_, other engine.Identity) object { return object{"action": "mute", "identity": other} },
		}, {
			reason: "end by a participant who is no presenter", status: http.StatusForbidden,
			body: func(_, _ engine.Identity) object { return object{"action": "end"} },
		}, {
			reason: "a redirect to nowhere", ticket: presenting, status: http.StatusBadRequest,
			body: func(_, _ engine.Identity) object { return object{"action": "end", "redirect": "javascript:alert(1)"} },
		}, {
			reason: "a redirect that the operator does not allow", ticket: presenting, status: http.StatusBadRequest,
			given: func(s *site) { s.tenant.Settings.RedirectHosts = []string{"*.example.com"} },
			body: func(_, _ engine.Identity) object {
				return object{"action": "end", "redirect": "https://evil.example.org/"}
			},
		}, {
			reason: "the engine away", ticket: presenting, status: http.StatusServiceUnavailable,
			given: func(s *site) { s.engine.err = fault.Unavailable("away") },
			body:  func(_, other engine.Identity) object { return object{"action": "mute", "identity": other} },
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t)
			v := s.meetings.open("room", nil)
			me, other := s.inside(t, c.ticket), s.inside(t, nil)
			if c.given != nil {
				c.given(s)
			}
			s.engine.onAct = func() {
				if c.reason == "remove" && !v.DecisionOn("", other.You.Identity).Removed {
					t.Error("removed before it was written down: they could come back between the two")
				}
			}
			got := s.call(t, http.MethodPost, "/session/act", me.Session, c.body(me.You.Identity, other.You.Identity))
			if got.Code != c.status {
				t.Fatalf("status %d, want %d: %s", got.Code, c.status, got.Body)
			}
			var want []engine.Action
			if c.acts != nil {
				want = c.acts(other.You.Identity)
			}
			if diff := cmp.Diff(want, s.engine.acts); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if v.Ended {
				t.Error("the meeting has ended")
			}
		})
	}
}

func TestEndForAll(t *testing.T) {
	for _, c := range []struct {
		body object
		want string
	}{
		{object{"action": "end"}, "https://own.example/"},
		{object{"action": "end", "redirect": nil}, "https://own.example/"},
		{object{"action": "end", "redirect": ""}, ""},
		{object{"action": "end", "redirect": "https://bye.example/"}, "https://bye.example/"},
	} {
		s := newSite(t)
		v := s.meetings.open("room", nil)
		v.Redirect = "https://own.example/"
		me := s.inside(t, presenting)
		got := s.call(t, http.MethodPost, "/session/act", me.Session, c.body)
		if got.Code != http.StatusNoContent || !v.Ended || v.Redirect != c.want {
			t.Errorf("%v: status %d, ended %t, to %q: %s", c.body, got.Code, v.Ended, v.Redirect, got.Body)
		}
	}
}

func TestOtherSitesMayNotCall(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	in := s.inside(t, presenting)
	for _, path := range []string{
		"/session", "/session/chat", "/session/history", "/session/history/messages", "/session/hand", "/session/reaction", "/session/act",
	} {
		r := newRequest(http.MethodPost, path, `{"room":"room","name":"Ann","text":"hello","raised":true,"action":"end"}`)
		r.Header.Set(sessionHeader, in.Session)
		r.Header.Set("Origin", "https://evil.example")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		if got := s.do(t, r); got.Code != http.StatusForbidden || got.refusal().Reason != "NotAllowed" {
			t.Errorf("%s: status %d: %s", path, got.Code, got.Body)
		}
	}
	if len(s.engine.grants) != 1 || len(s.engine.acts) > 0 {
		t.Errorf("something was done: %v", s.engine.acts)
	}
}
