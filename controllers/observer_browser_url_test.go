// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
)

// tries are how often a browserURL was tried since the last time.
func (f *faulty) tries() int {
	return strings.Count(strings.Join(f.took(), "\n"), "found")
}

func TestFrontIsTriedNowAndThen(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	l.pass(0)
	if n := f.tries(); n != 0 {
		t.Errorf("without an address of their own for browsers it was tried %d times", n)
	}
	media.BrowserURL = "wss://a.example"
	l.heard()
	steps := []struct {
		reason string
		err    error
		after  time.Duration
		tries  int
		says   string
		tells  bool
	}{
		{"at once", nil, time.Second, 1, v1alpha1.ReasonReachable, true},
		{"not again so soon", nil, browserURLEvery - time.Second, 0, v1alpha1.ReasonReachable, false},
		{"one failure is soon over", errAway, time.Second, 1, v1alpha1.ReasonReachable, false},
		{"a failure is looked into", errAway, browserURLRetryAfter, 1, v1alpha1.ReasonUnreachable, true},
		{"and again", errAway, browserURLRetryAfter, 1, v1alpha1.ReasonUnreachable, false},
		{"until it answers", nil, browserURLRetryAfter, 1, v1alpha1.ReasonReachable, true},
	}
	for _, s := range steps {
		f.breakVerb("found", s.err)
		l.pass(s.after)
		_, turned := l.heard()
		if diff := cmp.Diff([]any{s.tries, s.says, s.tells}, []any{f.tries(), l.BrowserURL(media), len(turned) > 0}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.reason, diff)
		}
	}
	media.BrowserURL = ""
	l.pass(browserURLEvery)
	if len(l.browserURLs) != 0 {
		t.Errorf("an address that nobody uses is remembered: %v", l.browserURLs)
	}
}
