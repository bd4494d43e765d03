// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

func TestWrongKeys(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	try := func(key, from string) response {
		return w.do(http.MethodGet, "stats", "", header("Authorization", key), header("X-Forwarded-For", from))
	}
	for i := range wrongKeyRate.Burst {
		if got := try(fmt.Sprintf("wrong-%d", i), "192.0.2.1"); got.status != http.StatusForbidden {
			t.Fatalf("wrong key %d: %d", i+1, got.status)
		}
	}
	got := try("wrong", "192.0.2.1")
	if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); got.status != http.StatusTooManyRequests || err != nil || seconds != 1 {
		t.Errorf("one more: %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
	for _, tc := range []struct {
		reason, key, from string
		status            int
	}{
		{"the right key passes", rightKey, "192.0.2.1", 200},
		{"no key is no guess", "", "192.0.2.1", 403},
		{"another address", "wrong", "192.0.2.2", 403},
		{"another address that claims to be a proxy's client", "wrong", "192.0.2.1, 192.0.2.3", 403},
		{"what a client makes up before its proxy's word", "wrong", "203.0.113.9, 192.0.2.1", 429},
	} {
		if got := try(tc.key, tc.from); got.status != tc.status {
			t.Errorf("%s: %d, want %d", tc.reason, got.status, tc.status)
		}
	}
	w.pass(600 * time.Millisecond)
	if got := try("wrong", "192.0.2.1"); got.status != http.StatusForbidden {
		t.Errorf("a while later: %d", got.status)
	}
	if got := try("wrong", "192.0.2.1"); got.status != http.StatusTooManyRequests {
		t.Errorf("and once more: %d", got.status)
	}
}

// TestGuessesOverTheAPI: a backend that hands on what people type must not be a way around the limit on guesses.
func TestGuessesOverTheAPI(t *testing.T) {
	const (
		login = `{"username":"%s","password":"%s"}`
		room  = `{"room":"%s","name":"n","roomPassword":"%s"}`
	)
	for _, tc := range []struct {
		reason, path, body, subject, other, right string
	}{
		{"a login for a token", "token", login, "ada", "eve", "correct-horse"},
		{"a login in a join", "join", `{"room":"free","name":"n","token":` + login + `}`, "ada", "eve", "correct-horse"},
		{"a room's password", "join", room, "locked", "other", "sesame"},
	} {
		w := newWorld(t, testTenant(v1alpha1.VariantA, withUsers)).serve()
		w.meetings.live = []meeting.View{{Room: "locked", HasPassword: true}, {Room: "other", HasPassword: true}}
		w.meetings.secrets = map[string]string{"locked": "sesame", "other": "sesame"}
		try := func(subject, password, from string) response {
			return w.do(http.MethodPost, tc.path, fmt.Sprintf(tc.body, subject, password), header("X-Forwarded-For", from))
		}
		for range 3 * limit.GuessRate.Burst {
			if got := try(tc.subject, tc.right, "192.0.2.1"); got.status != http.StatusOK {
				t.Fatalf("%s: the right one counts: %d %s", tc.reason, got.status, got.body)
			}
		}
		for i := range limit.GuessRate.Burst {
			if got := try(tc.subject, fmt.Sprint("guess-", i), "192.0.2.1"); got.status != http.StatusForbidden {
				t.Fatalf("%s, guess %d: %d %s", tc.reason, i, got.status, got.body)
			}
		}
		got := try(tc.subject, "guess", "192.0.2.1")
		if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "6" {
			t.Errorf("%s, one more: %d, Retry-After %q", tc.reason, got.status, got.header.Get("Retry-After"))
		}
		if got := try(tc.other, "guess", "192.0.2.1"); got.status != http.StatusForbidden {
			t.Errorf("%s, about another: %d", tc.reason, got.status)
		}
		if got := try(tc.subject, tc.right, "192.0.2.2"); got.status != http.StatusOK {
			t.Errorf("%s, from elsewhere: %d", tc.reason, got.status)
		}
		w.pass(6 * time.Second)
		if got := try(tc.subject, tc.right, "192.0.2.1"); got.status != http.StatusOK {
			t.Errorf("%s, later: %d", tc.reason, got.status)
		}
	}
}

func TestALoginThatGetsNoTurn(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withUsers))
	w.options.Timeout = time.Nanosecond
	w.serve()
	got := w.do(http.MethodPost, "token", `{"username":"ada","password":"correct-horse"}`)
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestRightSecretsAtOnce: a backend sends its users in at once, all with the right secret, and none is refused.
func TestRightSecretsAtOnce(t *testing.T) {
	one := testTenant(v1alpha1.VariantA, withUsers, func(t *tenant.Tenant) { t.RateLimit = nil })
	w := newWorld(t, one).serve()
	for path, body := range map[string]string{
		"token": `{"username":"ada","password":"correct-horse"}`,
		"join":  `{"room":"r","name":"n","roomPassword":"sesame"}`,
	} {
		var all sync.WaitGroup
		for range 4 * limit.GuessRate.Burst {
			all.Go(func() {
				if got := w.do(http.MethodPost, path, body); got.status != http.StatusOK {
					t.Errorf("%s: %d %s", path, got.status, got.body)
				}
			})
		}
		all.Wait()
	}
}

