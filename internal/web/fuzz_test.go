// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// FuzzSessionBody: whatever is posted, the answer is JSON with a fitting status, and nobody presents or hides by asking.
func FuzzSessionBody(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{}", "[]", `{"room":"room"}`, `{"room":"room","name":"Ann"}`, `{"room":"locked","name":"Ann","password":"x"}`,
		`{"room":"room","name":"Ann","ticket":"a.b.c","token":"d","session":"e","username":"f","userPassword":"g"}`,
		`{"room":"room","name":"\u0000","avatar":"javascript:","chat":false,"hide":true,"presenter":true}`,
		`{"room":"a/b","name":7}`, "\xff", `{"ROOM":"room","NAME":"Ann"}`,
	} {
		f.Add(seed)
	}
	s := newSite(f, withUsers)
	s.meetings.open("room", nil)
	s.meetings.open("locked", nil)
	s.lock("locked")
	f.Fuzz(func(t *testing.T, text string) {
		s.now = s.now.Add(time.Second) // No limit on the address is reached.
		got := s.do(t, newRequest(http.MethodPost, "/session", text))
		if !json.Valid(got.Body.Bytes()) {
			t.Fatalf("status %d, not JSON: %s", got.Code, got.Body)
		}
		if got.Code != http.StatusOK {
			if e := got.refusal(); got.Code >= 500 || e.Error == "" || e.Reason == "" {
				t.Errorf("status %d: %s", got.Code, got.Body)
			}
			return
		}
		in := got.session()
		if in.You.Presenter || in.You.Hidden || in.Meeting.Room != "room" {
			t.Errorf("let in as %+v to %s", in.You, in.Meeting.Room)
		}
		if n := utf8.RuneCountInString(in.You.Name); n < 1 || n > 128 || strings.ContainsFunc(in.You.Name, unicode.IsControl) {
			t.Errorf("let in as %q", in.You.Name)
		}
	})
}

// FuzzPaths: whatever is asked for, nothing fails, and redirects stay here.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{
		"/", "/join", "/join/room", "/room", "//evil.example", "/%2F%2Fevil.example", "/\\evil.example", "/..", "/assets/x",
		"/media-server/rtc", "/media-server/../x", "/join/%ff", "/%0d%0aSet-Cookie:x", "/session/chat", "/join/a%2Fb", "/?x", "/a b",
	} {
		f.Add(seed)
	}
	s := newSite(f)
	f.Fuzz(func(t *testing.T, path string) {
		r := newRequest(http.MethodGet, "/", "")
		if !strings.HasPrefix(path, "/") || setPath(r, path) != nil {
			return
		}
		got := s.do(t, r)
		if got.Code >= 500 {
			t.Errorf("status %d: %s", got.Code, got.Body)
		}
		location := got.Header().Get("Location")
		if location == "" {
			return
		}
		to, err := url.Parse(location)
		if err != nil || to.Host != "" || to.Scheme != "" || !strings.HasPrefix(location, "/") || strings.HasPrefix(location, "//") || strings.HasPrefix(location, `/\`) || strings.ContainsAny(location, "\r\n") {
			t.Errorf("leads to %q", location)
		}
	})
}

func FuzzClient(f *testing.F) {
	f.Add("Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0")
	f.Add("((((;;;;////")
	f.Fuzz(func(t *testing.T, agent string) {
		os, browser := client(agent)
		for _, s := range []string{os, browser} {
			if len(s) > maxClientName || strings.ContainsFunc(s, unicode.IsControl) {
				t.Errorf("%q", s)
			}
		}
	})
}
