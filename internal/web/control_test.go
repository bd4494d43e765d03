// SPDX-License-Identifier: Apache-2.0

package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// act has a presenter do something, which has to go well.
// act returns the answer's body.
func (s *site) act(t *testing.T, session string, b object) string {
	t.Helper()
	got := s.call(t, http.MethodPost, "/session/act", session, b)
	if got.Code != http.StatusNoContent && got.Code != http.StatusOK {
		t.Fatalf("%v: status %d: %s", b, got.Code, got.Body)
	}
	return strings.TrimSpace(got.Body.String())
}

// TestALockLetsNobodyNewIn: those who were in come back, presenters and those who were admitted enter, and all others are told.
func TestALockLetsNobodyNewIn(t *testing.T) {
	s := newSite(t)
	ann := object{"room": "room", "name": "Ann"}
	s.meetings.open("room", nil)
	before := s.enterWith(t, ann).session()
	s.engine.join(before.You.Identity)
	before = s.prove(t, before)
	v := s.meetings.open("room", func(v *meeting.View) { v.Lineage = "lineage-1" }) // Continues it.
	s.engine.people = nil                                                           // Nobody is in the next meeting yet.
	was := s.enterWith(t, ann).session()
	s.engine.join(was.You.Identity)
	was = s.prove(t, was)
	v.Locked = true
	locked, in := refusedWith(http.StatusForbidden, "Locked"), letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}})
	admitted := object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Name = "Ann" })}
	v.Locked = false
	guest := s.enterWith(t, admitted).session().You.Identity
	v.Locked = true
	v.Decisions = []v1alpha1.ParticipantDecision{{Identity: string(guest), Admitted: true}}
	presenter := letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true, Presenter: true}})
	for _, c := range []struct {
		reason string
		ask    object
		want   decision
	}{
		{"a guest", ann, locked},
		{"a ticket", object{"ticket": s.ticket(t, nil)}, locked},
		{"one who hides", object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Hide = true })}, locked},
		{"one who was in", again(ann, was), in},
		{"one who was in the meeting before", again(ann, before), locked},
		{"one who was admitted", admitted, in},
		{"a presenter", object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Name, k.Presenter = "Ann", true })}, presenter},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if diff := cmp.Diff(c.want, s.enterWith(t, c.ask).decision()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestAPolicyIsInTheAccessToken: what only presenters may do is not in the token of others, nor on in their page.
func TestAPolicyIsInTheAccessToken(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", func(v *meeting.View) { v.PresentersOnly = engine.Microphone | engine.Screen | engine.Chat })
	all := func(k *credential.Ticket) { k.Audio, k.Video, k.Screen = true, true, true }
	guest := s.enterWith(t, object{"ticket": s.ticket(t, all)}).session()
	grant := s.engine.grants[len(s.engine.grants)-1]
	if grant.Forbidden != engine.Microphone|engine.Screen|engine.Chat || guest.You.Audio || guest.You.Screen || !guest.You.Video {
		t.Errorf("a guest is %+v, granted %+v", guest.You, grant)
	}
	paula := s.enterWith(t, object{"ticket": s.ticket(t, func(k *credential.Ticket) { all(k); presenting(k) })}).session()
	grant = s.engine.grants[len(s.engine.grants)-1]
	if grant.Forbidden != 0 || !paula.You.Audio || !paula.You.Screen {
		t.Errorf("a presenter is %+v, granted %+v", paula.You, grant)
	}
	s.engine.join(guest.You.Identity)
	s.engine.join(paula.You.Identity)
	for _, c := range []struct {
		who    sessionAnswer
		status int
	}{{guest, http.StatusForbidden}, {paula, http.StatusNoContent}} {
		if got := s.call(t, http.MethodPost, "/session/chat", c.who.Session, object{"text": "hello"}); got.Code != c.status {
			t.Errorf("%s writes: %d, want %d: %s", c.who.You.Name, got.Code, c.status, got.Body)
		}
	}
}

// TestAnOldTokenGivesNoOldRights: the engine takes a token for minutes after what it says was taken back.
func TestAnOldTokenGivesNoOldRights(t *testing.T) {
	s := newSite(t)
	arrived := s.upstreamEngine(t)
	v := s.meetings.open("room", nil)
	token := accessTo(t, v.EngineRoom, "origin-ann")
	v.PresentersOnly = engine.Camera
	v.Decisions = []v1alpha1.ParticipantDecision{{Identity: "origin-other", Muted: true}}
	if got := s.connect(t, "rtc", url.Values{"access_token": {token}}); got.Code != http.StatusOK {
		t.Fatalf("status %d: %s", got.Code, got.Body)
	}
	want := engine.Rights{Forbidden: engine.Camera | engine.Microphone, Held: engine.Microphone}
	if diff := cmp.Diff([]engine.Rights{want}, s.engine.limited); diff != "" {
		t.Errorf("rights (-want +got)\n%s", diff)
	}
	if sent := (*arrived)[0].URL.Query().Get("access_token"); sent == "" || sent == token {
		t.Errorf("the engine is sent %q", sent)
	}
}

// TestRolesChange: one who was promoted may do what presenters may, until it is taken back, and no role of their own can be taken.
func TestRolesChange(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", nil)
	paula := s.inside(t, presenting)
	ticket := object{"ticket": s.ticket(t, nil)}
	ann := s.enterWith(t, ticket).session()
	s.engine.join(ann.You.Identity)
	lock := object{"action": "lock"}
	if got := s.call(t, http.MethodPost, "/session/act", ann.Session, lock); got.Code != http.StatusForbidden {
		t.Fatalf("before: %d", got.Code)
	}
	s.act(t, paula.Session, object{"action": "promote", "identity": ann.You.Identity})
	s.act(t, ann.Session, lock)
	if !v.Locked {
		t.Error("it is not locked")
	}
	if back := s.enterWith(t, again(ticket, ann)).session(); !back.You.Presenter {
		t.Errorf("after coming back: %+v", back.You)
	}
	if grant := s.engine.grants[len(s.engine.grants)-1]; !grant.Presenter || grant.Granted || !grant.Promoted {
		t.Errorf("granted %+v", grant)
	}
	if got := s.call(t, http.MethodPost, "/session/act", ann.Session, object{"action": "demote", "identity": ann.You.Identity}); got.Code != http.StatusBadRequest {
		t.Errorf("one's own role: %d", got.Code)
	}
	s.act(t, s.inside(t, presenting).Session, object{"action": "demote", "identity": paula.You.Identity})
	for _, b := range []object{lock, {"action": "promote", "identity": paula.You.Identity}, {"action": "end"}} {
		if got := s.call(t, http.MethodPost, "/session/act", paula.Session, b); got.Code != http.StatusForbidden {
			t.Errorf("%v by one who is no presenter any more: %d", b, got.Code)
		}
	}
}

// TestWhatPresentersDecideForAll: each action is written first, and then done to all whom it concerns, and to no others.
func TestWhatPresentersDecideForAll(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", func(v *meeting.View) { v.Opened = true })
	paula := s.inside(t, presenting)
	s.engine.people = []engine.Participant{
		{Identity: paula.You.Identity, Audio: true, Traits: engine.Traits{Presenter: true, Granted: true}},
		{Identity: "ann-1", Audio: true}, {Identity: "bob-1"},
	}
	did := func(b object) []engine.Action {
		t.Helper()
		s.engine.acts = nil
		s.act(t, paula.Session, b)
		return s.engine.acts
	}
	set := func(who engine.Identity) engine.Action {
		return engine.SetRights{Who: who, Rights: engine.Rights{Forbidden: engine.Microphone}}
	}
	if diff := cmp.Diff([]engine.Action{engine.Mute{Who: "ann-1", What: engine.Microphone}}, did(object{"action": "muteAll", "mayUnmute": true})); diff != "" || v.PresentersOnly != 0 {
		t.Errorf("muted for the moment, policy %b (-want +got)\n%s", v.PresentersOnly, diff)
	}
	if got := s.act(t, paula.Session, object{"action": "muteAll", "mayUnmute": true}); got != `{"muted":1}` {
		t.Errorf("the presenter who has muted all is told %s", got)
	}
	got := did(object{"action": "muteAll"})
	if len(got) != 3 || got[0] != (engine.Tell{State: v.State()}) || v.PresentersOnly != engine.Microphone {
		t.Errorf("muted for good, policy %b: %v", v.PresentersOnly, got)
	}
	for _, who := range []engine.Identity{"ann-1", "bob-1"} {
		if got[1] != set(who) && got[2] != set(who) {
			t.Errorf("%s may speak: %v", who, got)
		}
	}
	did(object{"action": "policy", "policy": object{"chat": "Presenters", "microphone": "Everyone"}})
	did(object{"action": "lock"})
	if v.PresentersOnly != engine.Chat || !v.Locked {
		t.Errorf("policy %b, locked %t", v.PresentersOnly, v.Locked)
	}
	did(object{"action": "unlock"})
	if v.Locked {
		t.Error("it is locked")
	}
	said := did(object{"action": "announce", "text": " Five minutes left "})
	if a, ok := said[0].(engine.Announce); !ok || a.To != "" || a.Topic != "convene.notice" || !strings.Contains(string(a.Payload), `"text":"Five minutes left","name":"`+paula.You.Name+`"`) {
		t.Errorf("announced %v", said)
	}
	said = did(object{"action": "announce", "text": "x", "identity": "ann-1"})
	if a, ok := said[0].(engine.Announce); !ok || a.To != "ann-1" || !strings.Contains(string(a.Payload), `"toYou":true`) {
		t.Errorf("announced to one %v", said)
	}
	for _, b := range []object{
		{"action": "policy"}, {"action": "policy", "policy": object{"chat": "Friends"}}, {"action": "announce"},
		{"action": "announce", "text": strings.Repeat("x", 501)}, {"action": "promote"},
	} {
		if got := s.call(t, http.MethodPost, "/session/act", paula.Session, b); got.Code != http.StatusBadRequest {
			t.Errorf("%v: %d", b, got.Code)
		}
	}
	s.engine.err = fault.Unavailable("away")
	if got := s.call(t, http.MethodPost, "/session/act", paula.Session, object{"action": "lock"}); got.Code != http.StatusAccepted || !v.Locked {
		t.Errorf("with the engine away: %d, locked %t: the controllers see to the rest", got.Code, v.Locked)
	}
}

// TestARemovalNeedsNoList: participants can have the media server keep so much about them that a list of them is too long to be read.
func TestARemovalNeedsNoList(t *testing.T) {
	for name, err := range map[string]error{"a list that is too long": fault.As(errors.New("too long")), "no list": fault.Unavailable("away")} {
		s := newSite(t)
		v := s.meetings.open("room", func(v *meeting.View) { v.Admission = v1alpha1.AdmissionAsk })
		paula, eve := s.inside(t, presenting), s.inside(t, presenting)
		s.engine.acts, s.engine.doorActs, s.engine.listErr = nil, nil, err
		got := s.call(t, http.MethodPost, "/session/act", paula.Session, object{"action": "remove", "identity": eve.You.Identity})
		if got.Code != http.StatusAccepted || !v.DecisionOn("", eve.You.Identity).Removed {
			t.Errorf("%s: %d %s, and removed %+v", name, got.Code, got.Body, v.Decisions)
		}
		want := []engine.Action{engine.Remove{Who: eve.You.Identity}}
		if diff := cmp.Diff(slices.Concat(want, want), slices.Concat(s.engine.acts, s.engine.doorActs)); diff != "" {
			t.Errorf("%s: in the meeting, and before it (-want +got)\n%s", name, diff)
		}
		if got := s.call(t, http.MethodPost, "/session/chat", eve.Session, object{"text": "still here"}); got.Code != http.StatusForbidden {
			t.Errorf("%s: then Eve writes: %d %s", name, got.Code, got.Body)
		}
		if got := s.call(t, http.MethodPost, "/session/act", paula.Session, object{"action": "mute", "identity": "nobody-1"}); got.Code < http.StatusBadRequest {
			t.Errorf("%s: a mute of somebody unknown: %d", name, got.Code)
		}
	}
}
