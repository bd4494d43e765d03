// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"convene.dev/convene/internal/fault"
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

	for i := range guessLimit.burst {
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
	s.now = s.now.Add(guessLimit.every)
	if got := s.enterFrom(t, eve, right); got.Code != http.StatusOK {
		t.Errorf("later: status %d: %s", got.Code, got.Body)
	}
}

func TestGuessesOfALoginAreLimitedByUser(t *testing.T) {
	s := newSite(t, withUsers)
	s.meetings.open("room", nil)
	const wrong = `{"room":"room","name":"Eve","username":"paula","userPassword":"guess"}`
	const bob = `{"room":"room","name":"Bob","username":"bob","userPassword":"bob"}`
	for range guessLimit.burst {
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
	for i := range 3 * guessLimit.burst {
		got := s.enterFrom(t, "192.0.2.1:1", `{"room":"room","name":"Pupil","password":"correct horse"}`)
		if got.Code != http.StatusOK {
			t.Fatalf("pupil %d of one class: status %d: %s", i, got.Code, got.Body)
		}
	}
}

func TestGuessesAtOnceDoNotGetPastTheLimit(t *testing.T) {
	s := newSite(t)
	v := &visit{r: newRequest(http.MethodPost, "/session", ""), t: s.tenant}
	var started sync.WaitGroup
	checked := make(chan struct{}, 10*guessLimit.burst)
	for range 10 * guessLimit.burst {
		started.Go(func() {
			_, _ = s.guess(t.Context(), v, guessPassword, "room", func() (bool, error) {
				checked <- struct{}{}
				return false, nil
			})
		})
	}
	started.Wait()
	if len(checked) != guessLimit.burst {
		t.Errorf("%d guesses were checked, want %d", len(checked), guessLimit.burst)
	}
}

func TestAGuessThatGetsNoTurnIsGivenBack(t *testing.T) {
	s := newSite(t)
	v := &visit{r: newRequest(http.MethodPost, "/session", ""), t: s.tenant}
	for range maxChecks {
		s.guesses.checks <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * guessLimit.burst {
		_, err := s.guess(ctx, v, guessPassword, "room", func() (bool, error) { t.Error("checked"); return false, nil })
		if !fault.Is(err, fault.KindUnavailable) {
			t.Fatalf("got %v", err)
		}
	}
}

func TestBuckets(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	b, key, r := newBuckets(), bucketKey{tenant: "a"}, rate{every: time.Second, burst: 2}
	for i, want := range []time.Duration{0, 0, time.Second, time.Second} {
		if got := b.take(key, r, now); got != want {
			t.Errorf("take %d: wait %s, want %s", i, got, want)
		}
	}
	b.giveBack(key, r)
	if got := b.take(key, r, now); got != 0 {
		t.Errorf("after giving back: wait %s", got)
	}
	if got := b.take(key, r, now.Add(1500*time.Millisecond)); got != 0 {
		t.Errorf("after one and a half: wait %s", got)
	}
	if got := b.take(key, r, now.Add(1500*time.Millisecond)); got != 500*time.Millisecond {
		t.Errorf("at once again: wait %s", got)
	}
	for i := range 2 * maxBuckets {
		b.take(bucketKey{subject: [16]byte{byte(i), byte(i >> 8), byte(i >> 16)}}, r, now)
	}
	if n := b.fullAt.Len(); n != maxBuckets {
		t.Errorf("%d buckets are kept", n)
	}
}

func TestAddress(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		reason, remote string
		forwarded      []string
		want           string
	}{
		{"nobody between", "192.0.2.1:80", nil, "192.0.2.1"},
		{"a stranger's claim", "192.0.2.1:80", []string{"198.51.100.1"}, "192.0.2.1"},
		{"through our proxy", "10.0.0.1:80", []string{"198.51.100.1"}, "198.51.100.1"},
		{"through two, in two headers", "10.0.0.1:80", []string{"198.51.100.1", "10.0.0.2"}, "198.51.100.1"},
		{"with a claim before", "10.0.0.1:80", []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1"},
		{"with a port", "10.0.0.1:80", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"our proxy says nothing", "10.0.0.1:80", nil, "10.0.0.1"},
		{"our proxy says nonsense", "10.0.0.1:80", []string{"unknown"}, "10.0.0.1"},
		{"IPv6, of which one customer has a network", "[2001:db8:1:2:3::4]:80", nil, "2001:db8:1:2::"},
		{"IPv6 through IPv6", "[fd00::1]:80", []string{"2001:db8:1:2:3::4"}, "2001:db8:1:2::"},
		{"IPv4 in IPv6", "[::ffff:192.0.2.1]:80", nil, "192.0.2.1"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t)
			s.TrustedProxies = proxies
			r := newRequest(http.MethodGet, "/", "")
			r.RemoteAddr = c.remote
			for _, f := range c.forwarded {
				r.Header.Add("X-Forwarded-For", f)
			}
			if got := s.address(r).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
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
