// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

func TestDecide(t *testing.T) {
	type list = []v1alpha1.ParticipantDecision
	remove := func(d *v1alpha1.ParticipantDecision) { d.Removed = true }
	mute := func(d *v1alpha1.ParticipantDecision) { d.Muted = true }
	allowToSpeak := func(d *v1alpha1.ParticipantDecision) { d.Muted = false }
	before := list{{Identity: "ann-1", Muted: true}, {Identity: "bob-1", Removed: true, Muted: true}, {Identity: "ann-2", Muted: true}}
	for _, tc := range []struct {
		reason string
		who    engine.Identity
		change func(*v1alpha1.ParticipantDecision)
		want   list
	}{
		{"one who is not listed", "eve-1", mute, append(slices.Clone(before), v1alpha1.ParticipantDecision{Identity: "eve-1", Muted: true})},
		{"on every device", "ann-3", remove, list{{Identity: "ann-1", Removed: true, Muted: true}, before[1], {Identity: "ann-2", Removed: true, Muted: true}}},
		{"nothing is left", "ann-1", allowToSpeak, list{before[1]}},
		{"something is left", "bob-1", allowToSpeak, list{before[0], {Identity: "bob-1", Removed: true}, before[2]}},
		{"no change", "bob-2", mute, before},
		{"nothing about one who is not listed", "eve-1", allowToSpeak, before},
	} {
		spec := v1alpha1.MeetingSpec{Participants: slices.Clone(before)}
		Decide(&spec, tc.who, tc.change)
		if diff := cmp.Diff(tc.want, spec.Participants); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
		}
	}
}

func TestIsDecided(t *testing.T) {
	c := Control{Decisions: []v1alpha1.ParticipantDecision{{Identity: "ann-1"}, {Identity: "bob-2"}, {Identity: "user:eve-x"}}}
	for who, want := range map[engine.Identity]bool{
		"ann-1": true, "ann-9": true, "bob-1": true, "an-1": false, "anna-1": false, "": false, "-1": false, "1-ann": false,
		"user:eve-x": true, "user:eve-y": false, "user:eve": false, "user": false,
	} {
		if got := c.IsDecided(who); got != want {
			t.Errorf("%q: %v", who, got)
		}
	}
}
