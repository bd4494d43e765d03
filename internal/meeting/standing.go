// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"slices"
	"strings"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// IdentitySeparator stands between the two halves of an identity: its origin, which is the same for all who come
// with one ticket or token or as one user, and what is used once.
const IdentitySeparator = "-"

// Removed are the identities that a presenter removed from a Meeting.
func Removed(m *v1alpha1.Meeting) []engine.Identity {
	return decided(m, func(d v1alpha1.ParticipantDecision) bool { return d.Removed })
}

// Muted are the identities that a presenter muted in a Meeting.
func Muted(m *v1alpha1.Meeting) []engine.Identity {
	return decided(m, func(d v1alpha1.ParticipantDecision) bool { return d.Muted })
}

// decided are the identities about which something was decided.
func decided(m *v1alpha1.Meeting, what func(v1alpha1.ParticipantDecision) bool) (all []engine.Identity) {
	for _, d := range m.Spec.Participants {
		if what(d) {
			all = append(all, engine.Identity(d.Identity))
		}
	}
	return all
}

// Decide changes what is decided about a participant, under all identities of the same origin, and adds the participant where none
// is listed. One about whom nothing is decided any more goes.
func Decide(spec *v1alpha1.MeetingSpec, who engine.Identity, change func(*v1alpha1.ParticipantDecision)) {
	var list []v1alpha1.ParticipantDecision
	known := false
	keep := func(d v1alpha1.ParticipantDecision) {
		if d != (v1alpha1.ParticipantDecision{Identity: d.Identity}) {
			list = append(list, d)
		}
	}
	for _, d := range spec.Participants {
		if Origin(engine.Identity(d.Identity)) == Origin(who) {
			known = true
			change(&d)
		}
		keep(d)
	}
	if !known {
		d := v1alpha1.ParticipantDecision{Identity: string(who)}
		change(&d)
		keep(d)
	}
	spec.Participants = list
}

// Listed reports whether a list has an identity, or another of the same origin: a participant who was removed or muted is so on
// every device and after every return.
func Listed(list []engine.Identity, who engine.Identity) bool {
	origin := Origin(who)
	return slices.ContainsFunc(list, func(other engine.Identity) bool { return Origin(other) == origin })
}

// Origin is the half of an identity that is the same for all who come with one credential.
func Origin(who engine.Identity) string {
	origin, _, _ := strings.Cut(string(who), IdentitySeparator)
	return origin
}
