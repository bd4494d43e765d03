// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// waiter is one who has waited since some seconds after Monday.
func waiter(who engine.Identity, seconds int) engine.Participant {
	since := monday.Add(time.Duration(seconds) * time.Second)
	return engine.Participant{Identity: who, Name: string(who), JoinedAt: since, Traits: engine.Traits{Hidden: true, Since: since}}
}

// decide changes the spec of a Meeting in the cache.
func (l *looker) decide(name string, change func(*v1alpha1.MeetingSpec)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.meetings {
		if l.meetings[i].Name == name {
			change(&l.meetings[i].Spec)
		}
	}
}

// TestAWaitingRoomIsNoMeeting: those who wait belong to their Meeting, and are counted nowhere.
func TestAWaitingRoomIsNoMeeting(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	l.meeting("m", v1alpha1.MeetingActive)
	l.decide("m", func(s *v1alpha1.MeetingSpec) { s.Admission = v1alpha1.AdmissionAsk })
	room := roomName("a", "m")
	f.Set(room, "paula")
	f.Seat(meeting.WaitingRoom(room), waiter("ann-1", 0), waiter("bob-1", 1))
	l.pass(0)
	if changed, _ := l.heard(); len(changed) != 2 || changed[0] != "m" {
		t.Errorf("woken: %v", changed)
	}
	if rooms, people := l.Counts(media.Server); rooms != 1 || people != 1 {
		t.Errorf("%d rooms, %d people", rooms, people)
	}
	if seen := l.Seen(media, room); names(seen.Participants) != "paula" || names(seen.Waiting) != "ann-1 bob-1" {
		t.Errorf("seen %+v", seen)
	}
	for range 30 {
		l.pass(time.Second)
	}
	if rooms := closed(f); rooms != "" || len(f.Left()) != 2 {
		t.Errorf("closed %q, left %v", rooms, f.Left())
	}
	f.Seat(meeting.WaitingRoom(room), waiter("ann-1", 0))
	l.pass(2 * time.Second)
	if seen := l.Seen(media, room); names(seen.Waiting) != "ann-1" {
		t.Errorf("when one has left: %+v", seen.Waiting)
	}
}

// TestTheLeaderLetsPeopleIn: what is written into the Meeting, and a presenter who comes, is told to those who wait; once.
func TestTheLeaderLetsPeopleIn(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.meeting("m", v1alpha1.MeetingActive)
	room, ann, bob := roomName("a", "m"), waiter("ann-1", 0), waiter("bob-1", 1)
	f.Set(room, "paula")
	f.Seat(meeting.WaitingRoom(room), ann, bob)
	did := func(what string, want ...engine.Action) {
		t.Helper()
		l.pass(2 * time.Second)
		got := f.Did()
		l.pass(2 * time.Second)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
	}
	tell := func(open bool) engine.Action { return engine.Tell{State: engine.RoomState{Open: open}} }
	l.decide("m", func(s *v1alpha1.MeetingSpec) { s.Admission = v1alpha1.AdmissionAsk })
	did("they wait")
	l.decide("m", func(s *v1alpha1.MeetingSpec) {
		s.Participants = []v1alpha1.ParticipantDecision{{Identity: "ann-1", Removed: true}}
	})
	did("one is refused", engine.Remove{Who: "ann-1"})
	f.Did()
	f.Seat(meeting.WaitingRoom(room), bob)
	l.decide("m", func(s *v1alpha1.MeetingSpec) { s.Admission = v1alpha1.AdmissionWithPresenter })
	did("no presenter is in")
	f.Seat(room, engine.Participant{Identity: "paula", Traits: engine.Traits{Presenter: true, Granted: true}})
	did("a presenter is in", tell(true))
	f.Seat(room)
	did("she has left", tell(false))
	l.decide("m", func(s *v1alpha1.MeetingSpec) { s.Admission = "" })
	did("nobody has to wait", tell(true))
}

// TestAWaitingRoomEndsWithItsMeeting: those who wait are sent where the others are, as soon as the end is asked for.
func TestAWaitingRoomEndsWithItsMeeting(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.meeting("m", v1alpha1.MeetingActive)
	room := meeting.WaitingRoom(roomName("a", "m"))
	f.Seat(room, waiter("ann-1", 0))
	l.pass(0)
	l.decide("m", func(s *v1alpha1.MeetingSpec) {
		redirect := v1alpha1.URL("https://example.com/bye")
		s.End = &v1alpha1.MeetingEnd{Redirect: &redirect}
	})
	l.pass(time.Second)
	l.pass(time.Second)
	if len(f.Left()) != 0 || f.SentTo(room) != "https://example.com/bye" {
		t.Errorf("left %v, sent to %q", f.Left(), f.SentTo(room))
	}
}

// TestAWaitingRoomIsDeletedWhenNobodyWaits, but not before a browser that has its token has come.
func TestAWaitingRoomIsDeletedWhenNobodyWaits(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.meeting("m", v1alpha1.MeetingActive)
	l.decide("m", func(s *v1alpha1.MeetingSpec) { s.Admission = v1alpha1.AdmissionAsk })
	room := meeting.WaitingRoom(roomName("a", "m"))
	f.Seat(room, waiter("ann-1", 0))
	l.pass(0)
	f.Seat(room)
	for passed := time.Duration(0); passed < waitingRoomKept; passed += 2 * time.Second {
		if len(f.Left()) != 1 {
			t.Fatalf("deleted after %s", passed)
		}
		l.pass(2 * time.Second)
	}
	l.pass(2 * time.Second)
	if left := f.Left(); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}
