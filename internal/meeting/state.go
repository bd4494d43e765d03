// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"time"

	"convene.dev/convene/api/v1alpha1"
)

// IsOver says that a Meeting has ended.
func IsOver(m *v1alpha1.Meeting) bool { return m.Status.Phase == v1alpha1.MeetingEnded }

// IsLeaving says that a Meeting ends or has ended, by what is asked of it or by what has come of it.
func IsLeaving(m *v1alpha1.Meeting) bool {
	return m.Spec.End != nil || m.DeletionTimestamp != nil ||
		m.Status.Phase == v1alpha1.MeetingEnding || m.Status.Phase == v1alpha1.MeetingEnded
}

// Entered reports whether a participant has been let into the room, or is about to be.
func Entered(m *v1alpha1.Meeting) bool {
	return m.Status.StartTime != nil || m.Annotations[v1alpha1.AnnotationRoomOpened] != ""
}

const (
	// PasswordWithin is how long the Secret of a Meeting's password may take to come. Whoever makes both gives up before.
	PasswordWithin = 30 * time.Second
	// passwordMissed is how long it is looked for afterwards.
	passwordMissed = 10 * time.Minute
	// restored is the least time between the making of a Meeting and of its object, where that comes from a backup.
	restored = time.Minute
)

// PasswordDue returns when the Secret of a Meeting's password must be there, or else the command that made the Meeting has failed in between.
// It returns false where the Secret need not be looked for. What comes from a backup may get its Secret later.
func PasswordDue(m *v1alpha1.Meeting, now time.Time) (due time.Time, ok bool) {
	requested, err := time.Parse(time.RFC3339, m.Annotations[v1alpha1.AnnotationPasswordRequested])
	created := m.CreationTimestamp.Time
	due = created.Add(PasswordWithin)
	ok = err == nil && m.Spec.PasswordSecretRef != nil && !IsLeaving(m) && !Entered(m) &&
		created.Sub(requested).Abs() < restored && now.Before(due.Add(passwordMissed))
	return due, ok
}

// Earlier are the ended Meetings of a room that another one has followed, which has ended too or which the API made. A live one has followed no
// standing one: somebody keeps that.
func Earlier(m *v1alpha1.Meeting, sameRoom []*v1alpha1.Meeting) (earlier []*v1alpha1.Meeting) {
	holder := Holder(sameRoom)
	holds := holder != nil && holder.UID == m.UID
	for _, other := range sameRoom {
		if IsOver(other) && other.UID != m.UID && (holds && !Stands(other) || IsOver(m) && Older(other, m)) {
			earlier = append(earlier, other)
		}
	}
	return earlier
}

// SettledAt is when the command that made a live Meeting does nothing to it any more, and nobody else takes it back.
func SettledAt(m *v1alpha1.Meeting, now time.Time) time.Time {
	if due, ok := PasswordDue(m, now); ok {
		return due.Add(passwordMissed)
	}
	return m.CreationTimestamp.Add(PasswordWithin)
}

// Older says which of two Meetings has the room: by creation, then by UID.
func Older(a, b *v1alpha1.Meeting) bool {
	return CursorOf(a).Compare(CursorOf(b)) < 0
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
