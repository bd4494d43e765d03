// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

func TestRestartable(t *testing.T) {
	begun := metav1.NewTime(monday)
	occupied := func(reason string) []metav1.Condition {
		return []metav1.Condition{{Type: v1alpha1.ConditionOccupied, Status: metav1.ConditionFalse, Reason: reason}}
	}
	for _, tc := range []struct {
		reason string
		status v1alpha1.MeetingStatus
		want   bool
	}{
		{"everybody had left", v1alpha1.MeetingStatus{EndReason: v1alpha1.EndEmpty, StartTime: &begun}, true},
		{"nobody came", v1alpha1.MeetingStatus{EndReason: v1alpha1.EndUnjoined}, true},
		{"time ran out before anybody came", v1alpha1.MeetingStatus{EndReason: v1alpha1.EndExpired}, true},
		{"time ran out after all had left", v1alpha1.MeetingStatus{EndReason: v1alpha1.EndExpired, StartTime: &begun, Conditions: occupied(v1alpha1.ReasonEveryoneLeft)}, true},
		{"time ran out with people in it", v1alpha1.MeetingStatus{EndReason: v1alpha1.EndExpired, StartTime: &begun, Conditions: occupied(v1alpha1.ReasonSentAway)}, false},
		{"time ran out, and nobody knows who was in", v1alpha1.MeetingStatus{EndReason: v1alpha1.EndExpired, StartTime: &begun}, false},
		{"it was ended", v1alpha1.MeetingStatus{EndReason: v1alpha1.EndRequested}, false},
		{"it was deleted", v1alpha1.MeetingStatus{EndReason: v1alpha1.EndDeleted}, false},
	} {
		m := &v1alpha1.Meeting{Status: tc.status}
		m.Status.Phase = v1alpha1.MeetingEnded
		if got := Restartable(m); got != tc.want {
			t.Errorf("%s: %t", tc.reason, got)
		}
		m.Status.Phase = v1alpha1.MeetingEnding
		if got := Restartable(m); got != tc.want {
			t.Errorf("%s: while it is ending: %t", tc.reason, got)
		}
		m.Spec.End = &v1alpha1.MeetingEnd{}
		if Restartable(m) {
			t.Errorf("%s: its end was requested while it was ending", tc.reason)
		}
		m.Spec.End, m.DeletionTimestamp = nil, &begun
		if Restartable(m) {
			t.Errorf("%s: it was deleted while it was ending", tc.reason)
		}
	}
}

// The engine's clock is not ours: the start lies between the Meeting's creation and now.
func TestStartTime(t *testing.T) {
	now := monday.Add(10*time.Minute + 300*time.Millisecond)
	for _, tc := range []struct {
		reason string
		joined []time.Time
		want   time.Time
	}{
		{"the first of several", []time.Time{monday.Add(9 * time.Minute), monday.Add(8 * time.Minute)}, monday.Add(8 * time.Minute)},
		{"a part of a second is a whole one, so that nothing ends early", []time.Time{monday.Add(time.Minute + time.Millisecond)}, monday.Add(time.Minute + time.Second)},
		{"before the Meeting was made", []time.Time{monday.Add(-time.Hour)}, monday.Add(10*time.Minute + time.Second)},
		{"later than now", []time.Time{now.Add(time.Hour)}, monday.Add(10*time.Minute + time.Second)},
		{"unknown", []time.Time{{}}, monday.Add(10*time.Minute + time.Second)},
	} {
		l := newLife(t, length("1h"))
		l.now = now
		for i, at := range tc.joined {
			l.enter(fmt.Sprint(i))
			l.engine.people[i].JoinedAt = at
		}
		l.reconcile()
		got := l.meeting.Status
		if !timeOf(got.StartTime).Equal(tc.want) || !timeOf(got.ExpiryTime).Equal(tc.want.Add(time.Hour)) {
			t.Errorf("%s: started %s, want %s; expires %s", tc.reason, clock(timeOf(got.StartTime)), clock(tc.want), clock(timeOf(got.ExpiryTime)))
		}
	}
}

func TestParticipantsAreListedWhole(t *testing.T) {
	l := newLife(t)
	l.engine.room = true
	l.engine.people = []engine.Participant{
		{Identity: "b", Name: "Second", JoinedAt: monday, Hand: true, Screen: true},
		{Identity: "a", Name: strings.Repeat("é", 200), JoinedAt: monday, Video: true, Audio: true},
		{Identity: "c", Name: "First", JoinedAt: monday.Add(-time.Millisecond), Traits: engine.Traits{Hidden: true, Presenter: true, OS: "Linux", Browser: "Firefox 150"}},
	}
	l.reconcile()
	at := func(t time.Time) metav1.Time { return metav1.NewTime(t.Local()) }
	want := []v1alpha1.Participant{
		{Identity: "c", Name: "First", Hidden: true, Presenter: true, OS: "Linux", Browser: "Firefox 150", JoinTime: at(monday.Add(-time.Second))},
		{Identity: "a", Name: strings.Repeat("é", 128), Video: true, Audio: true, JoinTime: at(monday)},
		{Identity: "b", Name: "Second", Hand: true, Screen: true, JoinTime: at(monday)},
	}
	if diff := cmp.Diff(want, l.meeting.Status.Participants); diff != "" {
		t.Errorf("oldest first, then by identity (-want +got):\n%s", diff)
	}
}

// A tenant that hides names has no more than the count in status, and hides those that are there already at once, also while
// the engine does not answer.
func TestHiddenNamesAreNotInStatus(t *testing.T) {
	l := newLife(t)
	l.enter("Anna")
	l.enter("Tom")
	l.reconcile()
	shows := func(when string, count, names int) {
		t.Helper()
		if s := l.meeting.Status; int(s.ParticipantCount) != count || len(s.Participants) != names {
			t.Errorf("%s: %d in, listed are %+v", when, s.ParticipantCount, s.Participants)
		}
	}
	shows("names are shown", 2, 2)
	l.engineGoes()
	l.tenant.NamesHidden = true
	l.reconcile()
	shows("names are hidden while the engine is unavailable", 2, 0)
	l.engineReturns()
	l.enter("Eve")
	l.reconcile()
	shows("another participant", 3, 0)
	if !meta.IsStatusConditionTrue(l.meeting.Status.Conditions, v1alpha1.ConditionOccupied) || l.meeting.Status.StartTime == nil {
		t.Errorf("the rest of the status depends on names: %+v", l.meeting.Status)
	}
	l.tenant.NamesHidden = false
	l.reconcile()
	shows("names are shown again", 3, 3)
}

// A status that was edited by hand must not leave the Meeting between two states.
func TestEndingWithoutAReason(t *testing.T) {
	l := newLife(t)
	l.meeting.Status.Phase = v1alpha1.MeetingEnding
	d := Plan(Input{Meeting: l.meeting, Tenant: l.tenant, Seen: l.seen(), Now: l.now})
	if d.Status.Phase != v1alpha1.MeetingEnded || d.Status.EndReason != v1alpha1.EndRequested {
		t.Errorf("it becomes %s (%s)", d.Status.Phase, d.Status.EndReason)
	}
}
