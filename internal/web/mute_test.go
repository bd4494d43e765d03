// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

func TestAMuteOutlastsComingBack(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", nil)
	paula := s.inside(t, presenting)
	ticket := object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Audio = true })}
	loud := s.enterWith(t, ticket).session()
	s.engine.join(loud.You.Identity)
	if !loud.You.Audio || s.engine.grants[len(s.engine.grants)-1].Forbidden != 0 {
		t.Fatalf("muted before anybody did: %+v", loud.You)
	}
	s.engine.onAct = func() {
		if !v.DecisionOn("", loud.You.Identity).Muted {
			t.Error("muted before it was written down: they could come back between the two")
		}
	}
	got := s.call(t, http.MethodPost, "/session/act", paula.Session, object{"action": "lockMicrophone", "identity": loud.You.Identity})
	if got.Code != http.StatusNoContent {
		t.Fatalf("status %d: %s", got.Code, got.Body)
	}
	for reason, request := range map[string]object{
		"with the session":                    again(ticket, loud),
		"with the ticket, as on a new device": ticket,
	} {
		back := s.enterWith(t, request).session()
		if grant := s.engine.grants[len(s.engine.grants)-1]; back.You.Audio || !grant.Forbidden.Has(engine.Microphone) {
			t.Errorf("%s: %+v, forbidden %v", reason, back.You, grant.Forbidden)
		}
	}
	other := s.enterWith(t, object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Audio = true })}).session()
	if grant := s.engine.grants[len(s.engine.grants)-1]; !other.You.Audio || grant.Forbidden != 0 {
		t.Errorf("another participant: %+v, forbidden %v", other.You, grant.Forbidden)
	}
}

// TestAMuteIsUndone: a participant whom a presenter lets speak again may do so after coming back, too.
func TestAMuteIsUndone(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", nil)
	paula := s.inside(t, presenting)
	ticket := object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Audio = true })}
	in := s.enterWith(t, ticket).session()
	s.engine.join(in.You.Identity)
	act := func(action string) {
		t.Helper()
		got := s.call(t, http.MethodPost, "/session/act", paula.Session, object{"action": action, "identity": in.You.Identity})
		if got.Code != http.StatusNoContent {
			t.Fatalf("%s: status %d: %s", action, got.Code, got.Body)
		}
	}
	act("lockMicrophone")
	s.engine.onAct = func() {
		if v.DecisionOn("", in.You.Identity).Muted {
			t.Error("the engine is asked before it is written down: the controllers would mute once more")
		}
	}
	act("allowToSpeak")
	act("allowToSpeak")
	for reason, request := range map[string]object{"with the session": again(ticket, in), "on a new device": ticket} {
		back := s.enterWith(t, request).session()
		if grant := s.engine.grants[len(s.engine.grants)-1]; !back.You.Audio || grant.Forbidden != 0 {
			t.Errorf("%s: %+v, forbidden %v", reason, back.You, grant.Forbidden)
		}
	}
}

// TestOneMayHaveTheWord: while the microphone is for presenters, one participant may be let speak, and loses that by a mute, by a lock and
// by the next rule.
func TestOneMayHaveTheWord(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", func(v *meeting.View) { v.Opened, v.PresentersOnly = true, engine.Media })
	paula := s.inside(t, presenting)
	s.engine.people = []engine.Participant{
		{Identity: paula.You.Identity, Traits: engine.Traits{Presenter: true, Granted: true}}, {Identity: "ann-1"}, {Identity: "bob-1"},
	}
	for _, taken := range []object{
		{"action": "mute", "identity": "ann-1"}, {"action": "lockMicrophone", "identity": "ann-1"}, {"action": "muteAll"},
		{"action": "policy", "policy": object{"microphone": "Presenters"}},
	} {
		s.act(t, paula.Session, object{"action": "allowToSpeak", "identity": "ann-1"})
		if v.RightsOf(engine.Participant{Identity: "ann-1"}).Forbidden != engine.Camera|engine.Screen || v.RightsOf(engine.Participant{Identity: "bob-1"}).Forbidden != engine.Media {
			t.Errorf("before %v, the two decide %+v", taken, v.Decisions)
		}
		s.act(t, paula.Session, object{"action": "muteAll", "mayUnmute": true})
		if v.RightsOf(engine.Participant{Identity: "ann-1"}).Forbidden.Has(engine.Microphone) {
			t.Error("a mute for the moment takes the word")
		}
		s.act(t, paula.Session, taken)
		if !v.RightsOf(engine.Participant{Identity: "ann-1"}).Forbidden.Has(engine.Microphone) {
			t.Errorf("after %v, ann may speak: %+v", taken, v.Decisions)
		}
	}
}

