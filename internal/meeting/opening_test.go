// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
)

// TestEndedMeetingsAreForgotten: where links open their rooms themselves, an ended Meeting stays no longer than for inspection,
// unless it holds what no link brings.
func TestEndedMeetingsAreForgotten(t *testing.T) {
	for _, tc := range []struct {
		reason string
		forget bool
		change func(*v1alpha1.Meeting)
		stays  time.Duration
		leads  bool
	}{
		{"links need it", false, nil, 24 * time.Hour, false},
		{"links do not need it", true, nil, 5 * time.Minute, false},
		{"it has a password", true, func(m *v1alpha1.Meeting) {
			m.Spec.PasswordSecretRef = &v1alpha1.SecretKeyReference{Name: "p", Key: "k"}
		}, 24 * time.Hour, false},
		{"a participant was removed", true, func(m *v1alpha1.Meeting) {
			m.Spec.Participants = []v1alpha1.ParticipantDecision{{Identity: "a-b", Removed: true}}
		}, 24 * time.Hour, false},
		{"a participant was muted", true, func(m *v1alpha1.Meeting) {
			m.Spec.Participants = []v1alpha1.ParticipantDecision{{Identity: "a-b", Muted: true}}
		}, 24 * time.Hour, false},
		{"who opens leads, and people opened it", true, func(m *v1alpha1.Meeting) {
			m.Labels[v1alpha1.LabelAdHoc] = v1alpha1.OpenedByGuest
			m.Spec.Locked = new(true)
		}, 5 * time.Minute, true},
		{"who opens leads, and a ticket opened it", true, func(m *v1alpha1.Meeting) {
			m.Labels[v1alpha1.LabelAdHoc] = v1alpha1.OpenedByTicket
			m.Spec.Locked = new(true)
		}, 24 * time.Hour, true},
		{"who opens leads, and a backend asked for it", true, func(m *v1alpha1.Meeting) { m.Spec.Locked = new(true) }, 24 * time.Hour, true},
		{"it was locked", true, func(m *v1alpha1.Meeting) { m.Spec.Locked = new(true) }, 24 * time.Hour, false},
		{"it was unlocked", true, func(m *v1alpha1.Meeting) { m.Spec.Locked = new(false) }, 24 * time.Hour, false},
		{"its participants have to ask", true, func(m *v1alpha1.Meeting) { m.Spec.Admission = v1alpha1.AdmissionAsk }, 24 * time.Hour, false},
		{"it has a policy", true, func(m *v1alpha1.Meeting) {
			m.Spec.Policy = &v1alpha1.MeetingPolicy{Chat: v1alpha1.Presenters}
		}, 24 * time.Hour, false},
		{"it has a limit, as its tickets do", true, func(m *v1alpha1.Meeting) { m.Spec.MaxParticipants = new(int32(7)) }, 5 * time.Minute, false},
		{"it was made with kubectl", true, func(m *v1alpha1.Meeting) {
			delete(m.Labels, v1alpha1.LabelManagedBy)
			m.Spec.UnjoinedTimeout = lasting(24 * time.Hour)
		}, 24 * time.Hour, false},
	} {
		l := newLife(t, func(l *life) {
			l.tenant.Settings.ForgetEnded, l.tenant.Settings.OpenerLeads = tc.forget, tc.leads
			if tc.change != nil {
				tc.change(l.meeting)
			}
		})
		l.reconcile()
		l.pass(24*time.Hour + tc.stays - time.Second)
		if l.meeting == nil || l.meeting.Status.EndReason != v1alpha1.EndUnjoined {
			t.Errorf("%s: it has gone, or has not ended, before its time", tc.reason)
			continue
		}
		if l.pass(2 * time.Second); l.meeting != nil {
			t.Errorf("%s: it stays", tc.reason)
		}
	}
}

