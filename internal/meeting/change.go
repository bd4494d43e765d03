// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"

	"convene.dev/convene/api/v1alpha1"
)

// Change is what a new status says of the participants, and with that how urgent its write is.
type Change int

const (
	// OtherChange is more than participants. It is urgent.
	OtherChange Change = iota
	// FirstArrival begins the meeting. There is one in a Meeting's life.
	FirstArrival
	// ParticipantsChange is a participant who has come or left, or one who waits.
	ParticipantsChange
	// DetailsChange is a microphone, a camera, a screen or a hand.
	DetailsChange
	// SpecChange is a change of the spec that shows in nothing else yet, as when a participant is to be removed.
	SpecChange
)

// ChangeOf compares two statuses that differ.
func ChangeOf(from, to v1alpha1.MeetingStatus) Change {
	switch {
	case !onlyParticipantsDiffer(from, to):
		return OtherChange
	case from.StartTime == nil && to.StartTime != nil:
		return FirstArrival
	case !equality.Semantic.DeepEqual(from.Waiting, to.Waiting) || from.WaitingCount != to.WaitingCount:
		return ParticipantsChange
	case from.ObservedGeneration != to.ObservedGeneration && equality.Semantic.DeepEqual(from.Participants, to.Participants):
		return SpecChange
	case from.ObservedGeneration == to.ObservedGeneration && from.ParticipantCount == to.ParticipantCount && slices.EqualFunc(from.Participants, to.Participants, sameParticipant):
		return DetailsChange
	}
	return ParticipantsChange
}

func sameParticipant(a, b v1alpha1.Participant) bool { return a.Identity == b.Identity }

// onlyParticipantsDiffer says that nothing has changed but the participants, and what follows from them.
func onlyParticipantsDiffer(from, to v1alpha1.MeetingStatus) bool {
	if from.Phase != v1alpha1.MeetingActive || to.Phase != v1alpha1.MeetingActive {
		return false
	}
	for _, s := range []*v1alpha1.MeetingStatus{&from, &to} {
		s.Waiting, s.WaitingCount = nil, 0
		s.Participants, s.ParticipantCount, s.StartTime, s.ExpiryTime, s.ObservedGeneration = nil, 0, nil, nil, 0
		s.Conditions = slices.Clone(s.Conditions)
		meta.RemoveStatusCondition(&s.Conditions, v1alpha1.ConditionOccupied)
		for i := range s.Conditions {
			s.Conditions[i].ObservedGeneration = 0
		}
	}
	return equality.Semantic.DeepEqual(from, to)
}
