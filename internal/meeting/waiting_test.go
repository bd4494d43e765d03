// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// doorsOpen is some moment, and after a number of seconds later.
var doorsOpen = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return doorsOpen.Add(time.Duration(seconds) * time.Second) }

func TestWaitingRoomsHaveNamesOfTheirOwn(t *testing.T) {
	room := EngineRoom("c", "m")
	waiting := WaitingRoom(room)
	if !IsWaitingRoom(waiting) || IsWaitingRoom(room) || RoomOfWaiting(waiting) != room || RoomOfWaiting(room) != room {
		t.Errorf("%s is for those who wait for %s", waiting, room)
	}
	config, uid, ok := ParseEngineRoom(waiting)
	if config != "c" || uid != "m" || !ok {
		t.Errorf("%s is of %s, %s", waiting, config, uid)
	}
}

// TestAdmissionOf: what the Meeting says counts, and else what its tenant says.
func TestAdmissionOf(t *testing.T) {
	asks := Settings{Admission: v1alpha1.AdmissionAsk}
	for _, tc := range []struct {
		reason   string
		settings Settings
		own      v1alpha1.Admission
		want     v1alpha1.Admission
		waits    bool
	}{
		{"nobody says anything", Settings{}, "", "", false},
		{"the tenant says it", asks, "", v1alpha1.AdmissionAsk, true},
		{"the Meeting says otherwise", asks, v1alpha1.AdmissionWithPresenter, v1alpha1.AdmissionWithPresenter, true},
		{"the Meeting is open", asks, v1alpha1.AdmissionOpen, v1alpha1.AdmissionOpen, false},
	} {
		c := ControlOf(tc.settings, &v1alpha1.MeetingSpec{Admission: tc.own})
		if c.Admission != tc.want || c.HasWaitingRoom() != tc.waits || (c.State().Admission != "") != tc.waits {
			t.Errorf("%s: %q, waits %t, pages are told %q", tc.reason, c.Admission, c.HasWaitingRoom(), c.State().Admission)
		}
	}
	s, err := ResolveSettings(&v1alpha1.MeetingsSpec{Admission: v1alpha1.AdmissionAsk})
	if err != nil || s.Admission != v1alpha1.AdmissionAsk {
		t.Errorf("a tenant's settings: %q, %v", s.Admission, err)
	}
}

// TestAdmits: who comes in without a word, and who waits for whom.
func TestAdmits(t *testing.T) {
	const with, ask = v1alpha1.AdmissionWithPresenter, v1alpha1.AdmissionAsk
	admitted := v1alpha1.ParticipantDecision{Admitted: true}
	for _, tc := range []struct {
		reason      string
		c           Control
		d           v1alpha1.ParticipantDecision
		presenter   bool
		since       time.Time
		presenterIn bool
		want        bool
	}{
		{reason: "open", want: true},
		{reason: "open and locked", c: Control{Locked: true}},
		{reason: "no presenter is in", c: Control{Admission: with}},
		{reason: "a presenter is in", c: Control{Admission: with}, presenterIn: true, want: true},
		{reason: "a presenter is in, and it is locked", c: Control{Admission: with, Locked: true}, presenterIn: true},
		{reason: "the presenter comes", c: Control{Admission: with}, presenter: true, want: true},
		{reason: "ask", c: Control{Admission: ask}},
		{reason: "ask, and a presenter is in", c: Control{Admission: ask}, presenterIn: true},
		{reason: "ask, and a presenter comes", c: Control{Admission: ask}, presenter: true, want: true},
		{reason: "ask, and let in", c: Control{Admission: ask}, d: admitted, want: true},
		{reason: "let into a locked one", c: Control{Admission: ask, Locked: true}, d: admitted, want: true},
		{reason: "all were let in", c: Control{Admission: ask, AdmittedUntil: after(1)}, since: after(1), want: true},
		{reason: "all were let in before", c: Control{Admission: ask, AdmittedUntil: after(1)}, since: after(2)},
		{reason: "all were let in, and this one has just come", c: Control{Admission: ask, AdmittedUntil: after(1)}},
		{reason: "nobody was let in", c: Control{Admission: ask}, since: after(0)},
	} {
		if got := tc.c.Admits(tc.d, tc.presenter, tc.since, tc.presenterIn); got != tc.want {
			t.Errorf("%s: %t", tc.reason, got)
		}
	}
}

func waiter(who engine.Identity, seconds int) engine.Participant {
	return engine.Participant{Identity: who, Name: string(who), Traits: engine.Traits{Hidden: true, Since: after(seconds)}}
}

