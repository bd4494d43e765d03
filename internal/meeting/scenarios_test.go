// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

func length(d v1alpha1.Duration) func(*life) {
	return func(l *life) { l.meeting.Spec.Duration = d }
}

// standing is a room kept in Git: no Meeting of the API's.
func standing(l *life) { l.meeting.Labels = nil }

func TestJoinLeaveEmpty(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.wait(10 * time.Minute)
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("Tom enters", func() { s.enter("Tom") })
		s.wait(20*time.Minute + 300*time.Millisecond)
		s.step("Anna leaves", func() { s.leave("Anna") })
		s.step("Tom leaves", func() { s.leave("Tom") })
		s.wait(4 * time.Minute)
		s.step("Anna looks in again", func() { s.enter("Anna") })
		s.wait(time.Hour)
		s.step("Anna leaves", func() { s.leave("Anna") })
		s.wait(5*time.Minute + 2*time.Second)
		s.wait(25 * time.Hour)
	})
}

func TestUnjoined(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.wait(24*time.Hour - time.Second)
		s.wait(time.Second)
		s.wait(24*time.Hour - time.Second)
		s.wait(time.Second)
	})
}

// The room was opened for a participant who never came in: the engine has to be asked.
func TestUnjoinedButOpened(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.step("Anna's browser gives up on the way in", func() { s.enter("Anna"); s.leave("Anna") })
		s.wait(23 * time.Hour)
		s.step("the engine goes", s.engineGoes)
		s.wait(2 * time.Hour)
		s.step("the engine is back", s.engineReturns)
		s.wait(2 * time.Second)
	})
}

func TestExpiryWithPeople(t *testing.T) {
	tell(t, length("1h"), func(s *story) {
		s.wait(59 * time.Minute)
		s.step("Anna enters, and has her hour", func() { s.enter("Anna") })
		s.wait(59 * time.Minute)
		s.step("Tom enters, which moves nothing", func() { s.enter("Tom") })
		s.wait(time.Minute)
		s.wait(time.Second)
		s.wait(5 * time.Minute)
	})
}

func TestExpiryWithoutPeople(t *testing.T) {
	tell(t, length("30m"), func(s *story) {
		s.wait(30 * time.Minute)
		s.wait(24 * time.Hour)
	})
}

func TestExpiryAfterAllHaveLeft(t *testing.T) {
	tell(t, length("30m"), func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.wait(27 * time.Minute)
		s.step("Anna leaves", func() { s.leave("Anna") })
		s.wait(3*time.Minute + time.Second)
	})
}

// A participant may have come just before the expiry while the engine cannot be seen.
func TestExpiryWhileTheEngineIsAway(t *testing.T) {
	tell(t, length("30m"), func(s *story) {
		s.step("a room is opened", func() { s.enter("Anna"); s.leave("Anna") })
		s.wait(29 * time.Minute)
		s.step("the engine cannot be seen", s.engineGoes)
		s.step("Anna enters, unseen", func() { s.enter("Anna") })
		s.wait(2 * time.Minute)
		s.step("the engine is seen again", s.engineReturns)
		s.wait(30 * time.Minute)
	})
}

// A room can be opened and ended before its Meeting has a status, which says where the room is.
func TestEndBeforeTheFirstStatus(t *testing.T) {
	for name, end := range map[string]func(*life){
		"ended":   func(l *life) { l.edit(func(s *v1alpha1.MeetingSpec) { s.End = &v1alpha1.MeetingEnd{} }) },
		"deleted": (*life).remove,
	} {
		for _, people := range []int{0, 1} {
			l := newLife(t, func(l *life) {
				l.enter("Anna")
				l.engine.people = l.engine.people[:people]
				end(l)
			})
			l.reconcile()
			l.pass(confirmAfter)
			if l.engine.room || l.meeting != nil && l.meeting.Status.Phase != v1alpha1.MeetingEnded {
				t.Errorf("%s with %d in: the room is there: %t; %s", name, people, l.engine.room, summary(l.last.Status))
			}
		}
	}
}

func TestExpiryWhileTheEngineStaysAway(t *testing.T) {
	tell(t, length("30m"), func(s *story) {
		s.step("a room is opened", func() { s.enter("Anna"); s.leave("Anna") })
		s.step("the engine goes", s.engineGoes)
		s.wait(time.Hour)
	})
}

func TestDurationChangedWhileLive(t *testing.T) {
	change := func(s *story, to v1alpha1.Duration) {
		s.step("the duration becomes "+string(to), func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.Duration = to }) })
	}
	tell(t, length("1h"), func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.wait(30 * time.Minute)
		change(s, "2h")
		s.wait(45 * time.Minute)
		change(s, "unlimited")
		s.wait(45 * time.Minute)
		change(s, "2h15m")
		s.step("the config allows no more than two hours", func() { s.tenant.Settings.MaxLength = 2 * hour })
		s.wait(time.Second)
	})
}

