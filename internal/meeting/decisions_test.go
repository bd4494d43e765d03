// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// kindsOfDecision are in the order in which they give way.
var kindsOfDecision = []func(*v1alpha1.ParticipantDecision){
	func(d *v1alpha1.ParticipantDecision) { d.Admitted = true },
	func(d *v1alpha1.ParticipantDecision) { d.Muted = true },
	func(d *v1alpha1.ParticipantDecision) { d.Role = v1alpha1.RolePresenter },
	func(d *v1alpha1.ParticipantDecision) { d.Removed = true },
}

// decideOn is one decision about one participant, as a request makes it.
func decideOn(spec *v1alpha1.MeetingSpec, who string, kind int) (ok bool) {
	was := slices.Clone(spec.Participants)
	Decide(spec, engine.Identity(who), kindsOfDecision[kind])
	if !MakeRoom(was, spec) {
		spec.Participants = was
		return false
	}
	return true
}

func removals(spec v1alpha1.MeetingSpec) (n int) {
	for _, d := range spec.Participants {
		if d.Removed {
			n++
		}
	}
	return n
}

// TestARemovalAlwaysFindsRoom: whatever was decided before, in whatever order and however long the names, the list stays within its
// bounds, a removal is taken, and nothing lighter than a removal takes a removal away.
func TestARemovalAlwaysFindsRoom(t *testing.T) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 1))
		name := func(i int) string { return fmt.Sprintf("p%d-1", i) }
		if seed%2 == 1 {
			name = func(i int) string { return "user:" + strings.Repeat("x", 240) + fmt.Sprint(i) }
		}
		var spec v1alpha1.MeetingSpec
		for i := 0; len(spec.Participants) < v1alpha1.MaxParticipantDecisions && sizeOf(spec.Participants) < MaxDecisionBytes-280; i++ {
			d := v1alpha1.ParticipantDecision{Identity: name(1000 + i)}
			kind := i % len(kindsOfDecision)
			if seed >= 4 {
				kind = 3 // Nothing but removals.
			}
			kindsOfDecision[kind](&d)
			spec.Participants = append(spec.Participants, d)
		}
		for i := range 100 {
			who, kind := name(i+1), random.IntN(len(kindsOfDecision))
			if kind == 3 && seed >= 4 && i%10 > 0 {
				kind = int(seed) % 3 // Mostly lighter ones.
			}
			before := removals(spec)
			if ok := decideOn(&spec, who, kind); !ok && kind == 3 {
				t.Fatalf("seed %d: removal %d finds no room", seed, i)
			}
			if len(spec.Participants) > v1alpha1.MaxParticipantDecisions || sizeOf(spec.Participants) > MaxDecisionBytes {
				t.Fatalf("seed %d: %d decisions of %d bytes", seed, len(spec.Participants), sizeOf(spec.Participants))
			}
			if kind < 3 && removals(spec) < before {
				t.Fatalf("seed %d: decision %d took a removal away", seed, i)
			}
		}
		if !decideOn(&spec, "eve-1", 3) || !slices.ContainsFunc(spec.Participants, func(d v1alpha1.ParticipantDecision) bool { return d.Identity == "eve-1" && d.Removed }) {
			t.Errorf("seed %d: nobody can be removed in the end", seed)
		}
	}
}

// TestWhatGivesWay: of a full list the lightest and oldest decision goes.
func TestWhatGivesWay(t *testing.T) {
	for _, c := range []struct {
		reason string
		// full are the kinds of what is decided already, which take turns.
		full []int
		add  int
		// gone is what gives way; empty where there is no room.
		gone string
	}{
		{"an admission among admissions", []int{0}, 0, "p0-1"},
		{"a mute among mutes and admissions", []int{1, 0}, 1, "p1-1"},
		{"an admission among mutes", []int{1}, 0, "p0-1"},
		{"a removal among roles and mutes", []int{2, 1}, 3, "p1-1"},
		{"a removal among removals", []int{3}, 3, "p0-1"},
		{"an admission among roles", []int{2}, 0, ""},
		{"a mute among removals", []int{3}, 1, ""},
		{"a role among removals", []int{3}, 2, ""},
	} {
		var spec v1alpha1.MeetingSpec
		for i := range v1alpha1.MaxParticipantDecisions {
			d := v1alpha1.ParticipantDecision{Identity: fmt.Sprintf("p%d-1", i)}
			kindsOfDecision[c.full[i%len(c.full)]](&d)
			spec.Participants = append(spec.Participants, d)
		}
		was := slices.Clone(spec.Participants)
		if ok := decideOn(&spec, "new-1", c.add); ok != (c.gone != "") {
			t.Errorf("%s: taken %v", c.reason, ok)
		}
		var gone []string
		for _, d := range was {
			if !slices.ContainsFunc(spec.Participants, func(now v1alpha1.ParticipantDecision) bool { return now.Identity == d.Identity }) {
				gone = append(gone, d.Identity)
			}
		}
		if got := strings.Join(gone, " "); got != c.gone {
			t.Errorf("%s: %q gave way, want %q", c.reason, got, c.gone)
		}
	}
}

// TestAChangeThatNeedsNoRoomTakesNone: a list that somebody wrote by hand, longer than Convene would write, loses nothing when a
// decision in it changes to a shorter one.
func TestAChangeThatNeedsNoRoomTakesNone(t *testing.T) {
	var spec v1alpha1.MeetingSpec
	for i := range v1alpha1.MaxParticipantDecisions {
		spec.Participants = append(spec.Participants, v1alpha1.ParticipantDecision{
			Identity: "user:" + strings.Repeat("x", 240) + fmt.Sprint(i), Muted: true, Admitted: true,
		})
	}
	was := slices.Clone(spec.Participants)
	Decide(&spec, engine.Identity(was[0].Identity), func(d *v1alpha1.ParticipantDecision) { d.Muted = false })
	if !MakeRoom(was, &spec) || len(spec.Participants) != len(was) {
		t.Errorf("%d of %d decisions are left", len(spec.Participants), len(was))
	}
}
