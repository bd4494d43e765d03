// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

func placeAt(name string, change ...func(*Place)) Place {
	p := Place{Name: types.NamespacedName{Namespace: "media", Name: name}}
	for _, f := range change {
		f(&p)
	}
	return p
}

var (
	draining    = func(p *Place) { p.Draining = true }
	unreachable = func(p *Place) { p.Unreachable = true }
	full        = func(p *Place) { p.Full = true }
	retired     = func(p *Place) { p.Retired = true }
)

func load(n int) func(*Place) { return func(p *Place) { p.Load = n } }

func TestChoosePlace(t *testing.T) {
	for _, tc := range []struct {
		reason string
		places []Place
		want   string
	}{
		{"there is none", nil, ""},
		{"there is one", []Place{placeAt("a")}, "a"},
		{"the first of equals", []Place{placeAt("a"), placeAt("b")}, "a"},
		{"the one with the smallest load", []Place{placeAt("a", load(3)), placeAt("b", load(1)), placeAt("c", load(2))}, "b"},
		{"one that answers, however full", []Place{placeAt("a", unreachable), placeAt("b", full, load(100))}, "b"},
		{"one that is not full, whatever its load", []Place{placeAt("a", full, load(1)), placeAt("b", load(2))}, "b"},
		{"full ones where there is no other", []Place{placeAt("a", full, load(2)), placeAt("b", full, load(1))}, "b"},
		{"one that does not answer, where no other is left: it may in a moment", []Place{placeAt("a", draining), placeAt("b", unreachable)}, "b"},
		{"none of those that are draining or may not be used", []Place{placeAt("a", draining), placeAt("b", retired)}, ""},
	} {
		got, ok := ChoosePlace(tc.places)
		if got.Name != tc.want || ok != (tc.want != "") {
			t.Errorf("%s: %q, %t", tc.reason, got.Name, ok)
		}
	}
}

