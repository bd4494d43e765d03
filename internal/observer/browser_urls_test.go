// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// tries are how often a browserURL was tried since the last time.
func tries(f *faultyengine.Engine) int {
	return strings.Count(strings.Join(f.Took(), "\n"), "found")
}

func TestBrowserURLIsCheckedNowAndThen(t *testing.T) {
	if got := (&browserURLState{failures: 1}).reason(); got != v1alpha1.ReasonNotChecked {
		t.Errorf("after one failure and no answer: %s", got)
	}
	another := fault.Unavailable("no").WithReason(v1alpha1.ReasonUnauthorized)
	l := newLooker(t)
	media, f := l.engine("a")
	l.pass(0)
	if n := tries(f); n != 0 {
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
		{"one failure is soon over", faultyengine.ErrUnavailable, time.Second, 1, v1alpha1.ReasonReachable, false},
		{"a failure is looked into", faultyengine.ErrUnavailable, browserURLRetryAfter, 1, v1alpha1.ReasonUnreachable, true},
		{"and again", faultyengine.ErrUnavailable, browserURLRetryAfter, 1, v1alpha1.ReasonUnreachable, false},
		{"until it answers", nil, browserURLRetryAfter, 1, v1alpha1.ReasonReachable, true},
		{"another server answers there", another, browserURLEvery, 1, v1alpha1.ReasonReachable, false},
		{"and again", another, browserURLRetryAfter, 1, v1alpha1.ReasonUnauthorized, true},
	}
	for _, s := range steps {
		f.Break("found", s.err)
		l.pass(s.after)
		_, turned := l.heard()
		if diff := cmp.Diff([]any{s.tries, s.says, s.tells}, []any{tries(f), l.BrowserURL(media.Server, "wss://a.example"), len(turned) > 0}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", s.reason, diff)
		}
	}
	media.BrowserURL = ""
	l.pass(browserURLEvery)
	if len(l.browserURLs.states) != 0 {
		t.Errorf("an address that nobody uses is remembered: %v", l.browserURLs.states)
	}
}