func TestEndOnRequest(t *testing.T) {
	const own, its = "https://example.com/own", "https://example.com/end"
	for name, end := range map[string]*v1alpha1.MeetingEnd{
		"NoRedirect":    {},
		"HomePage":      {Redirect: ptr.To(v1alpha1.URL(""))},
		"OtherRedirect": {Redirect: ptr.To(v1alpha1.URL(its))},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t, func(l *life) { l.meeting.Spec.Redirect = own })
			l.enter("Anna")
			l.reconcile()
			l.edit(func(spec *v1alpha1.MeetingSpec) { spec.End = end })
			l.reconcile()
			want := map[string]string{"NoRedirect": own, "HomePage": "", "OtherRedirect": its}[name]
			if l.engine.closes != 1 || l.engine.redirect != want {
				t.Errorf("closed %d times, people are sent to %q; want %q", l.engine.closes, l.engine.redirect, want)
			}
		})
	}
}

func TestEndRequested(t *testing.T) {
	tell(t, func(l *life) { l.meeting.Spec.Redirect = "https://example.com/own" }, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the end is asked for", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.End = &v1alpha1.MeetingEnd{} }) })
		s.wait(500 * time.Millisecond)
		s.step("Tom's join was in flight, and makes the room again", func() { s.enter("Tom") })
		s.wait(999 * time.Millisecond)
		s.wait(time.Millisecond)
		s.wait(5 * time.Minute)
	})
}

func TestEndRequestedBeforeAnybodyCame(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.step("the end is asked for", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.End = &v1alpha1.MeetingEnd{} }) })
		s.wait(5 * time.Minute)
	})
}

func TestDelete(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the object is deleted", s.remove)
		s.wait(time.Second)
	})
}

func TestDeleteOfAnEndedOne(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.step("the end is asked for", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.End = &v1alpha1.MeetingEnd{} }) })
		s.step("the object is deleted", s.remove)
	})
}

func TestConfigDeleted(t *testing.T) {
	tell(t, standing, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the ConferenceConfig is deleted", func() { s.tenant, s.configGone = nil, true })
		s.wait(5 * time.Minute)
	})
}

func TestConfigMissingThenThere(t *testing.T) {
	var later *Tenant
	tell(t, func(l *life) { later, l.tenant = l.tenant, nil; l.meeting.Spec.Duration = "1h" }, func(s *story) {
		s.wait(30 * time.Minute)
		s.step("the ConferenceConfig is created", func() { s.tenant = later })
	})
}

func TestRoomTaken(t *testing.T) {
	tell(t, func(l *life) { l.rival = "older" }, func(s *story) {
		s.wait(time.Hour)
		s.step("the older Meeting has ended", func() { s.rival = "" })
	})
}

// A Meeting in Git is not unhealthy while a Meeting that the API made has its room.
func TestRoomLent(t *testing.T) {
	tell(t, func(l *life) { standing(l); l.rival, l.lent = "board-by-api", true }, func(s *story) {
		s.wait(time.Hour)
		s.step("LiveKit's Secret is deleted", func() { s.tenant.Places = nil })
		s.step("it is back", func() { s.tenant.Places = onePlace })
		s.step("all have left the other Meeting", func() { s.rival, s.lent = "", false })
	})
}

// A Meeting that the API made, and that no participant has joined, gives the room back to the standing one.
func TestRoomGivenBack(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.wait(time.Hour)
		s.step("the standing Meeting is back", func() { s.heirSince = s.now })
		s.wait(4 * time.Minute)
		s.wait(time.Minute)
	})
}

// People in a Meeting that the API made are not disturbed by the standing Meeting that waits.
func TestRoomKeptWhileInUse(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the standing Meeting is back", func() { s.heirSince = s.now })
		s.wait(2 * time.Hour)
		s.step("Anna leaves", func() { s.leave("Anna") })
		s.wait(5 * time.Minute)
	})
}

func TestNoMedia(t *testing.T) {
	tell(t, func(l *life) { l.tenant.Places = nil; l.meeting.Spec.Duration = "2h" }, func(s *story) {
		s.wait(time.Hour)
		s.step("LiveKit is configured", func() { s.tenant.Places = onePlace })
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("LiveKit's Secret is deleted", func() { s.tenant.Places = nil })
		s.wait(2 * time.Hour)
	})
}

func TestEngineAwayDuringEnd(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the engine goes", s.engineGoes)
		s.wait(time.Hour)
		s.step("the end is asked for", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.End = &v1alpha1.MeetingEnd{} }) })
		s.wait(5*time.Minute - time.Second)
		s.wait(time.Second)
	})
}

