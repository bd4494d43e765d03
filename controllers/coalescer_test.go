// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

func statusOf(count int32) v1alpha1.MeetingStatus {
	s := v1alpha1.MeetingStatus{Phase: v1alpha1.MeetingActive, ParticipantCount: count}
	if count > 0 {
		s.StartTime = &metav1.Time{Time: monday}
		s.Participants = []v1alpha1.Participant{{Identity: "a"}}
		s.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionOccupied, Status: metav1.ConditionTrue}}
	}
	return s
}

// A burst of arrivals is one write, 2 s after the first at the latest; a lone change is written within 1 s.
func TestBurstsAreOneWrite(t *testing.T) {
	c := newCoalescer()
	m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{UID: "m"}, Status: statusOf(0)}
	now, people, writes := monday, int32(0), 0
	// arrive has somebody come every tenth of a second, and the status be written when it may be.
	arrive := func(d time.Duration, somebody func(time.Duration) bool) {
		for passed := time.Duration(0); passed < d; passed += 100 * time.Millisecond {
			if somebody(passed) {
				people++
			}
			if people != m.Status.ParticipantCount && c.hold(m, statusOf(people), now) == 0 {
				m.Status = statusOf(people)
				writes++
			}
			now = now.Add(100 * time.Millisecond)
		}
	}
	once := func(passed time.Duration) bool { return passed == 0 }
	arrive(time.Second, once)
	if writes != 1 {
		t.Errorf("a lone arrival: %d writes within a second", writes)
	}
	arrive(20*time.Second, func(time.Duration) bool { return true })
	if writes > 1+10 {
		t.Errorf("twenty seconds of arrivals: %d writes", writes-1)
	}
	arrive(2*time.Second, func(time.Duration) bool { return false })
	if m.Status.ParticipantCount != people {
		t.Errorf("%d came, and %d are written two seconds after the last", people, m.Status.ParticipantCount)
	}
}

// What people wait for does not wait for others.
func TestOnlyPeopleWait(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(from, to *v1alpha1.MeetingStatus)
		waits  bool
	}{
		{"an arrival", func(_, to *v1alpha1.MeetingStatus) { *to = statusOf(1) }, true},
		{"the first status", func(from, _ *v1alpha1.MeetingStatus) { from.Phase = "" }, false},
		{"an end", func(_, to *v1alpha1.MeetingStatus) { to.Phase = v1alpha1.MeetingEnding }, false},
		{"another length", func(_, to *v1alpha1.MeetingStatus) { to.Duration = "01:00:00" }, false},
		{"another condition", func(_, to *v1alpha1.MeetingStatus) {
			to.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse}}
		}, false},
		{"another generation", func(_, to *v1alpha1.MeetingStatus) { to.ObservedGeneration = 2 }, false},
	} {
		from, to := statusOf(0), statusOf(0)
		tc.change(&from, &to)
		wait := newCoalescer().hold(&v1alpha1.Meeting{Status: from}, to, monday)
		if (wait > 0) != tc.waits || wait > time.Second {
			t.Errorf("%s waits %s", tc.reason, wait)
		}
	}
}
