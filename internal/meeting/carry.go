// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"k8s.io/apimachinery/pkg/api/equality"

	"convene.dev/convene/api/v1alpha1"
)

// Carry copies all decisions about people from a Meeting to the Meeting that continues it: who may enter, who waits, how many may be in,
// who may do what, and what was decided about single participants. Without it, people could undo a decision by a wait until all have left.
func Carry(to, from *v1alpha1.MeetingSpec) {
	decided := from.DeepCopy()
	to.Policy, to.Locked, to.Admission, to.AdmittedUntil = decided.Policy, decided.Locked, decided.Admission, decided.AdmittedUntil
	to.Participants = decided.Participants
	if to.MaxParticipants == nil {
		to.MaxParticipants = decided.MaxParticipants
	}
}

// hasDecisions reports whether anything was decided about the people of a Meeting with this spec. The greatest number of participants does not count:
// tickets carry it.
func hasDecisions(spec *v1alpha1.MeetingSpec) bool {
	var decided v1alpha1.MeetingSpec
	Carry(&decided, spec)
	decided.MaxParticipants = nil
	return !equality.Semantic.DeepEqual(decided, v1alpha1.MeetingSpec{})
}