// The five minutes begin when the engine goes, if it goes later than the end begins.
func TestEngineGoesDuringEnd(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the end is asked for", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.End = &v1alpha1.MeetingEnd{} }) })
		s.wait(900 * time.Millisecond)
		s.step("the engine goes, before the second look", s.engineGoes)
		s.wait(5*time.Minute - time.Millisecond)
		s.wait(time.Millisecond)
	})
}

func TestEngineBackDuringEnd(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the engine goes", s.engineGoes)
		s.step("the object is deleted", s.remove)
		s.wait(4 * time.Minute)
		s.step("the engine is back", s.engineReturns)
		s.wait(time.Second)
	})
}

// Time in which the engine could not be seen does not count towards emptiness.
func TestEngineAwayWhileEmpty(t *testing.T) {
	tell(t, nil, func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("Anna leaves", func() { s.leave("Anna") })
		s.wait(4 * time.Minute)
		s.step("the engine goes", s.engineGoes)
		s.wait(time.Hour)
		s.step("the engine is back", s.engineReturns)
		s.wait(10 * time.Second)
		s.step("one look fails", s.engineGoes)
		s.wait(time.Second)
		s.step("and the next does not", s.engineReturns)
		s.wait(49 * time.Second)
		s.wait(2 * time.Second)
	})
}

// The pages learn of a new expiry as soon as the engine can be told.
func TestDurationChangedWhileTheEngineIsAway(t *testing.T) {
	tell(t, length("1h"), func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the engine goes", s.engineGoes)
		s.step("the duration becomes 2h", func() { s.edit(func(spec *v1alpha1.MeetingSpec) { spec.Duration = "2h" }) })
		s.step("the engine is back", s.engineReturns)
		s.step("a join in flight makes the room again, which tells nothing", func() { s.engine.state = engine.RoomState{} })
		s.wait(time.Hour)
	})
}

func TestEngineRestarted(t *testing.T) {
	tell(t, length("2h"), func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the engine restarts, and has lost its rooms", s.engineRestarts)
		s.wait(12 * time.Second)
		s.step("Anna's page enters again", func() { s.enter("Anna") })
		s.wait(time.Hour)
	})
}

func TestClockSetBack(t *testing.T) {
	tell(t, length("1h"), func(s *story) {
		s.wait(5 * time.Minute)
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("the clock is set back", func() { s.now = s.now.Add(-10 * time.Minute) })
		s.step("Tom enters", func() { s.enter("Tom") })
		s.step("the end is asked for, before the start that is written down", func() {
			s.edit(func(spec *v1alpha1.MeetingSpec) { spec.End = &v1alpha1.MeetingEnd{} })
		})
		s.wait(time.Second)
		s.wait(20 * time.Minute)
	})
}

func TestClockSetForth(t *testing.T) {
	tell(t, length("1h"), func(s *story) {
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("Anna leaves", func() { s.leave("Anna") })
		s.wait(time.Minute)
		s.step("the clock is set forth, and back", func() { s.now = s.now.Add(10 * time.Minute); s.now = s.now.Add(-10 * time.Minute) })
		s.step("the clock is set forth", func() { s.now = s.now.Add(10 * time.Minute) })
		s.wait(time.Second)
	})
}

func TestStandingRoom(t *testing.T) {
	tell(t, standing, func(s *story) {
		s.wait(1000 * time.Hour)
		s.step("Anna enters", func() { s.enter("Anna") })
		s.step("Anna leaves", func() { s.leave("Anna") })
		s.wait(1000 * time.Hour)
	})
}

func TestStandingRoomWithItsOwnTimeouts(t *testing.T) {
	own := func(l *life) {
		standing(l)
		l.meeting.Spec.UnjoinedTimeout = &metav1.Duration{Duration: 2 * time.Hour}
		l.meeting.Spec.EmptyTimeout = &metav1.Duration{Duration: time.Minute}
	}
	tell(t, own, func(s *story) {
		s.wait(time.Hour)
		s.step("Anna enters", func() { s.enter("Anna") })
		s.wait(10 * time.Hour)
		s.step("Anna leaves", func() { s.leave("Anna") })
		s.wait(time.Minute + time.Second)
	})
}

func TestKeptForInspection(t *testing.T) {
	short := func(l *life) {
		l.tenant.Settings.TTLAfterEnded, l.tenant.Settings.LinkLifetime = 48*time.Hour, time.Hour
		l.tenant.Settings.UnjoinedTimeout = time.Minute
	}
	tell(t, short, func(s *story) {
		s.wait(time.Minute)
		s.step("the config keeps them for an hour only", func() { s.tenant.Settings.TTLAfterEnded = 0 })
		s.wait(time.Hour)
	})
}
