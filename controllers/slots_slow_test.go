// SPDX-License-Identifier: Apache-2.0

//go:build slow

package controllers

import (
	"fmt"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// A media server swallows what it is asked while a hundred of its meetings end: the meeting of another ends at once, and
// does not wait for even one answer to each of them.
func TestStuckMediaServerHoldsUpNoOther(t *testing.T) {
	w := newWorld(t)
	stuck := w.config()
	other := w.otherConfig("other")
	const many = 100
	var meetings []*v1alpha1.Meeting
	for i := range many {
		m := w.meeting(fmt.Sprintf("stuck-%d", i))
		meetings = append(meetings, m)
		w.patch(m, fmt.Sprintf(`{"metadata":{"annotations":{%q:"now"}}}`, v1alpha1.AnnotationRoomOpened))
		w.engine.Set(meeting.EngineRoom(string(stuck.UID), string(m.UID)), "anna")
	}
	m := w.meeting("m", func(m *v1alpha1.Meeting) { m.Spec.ConfigRef.Name = other.Name })
	w.patch(m, fmt.Sprintf(`{"metadata":{"annotations":{%q:"now"}}}`, v1alpha1.AnnotationRoomOpened))
	w.other.Set(meeting.EngineRoom(string(other.UID), string(m.UID)), "bob")
	w.is("m", v1alpha1.MeetingActive, people(1))
	w.is(fmt.Sprintf("stuck-%d", many-1), v1alpha1.MeetingActive, people(1))

	w.engine.Hang("room")
	w.engine.Took()
	for _, m := range meetings {
		w.patch(m, `{"spec":{"end":{}}}`)
	}
	w.eventually(func() error {
		if n := w.engine.Count("room "); n < callsOfServer {
			return fmt.Errorf("%d wait for an answer", n)
		}
		return nil
	})
	w.patch(m, `{"spec":{"end":{}}}`)
	w.is("m", v1alpha1.MeetingEnded, because(v1alpha1.EndRequested))
	if n := w.engine.Count("room "); n >= many {
		t.Errorf("it ended after %d looks at the server that is stuck", n)
	}
}
