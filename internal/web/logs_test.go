// SPDX-License-Identifier: Apache-2.0

package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"

	"convene.dev/convene/internal/fault"
)

// TestLogsHoldNoSecrets makes every kind of request fail and looks for what was presented in the most detailed log.
func TestLogsHoldNoSecrets(t *testing.T) {
	s := newSite(t, withUsers)
	var mu sync.Mutex
	var lines []string
	s.log = funcr.New(func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}, funcr.Options{Verbosity: 10})
	s.router = s.route(s.handler)
	v := s.meetings.open("room", nil)
	s.lock("room")
	in := s.inside(t, presenting)
	ticket, token := s.ticket(t, nil), s.token(t, "bob", true)
	engineToken := string(v.EngineRoom) + " origin-ann"
	s.tenant.Media[0].Server.URL = "http://127.0.0.1:1"

	fail := func() {
		for _, b := range []object{
			{"room": "room", "name": "Ann", "password": "wrong-password"},
			{"room": "room", "name": "Ann", "username": "bob", "userPassword": "wrong-login"},
			{"room": "room", "name": "Ann", "token": token},
			{"ticket": ticket, "session": in.Session},
			{"room": "room", "name": "Ann", "token": token + "x"},
			{"ticket": ticket + "x", "session": in.Session + "x"},
		} {
			s.enterWith(t, b)
		}
		s.connect(t, "rtc", url.Values{"access_token": {engineToken}})
		s.connect(t, "rtc", url.Values{"access_token": {"forged-token"}})
		for _, path := range []string{"/session/chat", "/session/hand", "/session/reaction", "/session/act"} {
			s.call(t, http.MethodPost, path, in.Session, object{"text": "private-words", "raised": true, "action": "mute", "identity": "x"})
			s.call(t, http.MethodPost, path, in.Session+"x", object{})
		}
		s.get(t, "/nowhere/at/all?token="+url.QueryEscape(ticket))
	}
	fail()
	s.meetings.err = errors.New("the meetings fail")
	s.engine.err = fault.Unavailable("away").Because(errors.New("the engine fails"))
	fail()
	s.now = s.now.Add(25 * time.Hour)
	fail()

	log := strings.Join(lines, "\n")
	if !strings.Contains(log, "the engine fails") || !strings.Contains(log, "the meetings fail") {
		t.Fatalf("the log does not say what failed:\n%s", log)
	}
	for _, secret := range []string{
		"wrong-password", "wrong-login", token, ticket, in.Session, engineToken, url.QueryEscape(engineToken), "forged-token",
		"private-words", "access_token", "?",
	} {
		if strings.Contains(log, secret) {
			t.Errorf("the log holds %.40q", secret)
		}
	}
}
