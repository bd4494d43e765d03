// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

func TestRequeueAt(t *testing.T) {
	for _, tc := range []struct {
		reason string
		at     time.Time
		want   time.Duration
	}{
		{"no deadline", time.Time{}, 0},
		{"exactly", monday.Add(1234 * time.Millisecond), 1234 * time.Millisecond},
		{"a deadline that is past is due, which zero would not say", monday.Add(-time.Hour), time.Millisecond},
		{"now", monday, time.Millisecond},
		{"a far one in one step", monday.Add(24 * time.Hour), 24 * time.Hour},
	} {
		if got := requeueAt(tc.at, monday).RequeueAfter; got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
}

// TestSooner: what is due sooner than another try stays due.
func TestSooner(t *testing.T) {
	for due, want := range map[time.Duration]time.Duration{0: markAgain, time.Second: time.Second, markAgain: markAgain, time.Minute: markAgain} {
		if got := sooner(ctrl.Result{RequeueAfter: due}, markAgain).RequeueAfter; got != want {
			t.Errorf("due in %s: %s", due, got)
		}
	}
}