// Where a Meeting is placed, when it stays, and when it moves.
func TestPlaces(t *testing.T) {
	at := func(name string) func(*Input) {
		return func(in *Input) {
			in.Meeting.Status.MediaServer = &v1alpha1.MediaServerReference{Namespace: "media", Name: name}
		}
	}
	opened := func(in *Input) { in.Meeting.Annotations[v1alpha1.AnnotationRoomOpened] = "true" }
	people := func(n int) func(*Input) {
		return func(in *Input) {
			in.Seen.Known, in.Seen.RoomExists = true, true
			in.Seen.Participants = make([]engine.Participant, n)
			in.Meeting.Status.ParticipantCount = int32(n)
		}
	}
	away := func(d time.Duration, counted int32) func(*Input) {
		return func(in *Input) {
			in.Seen = Seen{UnavailableSince: in.Now.Add(-d), SilentSince: in.Now.Add(-d)}
			in.Meeting.Status.ParticipantCount = counted
		}
	}
	counted := func(n int32) func(*Input) {
		return func(in *Input) { in.Meeting.Status.ParticipantCount = n }
	}
	pending := func(d time.Duration) func(*Input) {
		return func(in *Input) {
			in.Meeting.Status.Conditions = []metav1.Condition{{
				Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(in.Now.Add(-d)),
			}}
		}
	}
	asks := func(text string) func(*Input) {
		return func(in *Input) { in.Meeting.Annotations[v1alpha1.AnnotationMediaServer] = text }
	}
	ending := func(in *Input) { in.Meeting.Spec.End = &v1alpha1.MeetingEnd{} }
	both := []Place{placeAt("a", load(9)), placeAt("b")}
	aDrains, aIsAway := []Place{placeAt("a", draining), placeAt("b")}, []Place{placeAt("a", unreachable), placeAt("b")}
	for _, tc := range []struct {
		reason string
		places []Place
		given  []func(*Input)
		want   string
		phase  v1alpha1.MeetingPhase
		event  string
		wake   time.Duration
	}{
		{"a new one goes where least is", both, nil, "b", v1alpha1.MeetingActive, "", 0},
		{"a new one goes where it asks to be", both, []func(*Input){asks("media/a")}, "a", v1alpha1.MeetingActive, "", 0},
		{"what it asks for is not its tenant's", both, []func(*Input){asks("theirs/a")}, "b", v1alpha1.MeetingActive, "", 0},
		{"what it asks for is not its tenant's, and its room is said to be open", both, []func(*Input){asks("theirs/a"), opened}, "b", v1alpha1.MeetingActive, "", 0},
		{"what it asks for is not its tenant's, and it is being ended", both, []func(*Input){asks("theirs/a"), opened, ending}, "", v1alpha1.MeetingEnding, "", 0},
		{"what it asks for is no name", both, []func(*Input){asks("///")}, "b", v1alpha1.MeetingActive, "", 0},
		{"one that is placed stays, whatever the load", both, []func(*Input){at("a"), asks("media/b")}, "a", v1alpha1.MeetingActive, "", 0},
		{"all are draining", []Place{placeAt("a", draining)}, nil, "", v1alpha1.MeetingPending, "", 0},
		{"draining: one that was never opened moves", aDrains, []func(*Input){at("a")}, "b", v1alpha1.MeetingActive, "Moved from media server media/a to media/b", 0},
		{"draining: an empty one moves", aDrains, []func(*Input){at("a"), opened, people(0)}, "b", v1alpha1.MeetingActive, "Moved", 0},
		{"draining: one with a participant stays", aDrains, []func(*Input){at("a"), opened, people(1)}, "a", v1alpha1.MeetingActive, "", 0},
		{"draining: one that has not been looked at stays", aDrains, []func(*Input){at("a"), opened}, "a", v1alpha1.MeetingActive, "", 0},
		{"draining: one that is being ended stays", aDrains, []func(*Input){at("a"), opened, people(0), ending}, "a", v1alpha1.MeetingEnding, "", 0},
		{"draining: the other one is not better", []Place{placeAt("a", draining), placeAt("b", unreachable)}, []func(*Input){at("a")}, "a", v1alpha1.MeetingActive, "", 0},
		{"unreachable: an empty one moves", aIsAway, []func(*Input){at("a"), opened, away(time.Second, 0)}, "b", v1alpha1.MeetingActive, "Moved", 0},
		{"unreachable: one with participants waits", aIsAway, []func(*Input){at("a"), opened, away(20*time.Second, 2)}, "a", v1alpha1.MeetingActive, "", 40 * time.Second},
		{"lost: one with participants moves", aIsAway, []func(*Input){at("a"), opened, away(lostAfter, 2)}, "b", v1alpha1.MeetingActive, "Moved", 0},
		{"lost, and there is no other", []Place{placeAt("a", unreachable)}, []func(*Input){at("a"), opened, away(lostAfter, 2)}, "a", v1alpha1.MeetingActive, "", 0},
		{"not to be used any more: one with participants stays, and cannot be entered", []Place{placeAt("a", retired), placeAt("b")}, []func(*Input){at("a"), opened, people(1)},
			"a", v1alpha1.MeetingPending, "", 0},
		{"not to be used any more: an empty one moves", []Place{placeAt("a", retired), placeAt("b")}, []func(*Input){at("a"), opened, people(0)}, "b", v1alpha1.MeetingActive, "Moved", 0},
		{"not known: one that was never opened is placed again", []Place{placeAt("b")}, []func(*Input){at("a")}, "b", v1alpha1.MeetingActive, "", 0},
		{"not known: one that was never opened and is being ended is not", []Place{placeAt("b")}, []func(*Input){at("a"), ending}, "a", v1alpha1.MeetingEnded, "", 0},
		{"not known: one with participants waits", []Place{placeAt("b")}, []func(*Input){at("a"), opened, counted(2)}, "a", v1alpha1.MeetingPending, "", lostAfter},
		{"not known for long: one with participants moves", []Place{placeAt("b")}, []func(*Input){at("a"), opened, counted(2), pending(lostAfter)},
			"b", v1alpha1.MeetingActive, "Moved", 0},
		{"not known: an empty one moves", []Place{placeAt("b")}, []func(*Input){at("a"), opened}, "b", v1alpha1.MeetingActive, "Moved", 0},
		{"not known, and being ended: it stays", []Place{placeAt("b")}, []func(*Input){at("a"), opened, counted(2), pending(lostAfter), ending},
			"a", v1alpha1.MeetingEnding, "", 0},
		{"not known, and there is no other", nil, []func(*Input){at("a"), opened, counted(2), pending(lostAfter)}, "a", v1alpha1.MeetingPending, "", 0},
	} {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(monday), Annotations: map[string]string{}}}
		in := Input{Meeting: m, Tenant: &Tenant{Settings: DefaultSettings(), Places: tc.places}, Now: monday.Add(time.Hour)}
		for _, f := range tc.given {
			f(&in)
		}
		d := Plan(in)
		var got string
		if d.Status.MediaServer != nil {
			got = d.Status.MediaServer.Name
		}
		if got != tc.want || d.Status.Phase != tc.phase {
			t.Errorf("%s: it is on %q, %s", tc.reason, got, d.Status.Phase)
		}
		if tc.wake != 0 && !d.WakeAt.Equal(in.Now.Add(tc.wake)) {
			t.Errorf("%s: it is looked at again at %s", tc.reason, d.WakeAt)
		}
		moved := ""
		for _, e := range d.Events {
			if e.Reason == v1alpha1.ReasonMoved {
				moved = e.Message
			}
		}
		if fresh := moved != "" && in.Seen.Known; d.NeedsFreshLook != fresh {
			t.Errorf("%s: it needs a fresh look: %t", tc.reason, d.NeedsFreshLook)
		}
		if (moved == "") != (tc.event == "") || !strings.HasPrefix(moved, tc.event) {
			t.Errorf("%s: the event is %q", tc.reason, moved)
		}
	}
}
