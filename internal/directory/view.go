// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// View is a Meeting as the API and the pages see it. What the controllers have not written yet is worked out as they
// will.
func View(t *tenant.Tenant, m *v1alpha1.Meeting) meeting.View {
	length, err := t.Settings.Length(m.Spec.Duration)
	if err != nil {
		length = t.Settings.MaxLength
	}
	v := meeting.View{
		UID:             string(m.UID),
		Lineage:         meeting.Lineage(m),
		Room:            m.Spec.Room,
		URL:             t.MeetingURL(m.Spec.Room),
		Length:          length,
		Started:         ptr.Deref(m.Status.StartTime, metav1.Time{}).Time,
		Created:         m.CreationTimestamp.Time,
		Peers:           m.Status.Participants,
		MaxParticipants: t.Settings.ParticipantLimit(m.Spec.MaxParticipants),
		HasPassword:     m.Spec.PasswordSecretRef != nil,
		Ended:           meeting.IsLeaving(m),
		Redirect:        meeting.Redirect(m),
		MediaServer:     meeting.PlaceOf(m),
		EngineRoom:      meeting.EngineRoom(string(t.UID), string(m.UID)),
		Opened:          m.Annotations[v1alpha1.AnnotationRoomOpened] != "",
		Control:         meeting.ControlOf(t.Settings, &m.Spec),
		Status:          &m.Status,
	}
	v.Expires = length.After(v.Begin())
	if m.Status.Phase == v1alpha1.MeetingPending {
		if c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady); c != nil {
			v.Pending = c.Message
		}
	}
	return v
}
