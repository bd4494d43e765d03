// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

func onTwo(l *life) { l.tenant.Places = twoPlaces }

// To the leader the media server does not answer, and Anna talks on.
func TestLostWithPeople(t *testing.T) {
	tell(t, onTwo, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the engine is out of the leader's sight", s.engineGoes)
		s.wait(59 * time.Second)
		s.wait(time.Second)
		s.wait(time.Hour)
		s.step("the engine is in sight again", s.engineReturns)
		s.step("Anna leaves", func() { s.leave("Anna") })
		s.wait(5*time.Minute + time.Second)
	})
}

// Those who came meanwhile are at the new place: there the others come too.
func TestLostAndJoined(t *testing.T) {
	tell(t, onTwo, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the engine is out of the leader's sight", s.engineGoes)
		s.wait(time.Minute)
		s.step("Tom enters", func() { s.enter("Tom") })
		s.step("Tom leaves", func() { s.leave("Tom") })
		s.wait(time.Hour)
		s.step("Tom enters again", func() { s.enter("Tom") })
		s.step("the engine is in sight again", s.engineReturns)
		s.wait(time.Second)
	})
}

// A media server that never answers again does not keep the Meeting for ever.
func TestLostForGood(t *testing.T) {
	tell(t, onTwo, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the engine dies", func() { s.engineRestarts(); s.engineGoes() })
		s.wait(time.Minute)
		s.step("Anna's page enters again", func() { s.enter("Anna") })
		s.step("Anna leaves", func() { s.leave("Anna") })
		s.wait(23 * time.Hour)
		s.wait(2 * time.Hour)
	})
}

func TestLostAndBackWithoutTheRoom(t *testing.T) {
	tell(t, onTwo, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the engine dies", func() { s.engineRestarts(); s.engineGoes() })
		s.wait(time.Hour)
		s.step("the engine is back", s.engineReturns)
		s.wait(5*time.Minute + time.Second)
	})
}

// A wrong key takes nobody's meeting away.
func TestKeyRefused(t *testing.T) {
	tell(t, onTwo, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("somebody edits the Secret", s.engineRefuses)
		s.wait(24 * time.Hour)
		s.step("somebody corrects the Secret", s.engineReturns)
	})
}

// An end waits for the place that the Meeting left, as it does for the one where the Meeting is.
func TestLostDuringEnd(t *testing.T) {
	tell(t, onTwo, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the engine is out of the leader's sight", s.engineGoes)
		s.wait(time.Hour)
		s.step("the end is asked for", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.End = &v1alpha1.MeetingEnd{} }) })
		s.wait(5*time.Minute - time.Second)
		s.wait(time.Second)
	})
}

func TestLostAndBackDuringEnd(t *testing.T) {
	tell(t, onTwo, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the engine is out of the leader's sight", s.engineGoes)
		s.wait(time.Hour)
		s.step("the end is asked for", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.End = &v1alpha1.MeetingEnd{} }) })
		s.wait(time.Minute)
		s.step("the engine is in sight again", s.engineReturns)
		s.wait(15 * time.Second)
	})
}

// What is not seen of the place that a Meeting left holds up each end that follows from an empty room, and no other.
func TestNoEndFollowsFromWhatIsNotSeen(t *testing.T) {
	for _, tc := range []struct {
		change func(*life)
		want   v1alpha1.EndReason
	}{
		{func(l *life) {
			l.meeting.Spec.EmptyTimeout = &metav1.Duration{Duration: time.Minute}
			l.meeting.Status.StartTime = asTime(monday)
		}, ""},
		{func(l *life) { l.meeting.Spec.UnjoinedTimeout = &metav1.Duration{Duration: time.Minute} }, ""},
		{length("5m"), v1alpha1.EndExpired},
		{func(l *life) { l.tenant.Deleting = true }, v1alpha1.EndDeleted},
		{func(l *life) { l.meeting.Spec.End = &v1alpha1.MeetingEnd{} }, v1alpha1.EndRequested},
	} {
		l := newLife(t, onTwo, func(l *life) {
			l.meeting.Annotations[v1alpha1.AnnotationRoomOpened] = "yes"
			l.meeting.Status.MediaServer = referenceTo(twoPlaces[1].Name)
			l.meeting.Status.LeftMediaServers = []v1alpha1.LeftMediaServer{{MediaServerReference: *referenceTo(onePlace[0].Name), LeftTime: metav1.NewTime(monday)}}
			l.engine.up, l.engine.since = false, monday
		}, tc.change)
		l.reconcile()
		l.pass(11 * time.Minute)
		if got := l.last.Status.EndReason; got != tc.want {
			t.Errorf("it ends: %q, want %q", got, tc.want)
		}
	}
}