// TestAnOpeningIsTold: an Event says that a participant opened the room, once.
func TestAnOpeningIsTold(t *testing.T) {
	for by, want := range map[string]int{"": 0, v1alpha1.OpenedByGuest: 1} {
		l := newLife(t, func(l *life) {
			if by != "" {
				l.meeting.Labels[v1alpha1.LabelAdHoc] = by
			}
		})
		told := 0
		l.told = func(_ Input, d Decision) {
			for _, e := range d.Events {
				if e.Reason == "OpenedAdHoc" && strings.Contains(e.Message, by) {
					told++
				}
			}
		}
		l.reconcile()
		l.pass(25 * time.Hour)
		if told != want {
			t.Errorf("%q: told %d times, want %d", by, told, want)
		}
	}
}

func TestEndedLineages(t *testing.T) {
	m := &v1alpha1.Meeting{}
	m.UID = "first"
	for i := range 25 {
		next := &v1alpha1.Meeting{}
		next.UID = m.UID + "+"
		next.Annotations = map[string]string{v1alpha1.AnnotationEndedLineages: WithEndedLineage(m), v1alpha1.AnnotationLineage: fmt.Sprint("lineage-", i)}
		m = next
	}
	if all := EndedLineages(m); len(all) != maxEndedLineages || all[19] != "lineage-23" || all[0] != "lineage-4" {
		t.Errorf("%v", all)
	}
	if !HasEnded(m, "lineage-23") || HasEnded(m, "lineage-24") || HasEnded(m, "first") || HasEnded(m, "") {
		t.Error("it knows of others")
	}
	m.Status.Phase, m.Status.EndReason = v1alpha1.MeetingEnded, v1alpha1.EndRequested
	if !HasEnded(m, "lineage-24") {
		t.Error("its own lineage has ended for good, and it does not know")
	}
	m.Status.EndReason = v1alpha1.EndEmpty
	if HasEnded(m, "lineage-24") {
		t.Error("its own lineage goes on")
	}
}

// TestWhoOpensARoomLeadsIt as a promoted presenter, if no backend asked for the room and no decision says otherwise.
func TestWhoOpensARoomLeadsIt(t *testing.T) {
	const who = "aaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb"
	full := make([]v1alpha1.ParticipantDecision, v1alpha1.MaxParticipantDecisions)
	for i := range full {
		full[i] = v1alpha1.ParticipantDecision{Identity: fmt.Sprint("removed-", i), Removed: true}
	}
	decided := func(d ...v1alpha1.ParticipantDecision) []v1alpha1.ParticipantDecision { return d }
	for _, tc := range []struct {
		reason  string
		by      string
		decided []v1alpha1.ParticipantDecision
		leads   bool
	}{
		{"a guest opened it", v1alpha1.OpenedByGuest, nil, true},
		{"a user opened it", v1alpha1.OpenedByUser, nil, true},
		{"a ticket opened it", v1alpha1.OpenedByTicket, nil, false},
		{"a backend asked for it", "", nil, false},
		{"the participant is muted", v1alpha1.OpenedByGuest, decided(v1alpha1.ParticipantDecision{Identity: who, Muted: true}), true},
		{"the role was taken", v1alpha1.OpenedByGuest, decided(v1alpha1.ParticipantDecision{Identity: who, Role: v1alpha1.RoleParticipant}), false},
		{"the role was taken from the user", v1alpha1.OpenedByUser, decided(v1alpha1.ParticipantDecision{Identity: "user:ada", Role: v1alpha1.RoleParticipant}), false},
		{"there is no room for it", v1alpha1.OpenedByGuest, full, false},
	} {
		m := &v1alpha1.Meeting{Spec: v1alpha1.MeetingSpec{Participants: slices.Clone(tc.decided)}}
		m.Labels = map[string]string{v1alpha1.LabelAdHoc: tc.by}
		Lead(m, who, "ada")
		c := ControlOf(DefaultSettings(), &m.Spec)
		if rights := c.Rights(c.DecisionOn("ada", who), false); rights.Presenter != tc.leads || rights.Promoted != tc.leads {
			t.Errorf("%s: %+v", tc.reason, rights)
		}
		if !tc.leads && !slices.EqualFunc(m.Spec.Participants, tc.decided, func(a, b v1alpha1.ParticipantDecision) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%s: %d decisions of %d are left", tc.reason, len(m.Spec.Participants), len(tc.decided))
		}
	}
}
