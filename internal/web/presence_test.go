// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// prove is what a page does once it is connected: it asks for a session that says so.
func (s *site) prove(t *testing.T, in sessionAnswer) sessionAnswer {
	t.Helper()
	state := s.state(t, in.Session)
	if state.State != sessionLive || state.Session == "" || state.Session == in.Session {
		t.Fatalf("who is in is told %+v", state)
	}
	in.Session = state.Session
	return in
}

// withoutProof is what a page is told, but for its session.
func withoutProof(a answer) string {
	return regexp.MustCompile(`,"session":"[^"]+"`).ReplaceAllString(strings.TrimSpace(a.Body.String()), "")
}

// arrive has a page connect with the token that it was given.
func (s *site) arrive(t *testing.T, in sessionAnswer) answer {
	t.Helper()
	return s.connect(t, "rtc", url.Values{"access_token": {in.Engine.Token}})
}

// doors are all that keeps new participants out of a meeting, or has them wait.
var doors = map[string]func(*meeting.View){
	"locked":         func(v *meeting.View) { v.Locked = true },
	"asking":         asking,
	"with presenter": func(v *meeting.View) { v.Admission = v1alpha1.AdmissionWithPresenter },
	"all of it":      func(v *meeting.View) { asking(v); v.Locked = true },
}

// TestACollectedSessionOpensNoDoor: whatever a session was made with, and however often it is renewed, neither the session nor its access
// token passes a door that is closed after it was made, until its holder has been in.
func TestACollectedSessionOpensNoDoor(t *testing.T) {
	for door, closeIt := range doors {
		for way, request := range map[string]func(*testing.T, *site) object{
			"link":   plain(object{"room": "room", "name": "Ann"}),
			"ticket": func(t *testing.T, s *site) object { return object{"ticket": s.ticket(t, nil)} },
			"hidden": func(t *testing.T, s *site) object {
				return object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Hide = true })}
			},
			"token": func(t *testing.T, s *site) object {
				return object{"room": "room", "name": "Ann", "token": s.token(t, "ann", false)}
			},
			"login": plain(object{"room": "room", "name": "Bob", "username": "bob", "userPassword": "bob"}),
		} {
			t.Run(door+" "+way, func(t *testing.T) {
				s := newSite(t)
				if way == "login" {
					s = newSite(t, withUsers)
				}
				s.upstreamEngine(t)
				v := s.meetings.open("room", func(v *meeting.View) { v.Opened = true })
				ask := request(t, s)
				unused, seen, asked := s.enterWith(t, ask).session(), s.enterWith(t, ask).session(), s.enterWith(t, ask).session()
				// One asks for a proof as pages do, and the other renews the session while they are in. Then both are gone.
				s.engine.people = []engine.Participant{{Identity: seen.You.Identity}, {Identity: asked.You.Identity}}
				seen = s.prove(t, seen)
				asked = s.enterWith(t, again(ask, asked)).session()
				for range 3 {
					if state := s.state(t, unused.Session); state.State != sessionLive || state.Session != "" {
						t.Errorf("who has not been in is told %+v", state)
					}
					unused = s.enterWith(t, again(ask, unused)).session()
				}
				s.engine.people = nil
				closeIt(v)
				if got := s.enterWith(t, again(ask, unused)); got.Code == http.StatusOK {
					t.Errorf("a session that nobody used: %d", got.Code)
				}
				if got := s.arrive(t, unused); got.Code != http.StatusForbidden {
					t.Errorf("an access token that nobody used: %d", got.Code)
				}
				for reason, was := range map[string]sessionAnswer{"a proof": seen, "a session that was renewed inside": asked} {
					for range 2 { // And what comes of it.
						got := s.enterWith(t, again(ask, was))
						if got.Code != http.StatusOK {
							t.Fatalf("%s: %d %s", reason, got.Code, got.Body)
						}
						was = got.session()
						if got := s.arrive(t, was); got.Code != http.StatusOK {
							t.Errorf("%s does not connect: %d", reason, got.Code)
						}
					}
				}
			})
		}
	}
}

// TestNobodyProvesForAnother: a proof is of the session that is shown, and of nothing that is over.
func TestNobodyProvesForAnother(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", func(v *meeting.View) { v.Opened = true })
	in, out := s.inside(t, nil), s.enterWith(t, object{"ticket": s.ticket(t, nil)}).session()
	proof := s.prove(t, in)
	if state := s.state(t, out.Session); state.Session != "" {
		t.Errorf("one who is not in beside one who is: %+v", state)
	}
	if state := s.state(t, proof.Session); state.Session != proof.Session {
		t.Errorf("a proof is renewed: %+v", state)
	}
	v.Locked = true
	hiding := object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Hide = true })}
	if got := s.enterWith(t, again(hiding, proof)); got.Code != http.StatusForbidden {
		t.Errorf("somebody who hides, with the proof of one who is seen: %d", got.Code)
	}
	s.bar(in.You.Identity)
	if state := s.state(t, in.Session); state.State != sessionRemoved || state.Session != "" {
		t.Errorf("one who was removed: %+v", state)
	}
	got := s.enterWith(t, object{"room": "room", "name": "Ann", "session": proof.Session})
	if diff := cmp.Diff(refusedWith(http.StatusForbidden, "NotAllowed"), got.decision()); diff != "" {
		t.Errorf("a proof of one who was removed (-want +got)\n%s", diff)
	}
	v.Ended = true
	if state := s.state(t, in.Session); state.Session != "" {
		t.Errorf("after the end: %+v", state)
	}
}

// TestADecisionHoldsOnTheWayIn: who was let in comes in, also when the meeting is locked meanwhile.
func TestADecisionHoldsOnTheWayIn(t *testing.T) {
	s := newSite(t)
	s.upstreamEngine(t)
	v := s.meetings.open("room", asking)
	ann := object{"room": "room", "name": "Ann"}
	w := s.enterWith(t, ann).waits()
	s.knock(w)
	v.AdmittedUntil = s.now
	in := s.enterWith(t, ann.with(object{"session": w.Session})).session()
	v.Locked = true
	if got := s.arrive(t, in); got.Code != http.StatusOK {
		t.Errorf("on the way in: %d %s", got.Code, got.Body)
	}
	if got := s.enterWith(t, again(ann, in)); got.Code != http.StatusOK {
		t.Errorf("once more: %d %s", got.Code, got.Body)
	}
}