func TestPresentersAreToldWhoWatches(t *testing.T) {
	s := newSite(t, withUsers)
	s.meetings.open("room", func(v *meeting.View) {
		v.Peers = []v1alpha1.Participant{
			{Identity: "a-1", Name: "Ann"}, {Identity: "w-2", Name: "Will", Hidden: true}, {Identity: "w-3", Name: "Wu", Hidden: true},
		}
	})
	const told = `{"state":"live","hidden":[{"identity":"w-2","name":"Will"},{"identity":"w-3","name":"Wu"}]}`
	const not = `{"state":"live"}`
	paula := s.enterWith(t, object{"room": "room", "name": "Paula", "username": "paula", "userPassword": "paula"}).session()
	for _, tc := range []struct {
		reason, session, want string
	}{
		{"a presenter by ticket", s.inside(t, presenting).Session, told},
		{"a presenter by the tenant's list", paula.Session, told},
		{"no presenter", s.inside(t, nil).Session, not},
		{"one who watches", s.inside(t, func(k *credential.Ticket) { k.Hide = true }).Session, not},
	} {
		got := s.call(t, http.MethodGet, "/session", tc.session, nil)
		if withoutProof(got) != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got.Body, tc.want)
		}
	}
	s.tenant.Users = users("bob")
	if got := s.call(t, http.MethodGet, "/session", paula.Session, nil); withoutProof(got) != not {
		t.Errorf("a presenter who was removed as a user: %s", got.Body)
	}
}

// TestARemovedUserActsNoMore: the session of a user who was removed or changed does nothing any more, though its holder
// may still be in.
func TestARemovedUserActsNoMore(t *testing.T) {
	s := newSite(t, withUsers)
	s.meetings.open("room", nil)
	paula := s.enterWith(t, object{"room": "room", "name": "Paula", "username": "paula", "userPassword": "paula"}).session()
	s.engine.join(paula.You.Identity)
	say := func() int {
		return s.call(t, http.MethodPost, "/session/chat", paula.Session, object{"text": "hello"}).Code
	}
	if code := say(); code != http.StatusNoContent {
		t.Fatalf("before: %d", code)
	}
	acts := len(s.engine.acts)
	for reason, now := range map[string]*credential.Users{"removed": users("bob"), "changed": users("paula", "bob")} {
		s.tenant.Users = now
		if code := say(); code != http.StatusForbidden {
			t.Errorf("%s: %d", reason, code)
		}
		end := s.call(t, http.MethodPost, "/session/act", paula.Session, object{"action": "end"})
		if end.Code != http.StatusForbidden || s.meetings.byRoom["room"].Ended {
			t.Errorf("%s, ending: %d", reason, end.Code)
		}
	}
	if len(s.engine.acts) != acts {
		t.Errorf("something was done: %v", s.engine.acts[acts:])
	}
}

// TestADisplayNameIsNoUsername: who calls themselves as a presenter is called is none.
func TestADisplayNameIsNoUsername(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	for _, request := range []object{
		{"room": "room", "name": "paula"},
		{"room": "room", "name": "paula", "presenter": true, "granted": true, "Username": "x"},
		{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Name = "paula" })},
	} {
		got := s.enterWith(t, request)
		if got.Code == http.StatusOK && got.session().You.Presenter {
			t.Errorf("%v made a presenter", request)
		}
	}
	if who := engine.Identity("paula"); s.engine.grants[0].Identity == who || s.engine.grants[0].Presenter {
		t.Errorf("granted %+v", s.engine.grants[0])
	}
}