// TestAtTheDoor: what those who wait are told, and what is done to whom.
func TestAtTheDoor(t *testing.T) {
	ann, bob, eve := waiter("ann-1", 1), waiter("bob-1", 2), waiter("eve-1", 3)
	told := bob
	told.Admitted = true
	boss := waiter("boss-1", 4)
	boss.Granted = true
	open := engine.Tell{State: engine.RoomState{Open: true}}
	shut := engine.Tell{}
	ask := Control{Admission: v1alpha1.AdmissionAsk}
	decided := func(d ...v1alpha1.ParticipantDecision) Control {
		c := ask
		c.Decisions = d
		return c
	}
	let := decided(v1alpha1.ParticipantDecision{Identity: "bob-1", Admitted: true}, v1alpha1.ParticipantDecision{Identity: "eve-9", Removed: true})
	for _, tc := range []struct {
		reason      string
		c           Control
		told        bool
		people      []engine.Participant
		presenterIn bool
		want        []engine.Action
	}{
		{"they wait", ask, false, []engine.Participant{ann, bob}, true, nil},
		{"one is let in, another refused", let, false, []engine.Participant{ann, bob, eve}, false, []engine.Action{engine.Admit{Who: "bob-1"}, engine.Remove{Who: "eve-1"}}},
		{"one has been told", let, false, []engine.Participant{told}, false, nil},
		{"a presenter has nothing to wait for", ask, false, []engine.Participant{ann, boss}, false, []engine.Action{engine.Admit{Who: "boss-1"}}},
		{"it is open", Control{}, false, []engine.Participant{ann, bob}, false, []engine.Action{open}},
		{"it is open, and they know", Control{}, true, []engine.Participant{ann, bob}, false, nil},
		{"a presenter is in", Control{Admission: v1alpha1.AdmissionWithPresenter}, false, []engine.Participant{ann}, true, []engine.Action{open}},
		{"the presenter has left", Control{Admission: v1alpha1.AdmissionWithPresenter}, true, []engine.Participant{ann}, false, []engine.Action{shut}},
		{"all are let in", Control{Admission: ask.Admission, AdmittedUntil: after(2)}, false, []engine.Participant{ann, bob}, false, []engine.Action{open}},
		{
			"all are let in, and one knocks", Control{Admission: ask.Admission, AdmittedUntil: after(2)}, true, []engine.Participant{ann, bob, eve}, false,
			[]engine.Action{shut, engine.Admit{Who: "ann-1"}, engine.Admit{Who: "bob-1"}},
		},
		{"all were let in, and nobody is left", Control{Admission: ask.Admission, AdmittedUntil: after(2)}, true, nil, false, []engine.Action{shut}},
	} {
		if diff := cmp.Diff(tc.want, tc.c.AtTheDoor(engine.RoomState{Open: tc.told}, tc.people, tc.presenterIn)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
		}
	}
}

// TestAdmitAll: the time is that of the last who waits, by the clock of a replica or of the media server, and a second is whole. Who connects
// later waits on, since whenever they had a session.
func TestAdmitAll(t *testing.T) {
	early, late := waiter("ann-1", 1), waiter("bob-1", 2)
	late.Since = late.Since.Add(time.Millisecond)
	connected := early
	connected.JoinedAt = late.Since
	for _, waiting := range [][]engine.Participant{{early, late}, {late, early}, {connected}} {
		var spec v1alpha1.MeetingSpec
		AdmitAll(&spec, waiting)
		if !spec.AdmittedUntil.Time.Equal(after(3)) {
			t.Errorf("%v: until %s", waiting, spec.AdmittedUntil)
		}
		c := ControlOf(DefaultSettings(), &v1alpha1.MeetingSpec{Admission: v1alpha1.AdmissionAsk, AdmittedUntil: spec.AdmittedUntil})
		if left := c.WhoWaits(waiting, false); len(left) != 0 {
			t.Errorf("%v: %v wait on", waiting, left)
		}
		unseen := waiter("eve-1", 0)
		unseen.JoinedAt = after(4)
		if left := c.WhoWaits(append(waiting, unseen), false); len(left) != 1 || left[0].Identity != unseen.Identity {
			t.Errorf("%v: %v wait on, and not only the one who connected later", waiting, left)
		}
		if done := c.AtTheDoor(engine.RoomState{}, []engine.Participant{unseen}, false); done != nil {
			t.Errorf("the one who connected later: %v", done)
		}
	}
}