func TestRateLimit(t *testing.T) {
	limit := &v1alpha1.RateLimitSpec{RequestsPerSecond: 2, Burst: new(int32(3))}
	one := testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.RateLimit = limit })
	w := newWorld(t, one).serve()
	try := func(key string) response {
		return w.do(http.MethodGet, "stats", "", header("Authorization", key))
	}
	for i, want := range []int{200, 200, 200, 429, 429} {
		got := try(rightKey)
		if got.status != want || (got.header.Get("Retry-After") == "1") != (want == 429) {
			t.Errorf("request %d: %d, Retry-After %q", i+1, got.status, got.header.Get("Retry-After"))
		}
	}
	if got := try(rotatedKey); got.status != http.StatusOK {
		t.Errorf("the other key has its own: %d", got.status)
	}
	w.pass(500 * time.Millisecond)
	for _, want := range []int{200, 429} {
		if got := try(rightKey); got.status != want {
			t.Errorf("half a second later: %d, want %d", got.status, want)
		}
	}
	raised := testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.RateLimit = &v1alpha1.RateLimitSpec{RequestsPerSecond: 1000} })
	w.hosts[host] = raised
	try(rightKey)
	w.pass(10 * time.Millisecond)
	if got := try(rightKey); got.status != http.StatusOK {
		t.Errorf("a raised limit counts from the next request on: %d", got.status)
	}
	w.hosts[host] = testTenant(v1alpha1.VariantA)
	for range 1000 {
		if got := try(rightKey); got.status != http.StatusOK {
			t.Fatalf("without a limit there is none: %d", got.status)
		}
	}
}

// TestCallsDoNotFillTheLog: of one namespace's API keys, so many lines a minute, whether calls succeed or not.
func TestCallsDoNotFillTheLog(t *testing.T) {
	of := func(namespace, at string) *tenant.Tenant {
		return testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.Namespace, t.Hosts = namespace, []string{at} })
	}
	w := newWorld(t, of("busy", "a.example"), of("busy", "b.example"), of("quiet", "c.example"))
	api := w.handler()
	call := func(at, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/video/api/v1/join", strings.NewReader(body))
		r.Host = at
		r.Header.Set("Authorization", rightKey)
		r.Header.Set("Content-Type", "application/json")
		api.ServeHTTP(httptest.NewRecorder(), r)
	}
	for range 2000 {
		call("a.example", `{"room":"board","name":"Ada"}`)
		call("a.example", `{}`)
		call("b.example", `{"room":"board","name":"Ada"}`)
		call("b.example", `{}`)
	}
	if n := len(w.logged()); n != 6000 {
		t.Errorf("8,000 calls are %d lines", n)
	}
	call("c.example", `{"room":"board","name":"Ada"}`)
	if n := len(w.logged()); n != 1 {
		t.Errorf("a call of another namespace is %d lines", n)
	}
}
