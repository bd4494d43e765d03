// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"encoding/json"
	"reflect"

	"convene.dev/convene/api/v1alpha1"
)

// MaxDecisionBytes bounds the decisions of a Meeting, in bytes of JSON: each write of a Meeting writes all of them.
const MaxDecisionBytes = 128 << 10

// Weights of decisions. The lighter ones give way first: a person whose admission is forgotten asks again.
const (
	weighsAdmission = iota
	weighsMute
	weighsRole
	weighsRemoval
)

func weightOf(d *v1alpha1.ParticipantDecision) int {
	switch {
	case d.Removed:
		return weighsRemoval
	case d.Role != "":
		return weighsRole
	case d.Muted || d.Sources != nil || len(d.GrantedSources) > 0:
		return weighsMute
	}
	return weighsAdmission
}

// MakeRoom makes room in a Meeting's decisions for those that a change has just added. Admissions give way first, then mutes and grants, the
// oldest of each before the others. A role gives way only to a role or a removal, and a removal only to a removal, so that a
// removal always finds room. It reports false where there is no room, and then changes nothing.
func MakeRoom(was []v1alpha1.ParticipantDecision, spec *v1alpha1.MeetingSpec) bool {
	count, size := len(spec.Participants), sizeOf(spec.Participants)
	fits := func() bool { return count <= v1alpha1.MaxParticipantDecisions && size <= MaxDecisionBytes }
	if fits() || count <= len(was) && size <= sizeOf(was) {
		return true
	}
	fresh, heaviest := newIn(was, spec.Participants)
	dropped := map[string]bool{}
	for weight := weighsAdmission; weight <= max(heaviest, weighsMute) && !fits(); weight++ {
		for i := 0; i < len(spec.Participants) && !fits(); i++ {
			if d := &spec.Participants[i]; weightOf(d) == weight && !fresh[d.Identity] {
				dropped[d.Identity] = true
				count--
				size -= sizeOf(spec.Participants[i : i+1])
			}
		}
	}
	if !fits() {
		return false
	}
	var kept []v1alpha1.ParticipantDecision
	for _, d := range spec.Participants {
		if !dropped[d.Identity] {
			kept = append(kept, d)
		}
	}
	spec.Participants = kept
	return true
}

// newIn are the identities about which a list decides what an older list does not, and the weight of the heaviest such decision.
func newIn(was, is []v1alpha1.ParticipantDecision) (fresh map[string]bool, heaviest int) {
	before := make(map[string]*v1alpha1.ParticipantDecision, len(was))
	for i := range was {
		before[was[i].Identity] = &was[i]
	}
	fresh = map[string]bool{}
	for i := range is {
		d := &is[i]
		if old := before[d.Identity]; old == nil || !reflect.DeepEqual(old, d) {
			fresh[d.Identity] = true
			heaviest = max(heaviest, weightOf(d))
		}
	}
	return fresh, heaviest
}

// sizeOf is the length of decisions as JSON, each with what separates it from the next.
func sizeOf(decisions []v1alpha1.ParticipantDecision) (size int) {
	for i := range decisions {
		text, _ := json.Marshal(&decisions[i]) // Strings and booleans never fail.
		size += len(text) + 1
	}
	return size
}
