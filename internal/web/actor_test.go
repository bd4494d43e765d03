// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/moderation"
)

// writesOf counts how often Meetings were changed.
func (s *site) writesOf() (n int) {
	for _, call := range s.meetings.calls {
		if call == "change" {
			n++
		}
	}
	return n
}

func (s *site) tryAct(t *testing.T, session string, b object) answer {
	t.Helper()
	return s.call(t, http.MethodPost, "/session/act", session, b)
}

// TestActsOfOneTicketAreCountedTogether: a person can ask for any number of sessions with one ticket, one token or one login.
func TestActsOfOneTicketAreCountedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for way, request := range map[string]func(*site) object{
			"ticket": func(s *site) object { return object{"ticket": s.ticket(t, presenting)} },
			"token":  func(s *site) object { return object{"room": "room", "name": "Ann", "token": s.token(t, "ann", true)} },
		} {
			s := newSite(t)
			s.meetings.open("room", func(v *meeting.View) { v.MaxParticipants = 1000 })
			ask := request(s)
			got := statuses(t, 4*actRate.Burst, func(i int) answer {
				in := s.enterWith(t, ask).session()
				s.engine.join(in.You.Identity)
				return s.tryAct(t, in.Session, object{"action": []string{"lock", "unlock"}[i%2]})
			})
			if got[http.StatusNoContent] != actRate.Burst || s.writesOf() != actRate.Burst {
				t.Errorf("%s: %v, and %d writes", way, got, s.writesOf())
			}
			s.engine.people = nil
		}
	})
}

// TestAMeetingIsWrittenOnlySoOften: many presenters who work together write no more than the meeting may, and anybody can still be
// removed, by whichever presenter.
func TestAMeetingIsWrittenOnlySoOften(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", func(v *meeting.View) { v.MaxParticipants = 1000 })
	eve, honest := s.inside(t, nil), s.inside(t, presenting)
	var victims, presenters []sessionAnswer
	for range 10 {
		victims, presenters = append(victims, s.inside(t, nil)), append(presenters, s.inside(t, presenting))
	}
	got := map[int]int{}
	for n, in := range presenters {
		for status, times := range statuses(t, actRate.Burst-1, func(i int) answer {
			return s.tryAct(t, in.Session, []object{
				{"action": "lock"}, {"action": "unlock"}, {"action": "policy", "policy": object{"chat": "Presenters"}},
				{"action": "mute", "identity": eve.You.Identity}, {"action": "allowToSpeak", "identity": eve.You.Identity},
				{"action": "admission", "admission": "Ask"}, {"action": "admitAll"}, {"action": "admission", "admission": "Open"},
				{"action": "promote", "identity": eve.You.Identity},
			}[i%9])
		}) {
			got[status] += times
		}
		if r := s.tryAct(t, in.Session, object{"action": "remove", "identity": victims[n].You.Identity}); r.Code != http.StatusNoContent {
			t.Fatalf("a removal when the meeting has been written often: %d %s", r.Code, r.Body)
		}
	}
	if got[http.StatusNoContent] != writeRate.Burst || got[http.StatusTooManyRequests] == 0 {
		t.Errorf("the acts of ten presenters: %v, want %d", got, writeRate.Burst)
	}
	if r := s.tryAct(t, honest.Session, object{"action": "remove", "identity": eve.You.Identity}); r.Code != http.StatusNoContent {
		t.Errorf("a removal by another presenter: %d %s", r.Code, r.Body)
	}
	if n := s.writesOf(); n > writeRate.Burst+11 {
		t.Errorf("%d writes", n)
	}
}

// actionBodies are all acts, each about one participant.
func actionBodies(who engine.Identity) (all []object) {
	for _, name := range presenterCommands() {
		all = append(all, object{
			"action": name, "identity": who, "policy": object{"chat": "Everyone"}, "admission": "Open", "text": "hello",
		})
	}
	return all
}

