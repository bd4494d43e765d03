// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit/golden"
)

// goldenRequest is a request of the page.
type goldenRequest struct {
	// name is behind the path.
	name, path string
	// as is the ticket of the participant whose session the request has; nil for a request without one.
	as func(*credential.Ticket)
	golden.Shape
}

// goldenRequests returns the requests of the page with a body.
func goldenRequests(signed map[string]string) []goldenRequest {
	type values = map[string][]string
	guest := func(*credential.Ticket) {}
	shape := func(whole string, members values) golden.Shape { return golden.Shape{Whole: whole, Members: members} }
	quoted := func(name string) string { return `"` + signed[name] + `"` }
	return []goldenRequest{
		{"", "/session", nil, shape(`{"room":"room","name":"Ann"}`, values{
			"room": {`"a/b"`, `".."`, `" x "`, `"Room"`}, "name": {`"  Ann   L.  "`}, "ticket": {quoted("ticket"), quoted("hidden"), `"eyJhbGciOiJIUzI1NiJ9.e30.AAAA"`},
			"token": {quoted("token"), `"eyJhbGciOiJIUzI1NiJ9.e30.AAAA"`}, "password": {`"open sesame"`}, "username": {`"bob"`}, "userPassword": {`"bob"`},
			"avatar": {`"https://example.com/a.png"`, `"//example.com/a.png"`, `"javascript:alert(1)"`, `"/a.png"`},
			"audio":  nil, "video": nil, "screen": nil, "chat": nil, "notify": nil, "session": {quoted("session")}, "renews": nil,
		})},
		{" with a ticket", "/session", nil, shape(`{"ticket":`+quoted("ticket")+`}`, values{"room": nil, "name": nil, "chat": nil, "session": {quoted("session")}})},
		{" with a login", "/session", nil, shape(`{"room":"room","name":"Ann","username":"bob","userPassword":"bob"}`, values{"username": {`"paula"`},
			"userPassword": {`"paula"`}})},
		{" to come back", "/session", nil, shape(`{"room":"room","name":"Ann","session":`+quoted("session")+`,"renews":true}`,
			values{"renews": nil, "room": {`"another"`}})},
		{" policy", "/session/act", presenting, shape(`{"action":"policy","policy":{"chat":"Presenters"}}`, values{
			"action": {
				`"mute"`, `"lockMicrophone"`, `"allowToSpeak"`, `"muteAll"`, `"remove"`, `"lowerHand"`, `"promote"`, `"demote"`, `"admit"`, `"refuse"`, `"lock"`, `"unlock"`,
				`"admission"`, `"admitAll"`, `"announce"`, `"end"`, `"POLICY"`,
			},
			"policy": {`{"chat":"presenters"}`, `{"chat":""}`, `{"chat":null}`, `{"camera":"Everyone","other":1}`, `{"chat":"Presenters","chat":"Everyone"}`,
				`{"CHAT":"Presenters"}`},
		})},
		{" end", "/session/act", presenting, shape(`{"action":"end","redirect":"https://example.com/bye"}`, values{
			"redirect": {`"http://example.com"`, `"/bye"`, `"javascript:alert(1)"`, `" https://example.com/ "`},
		})},
		{" muteAll", "/session/act", presenting, shape(`{"action":"muteAll","mayUnmute":true}`, values{"mayUnmute": nil})},
		{" admission", "/session/act", presenting, shape(`{"action":"admission","admission":"Ask"}`, values{"admission": {`"Open"`, `"ask"`, `"WithPresenter"`}})},
		{" announce", "/session/act", presenting, shape(`{"action":"announce","text":"Hello"}`, values{"text": nil, "identity": {`"bob-1"`, `"user:bob"`, `"user:"`}})},
		{" admit", "/session/act", presenting, shape(`{"action":"admit","identity":"bob-1"}`, values{"identity": {`"user:bob"`, `"user:eve"`, `"a b"`}})},
		{" of a guest", "/session/act", guest, shape(`{"action":"lock"}`, nil)},
		{"", "/session/chat", guest, shape(`{"text":"Hello"}`, values{"text": {`"a\nb"`}, "to": {`"bob-1"`}})},
		{"", "/session/history", guest, shape(`{"from":"bob-1"}`, values{"from": nil})},
		{"", "/session/history/messages", guest, shape(`{"for":"bob-1","until":"2026-11-21T12:00:10Z","stamp":"x","messages":[]}`, values{
			"for": nil, "until": {`"2026-11-21T12:00:10Z"`, `"yesterday"`}, "stamp": nil,
			"messages": {`[{"id":"a","from":"bob-1","name":"Bob","text":"b","at":"2026-11-21T12:00:00Z","stamp":"x"}]`, `[{"id":7}]`, `[{"at":""}]`},
		})},
		{"", "/session/hand", guest, shape(`{"raised":true}`, values{"raised": nil})},
		{"", "/session/reaction", guest, shape(`{"reaction":"👍"}`, values{"reaction": {`"❤️"`}})},
		{"", "/session/message", guest, shape(`{"text":"May I?"}`, values{"text": nil})},
	}
}

