// SPDX-License-Identifier: Apache-2.0

package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
)

// enterFrom asks for a session from an address.
func (s *site) enterFrom(t *testing.T, address, body string) answer {
	t.Helper()
	r := newRequest(http.MethodPost, "/session", body)
	r.RemoteAddr = address
	return s.do(t, r)
}

func TestGuessesOfAPasswordAreLimited(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	s.meetings.open("other", nil)
	s.lock("room")
	s.lock("other")
	const wrong = `{"room":"room","name":"Eve","password":"guess"}`
	const right = `{"room":"room","name":"Ann","password":"correct horse"}`
	const eve, eveToo, ann = "[2001:db8::1]:1000", "[2001:db8::2]:1000", "[2001:db8:0:1::1]:1000"

	for i := range limit.GuessRate.Burst {
		if got := s.enterFrom(t, eve, wrong); got.Code != http.StatusForbidden {
			t.Fatalf("guess %d: status %d: %s", i, got.Code, got.Body)
		}
	}
	checks := len(s.meetings.calls)
	for _, c := range []struct {
		reason, from, body string
		status             int
	}{
		{"one more guess", eve, wrong, http.StatusTooManyRequests},
		{"a right guess, too late", eve, right, http.StatusTooManyRequests},
		{"from the next address of the same network", eveToo, wrong, http.StatusTooManyRequests},
		{"from another network", ann, right, http.StatusOK},
		{"at another room", eve, `{"room":"other","name":"Eve","password":"guess"}`, http.StatusForbidden},
		{"nothing guessed", eve, `{"room":"room","name":"Eve"}`, http.StatusUnauthorized},
		{"with a ticket", eve, `{"ticket":"` + s.ticket(t, nil) + `"}`, http.StatusOK},
	} {
		got := s.enterFrom(t, c.from, c.body)
		if got.Code != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.reason, got.Code, c.status, got.Body)
		}
		if got.Code == http.StatusTooManyRequests && got.Header().Get("Retry-After") != "6" {
			t.Errorf("%s: Retry-After %q", c.reason, got.Header().Get("Retry-After"))
		}
	}
	if last := s.meetings.calls[checks:]; len(last) > 0 && last[1] == "check password" {
		t.Error("the guess beyond the limit was checked all the same")
	}
	s.now = s.now.Add(6 * time.Second)
	if got := s.enterFrom(t, eve, right); got.Code != http.StatusOK {
		t.Errorf("later: status %d: %s", got.Code, got.Body)
	}
}

func TestGuessesOfALoginAreLimitedByUser(t *testing.T) {
	s := newSite(t, withUsers)
	s.meetings.open("room", nil)
	const wrong = `{"room":"room","name":"Eve","username":"paula","userPassword":"guess"}`
	const bob = `{"room":"room","name":"Bob","username":"bob","userPassword":"bob"}`
	for range limit.GuessRate.Burst {
		s.enterFrom(t, "192.0.2.1:1", wrong)
	}
	if got := s.enterFrom(t, "192.0.2.1:1", wrong); got.Code != http.StatusTooManyRequests {
		t.Errorf("status %d: %s", got.Code, got.Body)
	}
	if got := s.enterFrom(t, "192.0.2.1:1", bob); got.Code != http.StatusOK {
		t.Errorf("another user: status %d: %s", got.Code, got.Body)
	}
}

func TestRightAnswersDoNotCount(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	s.lock("room")
	for i := range 3 * limit.GuessRate.Burst {
		got := s.enterFrom(t, "192.0.2.1:1", `{"room":"room","name":"Pupil","password":"correct horse"}`)
		if got.Code != http.StatusOK {
			t.Fatalf("pupil %d of one class: status %d: %s", i, got.Code, got.Body)
		}
	}
}

func TestGuessesAtOnceDoNotGetPastTheLimit(t *testing.T) {
	s := newSite(t)
	q := s.router.NewRequest(httptest.NewRecorder(), newRequest(http.MethodPost, "/session", ""))
	var started sync.WaitGroup
	checked := make(chan struct{}, 10*limit.GuessRate.Burst)
	for range 10 * limit.GuessRate.Burst {
		started.Go(func() {
			_ = guard{s.handler, q}.Guess(t.Context(), limit.RoomPassword, "room", func() error {
				checked <- struct{}{}
				return fault.Denied("no").WithReason(fault.ReasonWrongPassword)
			})
		})
	}
	started.Wait()
	if len(checked) != limit.GuessRate.Burst {
		t.Errorf("%d guesses were checked, want %d", len(checked), limit.GuessRate.Burst)
	}
}

// TestRightGuessesAtOnce: a class behind one address comes in at once.
func TestRightGuessesAtOnce(t *testing.T) {
	s := newSite(t)
	q := s.router.NewRequest(httptest.NewRecorder(), newRequest(http.MethodPost, "/session", ""))
	var class, here sync.WaitGroup
	here.Add(4 * limit.GuessRate.Burst)
	for range 4 * limit.GuessRate.Burst {
		class.Go(func() {
			here.Done()
			err := guard{s.handler, q}.Guess(t.Context(), limit.RoomPassword, "room", func() error {
				here.Wait() // A password takes some time to check.
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	class.Wait()
}

func TestAGuessThatGetsNoTurnIsGivenBack(t *testing.T) {
	s := newSite(t)
	q := s.router.NewRequest(httptest.NewRecorder(), newRequest(http.MethodPost, "/session", ""))
	for range 2 * limit.GuessRate.Burst {
		err := guard{s.handler, q}.Guess(t.Context(), limit.RoomPassword, "room", func() error { return credential.ErrBusy })
		if !errors.Is(err, credential.ErrBusy) {
			t.Fatalf("got %v", err)
		}
	}
}

func TestClient(t *testing.T) {
	for agent, want := range map[string][2]string{
		"": {"", ""},
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36":                         {"Windows", "Chrome 126"},
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.56":       {"Windows", "Edge 126"},
		"Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0":                                                                  {"Linux", "Firefox 127"},
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15":                   {"macOS", "Safari 17"},
		"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1": {"iOS", "Safari 17"},
		"Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36":                   {"Android", "Chrome 126"},
	} {
		os, browser := client(agent)
		if got := [2]string{os, browser}; got != want {
			t.Errorf("%s\ngot %q, want %q", agent, got, want)
		}
	}
}