// TestOnlyThoseWhoAreInAct: a session that was collected decides nothing.
func TestOnlyThoseWhoAreInAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		v := s.meetings.open("room", func(v *meeting.View) { v.Opened = true })
		bob := s.inside(t, nil)
		out := s.enterWith(t, object{"ticket": s.ticket(t, presenting)}).session()
		for _, b := range actionBodies(bob.You.Identity) {
			if got := s.tryAct(t, out.Session, b); got.Code != http.StatusForbidden || !strings.Contains(got.Body.String(), errNotIn.Message) {
				t.Errorf("%s: %d %s", b["action"], got.Code, got.Body)
			}
		}
		if s.writesOf() > 0 || len(s.engine.acts) > 0 || v.Ended {
			t.Errorf("something was done: %v, %v", s.meetings.calls, s.engine.acts)
		}
	})
}

// TestNothingIsDecidedAboutInventedUsers: a username is a user's, or of somebody who is there, in the meeting or waiting for it.
func TestNothingIsDecidedAboutInventedUsers(t *testing.T) {
	s := newSite(t, withUsers)
	v := s.meetings.open("room", func(v *meeting.View) { v.Opened = true })
	paula := s.inside(t, presenting)
	asking(v)
	s.engine.people = append(s.engine.people, engine.Participant{Identity: "cem-1", Traits: engine.Traits{Username: "cem"}})
	s.engine.waiting = []engine.Participant{{Identity: "dan-1", Traits: engine.Traits{Username: "dan"}}}
	v.Decisions = []v1alpha1.ParticipantDecision{{Identity: "user:eve", Muted: true}}
	about := 0
	for _, c := range moderation.All() {
		if !c.Page || !c.OnOne {
			continue
		}
		about++
		got := s.tryAct(t, paula.Session, object{"action": c.Name, "identity": fmt.Sprint("user:nobody", about)})
		if got.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", c.Name, got.Code, got.Body)
		}
	}
	if about < 7 || len(v.Decisions) != 1 {
		t.Errorf("%d acts are about one participant, and %v was decided", about, v.Decisions)
	}
	for _, user := range []string{"bob", "cem", "dan", "eve"} {
		if got := s.tryAct(t, paula.Session, object{"action": "remove", "identity": "user:" + user}); got.Code != http.StatusNoContent {
			t.Errorf("%s: %d %s", user, got.Code, got.Body)
		}
	}
	if len(v.Decisions) != 4 {
		t.Errorf("decided is %v", v.Decisions)
	}
}

// TestStateIsAskedWithinALimit: pages ask every few seconds. One session does not ask faster, and all together are one question to the
// media server in a second.
func TestStateIsAskedWithinALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, admission := range []v1alpha1.Admission{v1alpha1.AdmissionAsk, v1alpha1.AdmissionWithPresenter} {
			s := newSite(t)
			v := s.meetings.open("room", func(v *meeting.View) { v.Opened, v.MaxParticipants = true, 1000 })
			one := s.inside(t, presenting)
			got := statuses(t, 2*callRate.Burst, func(int) answer { return s.call(t, http.MethodGet, "/session", one.Session, nil) })
			if got[http.StatusOK] != callRate.Burst || got[http.StatusTooManyRequests] != callRate.Burst {
				t.Errorf("one session: %v", got)
			}
			var sessions []string
			for i := range 50 {
				sessions = append(sessions, s.enterWith(t, object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Presenter = i%2 == 0 })}).session().Session)
			}
			v.Admission = admission
			s.engine.people = nil // The presenter has left, and others wait.
			for range 50 {
				sessions = append(sessions, s.enterWith(t, object{"room": "room", "name": "Cem"}).waits().Session)
			}
			s.engine.waiting = []engine.Participant{{Identity: "dan-1", Traits: engine.Traits{Since: s.now}}}
			s.engine.asked, s.engine.doorAsked = 0, 0
			asks := 0
			for range 10 {
				for _, session := range sessions {
					asks++
					if got := s.call(t, http.MethodGet, "/session", session, nil); got.Code != http.StatusOK {
						t.Fatal(got.Code, got.Body)
					}
				}
			}
			if lists := s.engine.asked + s.engine.doorAsked; lists > 2 { // One of each room: no time passes.
				t.Errorf("%s: %d questions are %d lists", admission, asks, lists)
			}
		}
	})
}
