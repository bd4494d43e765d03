// SPDX-License-Identifier: Apache-2.0

package meeting

import "convene.dev/convene/api/v1alpha1"

// IsOver says that a Meeting has ended.
func IsOver(m *v1alpha1.Meeting) bool { return m.Status.Phase == v1alpha1.MeetingEnded }

// IsLeaving says that a Meeting ends or has ended, by what is asked of it or by what has come of it.
func IsLeaving(m *v1alpha1.Meeting) bool {
	return m.Spec.End != nil || m.DeletionTimestamp != nil ||
		m.Status.Phase == v1alpha1.MeetingEnding || m.Status.Phase == v1alpha1.MeetingEnded
}

// Older says which of two Meetings has the room: by creation, then by UID.
func Older(a, b *v1alpha1.Meeting) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.UID < b.UID
}

// Stands says that a Meeting was not made by the API: a person or a tool keeps it, in Git for example, so that its room is open.
func Stands(m *v1alpha1.Meeting) bool {
	return m.Labels[v1alpha1.LabelManagedBy] != v1alpha1.ManagedByAPI
}

// Heir is the standing Meeting that waits for the room of one that the API made, or nil.
func Heir(m *v1alpha1.Meeting, meetings []*v1alpha1.Meeting) *v1alpha1.Meeting {
	var heir *v1alpha1.Meeting
	for _, other := range meetings {
		if !Stands(m) && Stands(other) && !IsLeaving(other) && Older(m, other) && (heir == nil || Older(other, heir)) {
			heir = other
		}
	}
	return heir
}

// Holder is the Meeting that has the room, of all Meetings of that room: the oldest that is not over, or nil.
func Holder(meetings []*v1alpha1.Meeting) *v1alpha1.Meeting {
	var holder *v1alpha1.Meeting
	for _, m := range meetings {
		if !IsOver(m) && (holder == nil || Older(m, holder)) {
			holder = m
		}
	}
	return holder
}

// Lineage names the first Meeting of those that continue each other; its links open them all.
func Lineage(m *v1alpha1.Meeting) string {
	if l := m.Annotations[v1alpha1.AnnotationLineage]; l != "" {
		return l
	}
	return string(m.UID)
}
