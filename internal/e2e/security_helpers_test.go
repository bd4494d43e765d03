// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// with is the account with another key.
func (a account) with(key string) account {
	a.key = key
	return a
}

// as makes a call of the page, with a session.
func (a account) as(session, method, path string, body any) reply {
	a.t.Helper()
	return a.with("Bearer "+session).call(method, path, body)
}

// mustEnter asks for a session that must be given.
func (a account) mustEnter(body map[string]any) entry {
	a.t.Helper()
	status, e := a.insistOnSession(body)
	if status != http.StatusOK {
		a.t.Fatalf("no session for %v: %d %s %s", body, status, e.Reason, e.Error)
	}
	return e
}

// insistOnSession asks for a session again after a 503, as the page does: a gateway can see a moment later than a test that a meeting
// can be entered.
func (a account) insistOnSession(body map[string]any) (status int, e entry) {
	a.t.Helper()
	testkit.Eventually(a.t, patience, func() error {
		if status, e = a.session(body); status == http.StatusServiceUnavailable {
			return errors.New(e.Error)
		}
		return nil
	})
	return status, e
}

// refused fails the test unless no session is given, for that reason.
func (a account) refused(why string, body map[string]any, reasons ...string) {
	a.t.Helper()
	status, e := a.session(body)
	for _, reason := range reasons {
		if status >= 400 && e.Reason == reason {
			return
		}
	}
	a.t.Errorf("%s: %d %q, want one of %q", why, status, e.Reason, reasons)
}

// door is what the way to the engine through the gateway answers to an access token.
func (a account) door(token string) int { return door(a.t, a.baseURL+"/media-server", token) }

// door asks whether an access token would be let in, as the engine's own client does before it explains a refusal.
func door(t testing.TB, at, token string) int {
	t.Helper()
	response, err := http.Get(at + "/rtc/validate?access_token=" + url.QueryEscape(token))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// getsIn tries to connect with an access token, all the way.
func getsIn(t testing.TB, at, token string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, err := peer.Join(ctx, at, token)
	if err != nil {
		return false
	}
	p.Close()
	return true
}

// connect enters the engine's room.
func (e entry) connect(t testing.TB) *peer.Peer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, err := peer.Join(ctx, e.Engine.URL, e.Engine.Token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// proof is what a page does once it is connected: it asks until it has a session that says so.
func (w *world) proof(t *testing.T, e entry) (session string) {
	t.Helper()
	w.eventually(t, func() error {
		r := w.a.as(e.Session, "GET", "/session", nil)
		if session = r.text("session"); session == "" {
			return fmt.Errorf("no proof: %d %s", r.status, r.raw)
		}
		return nil
	})
	return session
}