// TestWaitingInTheStatus: those who have waited longest first, without those who were let in or refused, and no more than a hundred.
func TestWaitingInTheStatus(t *testing.T) {
	m := &v1alpha1.Meeting{Spec: v1alpha1.MeetingSpec{Admission: v1alpha1.AdmissionAsk, Participants: []v1alpha1.ParticipantDecision{
		{Identity: "ann-9", Admitted: true}, {Identity: "eve-9", Removed: true},
	}}}
	seen := Seen{Known: true, Waiting: []engine.Participant{waiter("cem-1", 9), waiter("ann-1", 1), waiter("eve-1", 1), waiter("bob-1", 2)}}
	d := Plan(Input{Meeting: m, Tenant: &Tenant{Settings: DefaultSettings()}, Seen: seen, Now: after(10)})
	want := []v1alpha1.WaitingPerson{
		{Identity: "bob-1", Name: "bob-1", Since: metav1.NewTime(after(2))}, {Identity: "cem-1", Name: "cem-1", Since: metav1.NewTime(after(9))},
	}
	if diff := cmp.Diff(want, d.Status.Waiting); diff != "" || d.Status.WaitingCount != 2 {
		t.Errorf("%d wait (-want +got)\n%s", d.Status.WaitingCount, diff)
	}
	if d.Status.Admission != v1alpha1.AdmissionAsk || d.Status.ParticipantCount != 0 {
		t.Errorf("the status is %+v", d.Status)
	}
	for i := range 200 {
		seen.Waiting = append(seen.Waiting, waiter(engine.Identity("x"+time.Duration(i).String()+"-1"), 20))
	}
	if d = Plan(Input{Meeting: m, Tenant: &Tenant{Settings: DefaultSettings()}, Seen: seen, Now: after(30)}); len(d.Status.Waiting) != 100 || d.Status.WaitingCount != 202 {
		t.Errorf("%d of %d are listed", len(d.Status.Waiting), d.Status.WaitingCount)
	}
	if d = Plan(Input{Meeting: m, Tenant: &Tenant{Settings: DefaultSettings(), NamesHidden: true}, Seen: seen, Now: after(30)}); d.Status.Waiting != nil || d.Status.WaitingCount != 202 {
		t.Errorf("with hidden names: %d of %d are listed", len(d.Status.Waiting), d.Status.WaitingCount)
	}
}

// TestKnocksAreNotUrgent: a thousand of them must not be a thousand writes.
func TestKnocksAreNotUrgent(t *testing.T) {
	from := v1alpha1.MeetingStatus{Phase: v1alpha1.MeetingActive, ObservedGeneration: 1}
	to := from
	to.WaitingCount, to.Waiting = 1, []v1alpha1.WaitingPerson{{Identity: "ann-1"}}
	for _, generation := range []int64{1, 2} {
		to.ObservedGeneration = generation
		if got := ChangeOf(from, to); got != ParticipantsChange {
			t.Errorf("generation %d: %d", generation, got)
		}
	}
}

// TestAdmissionInALife: what is in force is in the status, its changes are Events, and pages are told.
func TestAdmissionInALife(t *testing.T) {
	tell(t, length("1h"), func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("others have to ask", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.Admission = v1alpha1.AdmissionAsk }) })
		s.step("others wait for a presenter", func() {
			s.edit(func(spec *v1alpha1.MeetingSpec) { spec.Admission = v1alpha1.AdmissionWithPresenter })
		})
		s.step("nobody waits", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.Admission = "" }) })
		s.step("the config has them ask", func() { s.tenant.Settings.Admission = v1alpha1.AdmissionAsk })
	})
}

// Two presenters let in all who wait at once. Whoever was let in by one of them stays let in, also where the other had seen fewer and writes last.
func TestAdmittingAllTakesNobodyBack(t *testing.T) {
	at := time.Date(2026, 1, 31, 17, 0, 0, 0, time.UTC)
	early, late := engine.Participant{Identity: "early", JoinedAt: at}, engine.Participant{Identity: "late", JoinedAt: at.Add(3 * time.Second)}
	var spec v1alpha1.MeetingSpec
	for _, seen := range [][]engine.Participant{{early, late}, {early}, nil} {
		AdmitAll(&spec, seen)
		if c := ControlOf(Settings{}, &spec); !c.LetIn(v1alpha1.ParticipantDecision{}, false, KnockedAt(late)) {
			t.Errorf("after %d were let in, who was let in before waits again", len(seen))
		}
	}
}
