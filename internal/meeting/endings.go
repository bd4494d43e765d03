// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"k8s.io/apimachinery/pkg/api/meta"

	"convene.dev/convene/api/v1alpha1"
)

// ending is all that there is to know about one reason for an end. A new reason needs its constant in the API and a row here.
type ending struct {
	reason v1alpha1.EndReason
	// message is what conditions and Events say.
	message string
	// due says that a Meeting has to end for this reason now.
	due func(*plan) bool
	// restarts says whether the links of a Meeting that ended like this start its room again.
	restarts func(*v1alpha1.MeetingStatus) bool
	// needsFreshLook says that the end follows from an empty room: it must not rest on a look that is a second old.
	needsFreshLook func(*v1alpha1.MeetingStatus) bool
}

// DeletedMessage is what an Event says of a Meeting that is over because it was deleted, or its ConferenceConfig.
const DeletedMessage = "The Meeting or its ConferenceConfig was deleted"

// endings are in the order in which they are tried: the first that is due is the reason.
var endings = []ending{
	{
		reason: v1alpha1.EndRequested, message: "The meeting was ended on request",
		due:      func(p *plan) bool { return p.Meeting.Spec.End != nil },
		restarts: never, needsFreshLook: never,
	},
	{
		reason: v1alpha1.EndDeleted, message: DeletedMessage,
		due: func(p *plan) bool {
			return p.Meeting.DeletionTimestamp != nil || p.ConfigGone || p.Tenant != nil && p.Tenant.Deleting
		},
		restarts: never, needsFreshLook: never,
	},
	{
		reason: v1alpha1.EndExpired, message: "The meeting's duration was over",
		due:      func(p *plan) bool { return p.due(p.expiryDeadline()) },
		restarts: endedWithoutParticipants, needsFreshLook: unjoined,
	},
	{
		reason: v1alpha1.EndEmpty, message: "All participants had left",
		due:      func(p *plan) bool { return p.due(p.emptyDeadline()) },
		restarts: always, needsFreshLook: always,
	},
	{
		reason: v1alpha1.EndUnjoined, message: "No participant came",
		due:      func(p *plan) bool { return p.due(p.unjoinedDeadline()) },
		restarts: always, needsFreshLook: always,
	},
}

func always(*v1alpha1.MeetingStatus) bool { return true }

func never(*v1alpha1.MeetingStatus) bool { return false }

func unjoined(s *v1alpha1.MeetingStatus) bool { return s.StartTime == nil }

// endedWithoutParticipants says that the room was empty when the Meeting ended.
func endedWithoutParticipants(s *v1alpha1.MeetingStatus) bool {
	occupied := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionOccupied)
	return unjoined(s) || (occupied != nil && occupied.Reason == v1alpha1.ReasonEveryoneLeft)
}

// endingOf is the row of a reason. A reason of a later version, after a rollback, starts nothing again.
func endingOf(reason v1alpha1.EndReason) ending {
	for _, e := range endings {
		if e.reason == reason {
			return e
		}
	}
	return ending{reason: reason, message: "The meeting ended: " + string(reason), restarts: never, needsFreshLook: never}
}

// EndReasons are all reasons for which Meetings end.
func EndReasons() []v1alpha1.EndReason {
	var all []v1alpha1.EndReason
	for _, e := range endings {
		all = append(all, e.reason)
	}
	return all
}

// Restartable reports whether the links of a Meeting start its room again: it ended by itself while it was empty, or is just being
// ended for that.
func Restartable(m *v1alpha1.Meeting) bool {
	ending := m.Status.Phase == v1alpha1.MeetingEnding && m.Spec.End == nil && m.DeletionTimestamp == nil
	return (ending || IsOver(m)) && restartable(&m.Status)
}

func restartable(s *v1alpha1.MeetingStatus) bool { return endingOf(s.EndReason).restarts(s) }