// goldenBounds are the bounds of bodies that are not httpserver.MaxBody, by path.
var goldenBounds = map[string]int{
	"/session": maxEntryBody, "/session/history": maxEntryBody, "/session/message": maxEntryBody, "/session/history/messages": maxHistoryBody,
}

// TestGolden compares the answers to the page's requests byte by byte, and the calls of the media server.
func TestGolden(t *testing.T) {
	cryptotest.SetGlobalRandom(t, 1) // Hashes of passwords are in what is signed.
	known := users("paula", "bob")
	worlds := map[string]func(*tenant.Tenant){
		"guests": func(*tenant.Tenant) {}, "users": func(t *tenant.Tenant) { t.Users = known }, "protected": func(t *tenant.Tenant) { t.Users, t.Protected = known, true },
	}
	record := golden.NewRecord()
	for _, world := range []string{"guests", "users", "protected"} {
		for _, r := range goldenRequests(goldenCredentials(t, worlds[world])) {
			r.Most = goldenBounds[r.path]
			if r.path != "/session" && world != "guests" {
				continue
			}
			for _, body := range golden.Bodies(r.Shape) {
				record.Add("POST "+r.path+r.name, world, body.Name, goldenAnswer(t, worlds[world], r, body))
			}
		}
	}
	record.Compare(t, filepath.Join("testdata", "answers.golden"))
}

// goldenSite has a meeting with bob, another with a password, and wim before the door.
func goldenSite(t *testing.T, change func(*tenant.Tenant)) *site {
	s := newSite(t, change)
	s.meetings.open("room", func(v *meeting.View) { v.Redirect = "https://example.com/old" })
	locked := s.meetings.open("Room", func(v *meeting.View) { v.HasPassword = true })
	s.meetings.passwords[locked.UID] = "open sesame"
	bob := engine.Participant{Identity: "bob-1", Name: "Bob", JoinedAt: s.now, Audio: true}
	bob.Chat, bob.Username = true, "bob"
	s.engine.people = []engine.Participant{bob}
	wim := engine.Participant{Identity: "wim-1", Name: "Wim"}
	wim.Since, wim.Message = s.now, "May I?"
	s.engine.waiting = []engine.Participant{wim}
	return s
}

// goldenCredentials signs credentials for a site.
func goldenCredentials(t *testing.T, change func(*tenant.Tenant)) map[string]string {
	all := map[string]string{}
	s := goldenSite(t, change)
	all["ticket"] = s.ticket(t, func(k *credential.Ticket) {
		k.Avatar, k.Audio, k.Notify, k.Presenter, k.Username = "https://example.com/a.png", true, true, true, ""
		if s.tenant.Users != nil {
			k.Username = "bob"
		}
	})
	all["hidden"] = s.ticket(t, func(k *credential.Ticket) { k.Hide = true })
	all["token"] = s.token(t, "bob", true)
	all["session"] = s.enterWith(t, object{"ticket": all["ticket"]}).session().Session
	return all
}

// goldenAnswer is the answer to one request, on a site of its own with the same clock, keys and random numbers.
func goldenAnswer(t *testing.T, change func(*tenant.Tenant), r goldenRequest, body golden.Body) (said string) {
	t.Run(r.path, func(t *testing.T) {
		cryptotest.SetGlobalRandom(t, 2)
		synctest.Test(t, func(t *testing.T) { // LiveKit's tokens begin now.
			s := goldenSite(t, change)
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+host+r.path+"?"+body.Query, strings.NewReader(body.Text))
			request.Header.Set("Origin", "https://"+host)
			request.Header.Set("Content-Type", "application/json")
			for name, values := range body.Header {
				request.Header[name] = values
			}
			if r.as != nil {
				request.Header.Set(sessionHeader, s.inside(t, r.as).Session)
			}
			s.engine.acts, s.engine.doorActs, s.engine.limited = nil, nil, nil
			said = saidOf(t, s, s.do(t, request))
		})
	})
	return said
}

// saidOf writes an answer, what the media server did, and the meeting of the room.
func saidOf(t *testing.T, s *site, answer answer) string {
	said := golden.Answer(answer.ResponseRecorder)
	for _, act := range append(s.engine.acts, s.engine.doorActs...) {
		said += fmt.Sprintf(" %T", act) + golden.JSON(t, act)
	}
	v := s.meetings.byRoom["room"]
	return said + fmt.Sprintf(" ended %v, to %s", v.Ended, v.Redirect) + golden.JSON(t, v.Control)
}
