// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/moderation"
)

// decide writes a decision about one who is in, and carries it out as the leader does.
func (s *site) decide(t *testing.T, d v1alpha1.ParticipantDecision) {
	t.Helper()
	v := s.meetings.byRoom["room"]
	v.Decisions = append(v.Decisions, d)
	for _, p := range s.engine.people {
		if action := v.Correction(p); action != nil {
			if err := s.engine.Act(t.Context(), v.EngineRoom, action); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRank: a presenter who was promoted in the room does nothing to one who outranks them that outlasts the moment, and gives nobody a rank
// above the own. Presenters who came as such may do everything to everybody.
func TestRank(t *testing.T) {
	// decided is what the REST API or kubectl has decided about one who came without the role.
	decided := func(d v1alpha1.ParticipantDecision) func(*testing.T, *site) sessionAnswer {
		return func(t *testing.T, s *site) sessionAnswer {
			in := s.enterWith(t, object{"ticket": s.ticket(t, nil)}).session()
			s.engine.join(in.You.Identity)
			d.Identity = string(in.You.Identity)
			s.decide(t, d)
			return in
		}
	}
	byTicket := func(t *testing.T, s *site) sessionAnswer { return s.inside(t, presenting) }
	promoted := decided(v1alpha1.ParticipantDecision{Role: v1alpha1.RolePresenter, Promoted: true})
	type people map[string]func(*testing.T, *site) sessionAnswer
	above := people{
		"one with a link": byTicket,
		"one with a token": func(t *testing.T, s *site) sessionAnswer {
			in := s.enterWith(t, object{"room": "room", "name": "Ann", "token": s.token(t, "paula", true)}).session()
			s.engine.join(in.You.Identity)
			return in
		},
		"a user whom the tenant lists": func(t *testing.T, s *site) sessionAnswer {
			s.tenant.Presenters = map[string]bool{"paula": true}
			in := s.enterWith(t, object{"room": "room", "name": "Ann", "token": s.token(t, "paula", false)}).session()
			s.engine.join(in.You.Identity)
			return in
		},
		"one by the API": decided(v1alpha1.ParticipantDecision{Role: v1alpha1.RolePresenter}),
	}
	below := people{
		"a participant":        decided(v1alpha1.ParticipantDecision{Muted: true}),
		"another who was made": promoted,
		"a presenter no longer": func(t *testing.T, s *site) sessionAnswer {
			in := s.inside(t, presenting)
			s.decide(t, v1alpha1.ParticipantDecision{Identity: string(in.You.Identity), Role: v1alpha1.RoleParticipant})
			return in
		},
	}
	acts := []string{"mute", "lockMicrophone", "allowToSpeak", "remove", "refuse", "promote", "demote", "admit", "lowerHand", "ban", "stopCamera", "lockCamera", "allowCamera"}
	lasting := []string{"lockMicrophone", "remove", "refuse", "promote", "demote", "ban", "lockCamera"}
	try := func(who, whom string, by, to func(*testing.T, *site) sessionAnswer, refused func(act string) bool) {
		for _, act := range acts {
			t.Run(fmt.Sprintf("%s of %s by %s", act, whom, who), func(t *testing.T) {
				s := newSite(t)
				v := s.meetings.open("room", func(v *meeting.View) { v.Opened = true })
				actor, target := by(t, s), to(t, s)
				before, people := slices.Clone(v.Decisions), slices.Clone(s.engine.people)
				got := s.call(t, http.MethodPost, "/session/act", actor.Session, object{"action": act, "identity": target.You.Identity})
				if !refused(act) {
					if got.Code != http.StatusNoContent {
						t.Errorf("status %d: %s", got.Code, got.Body)
					}
					return
				}
				if got.Code != http.StatusForbidden {
					t.Errorf("status %d: %s", got.Code, got.Body)
				}
				if !reflect.DeepEqual(before, v.Decisions) || !reflect.DeepEqual(people, s.engine.people) {
					t.Errorf("decisions are %+v, and were %+v", v.Decisions, before)
				}
			})
		}
	}
	never := func(string) bool { return false }
	for whom, to := range above {
		try("one who was promoted", whom, promoted, to, func(act string) bool { return slices.Contains(lasting, act) })
		for who, by := range above {
			if who == "one with a link" || who == "one by the API" {
				try(who, whom, by, to, never)
			}
		}
	}
	for whom, to := range below {
		try("one with a link", whom, byTicket, to, never)
		try("one who was promoted", whom, promoted, to, func(act string) bool { return act == "promote" && whom == "a presenter no longer" })
	}
}

// TestAPromotedPresenterDecidesOnlyAboutWhoIsThere: as what one comes who is away, or all who come as a user, nobody can say.
func TestAPromotedPresenterDecidesOnlyAboutWhoIsThere(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", func(v *meeting.View) { v.Opened = true })
	s.tenant.Presenters = map[string]bool{"paula": true}
	host := s.inside(t, presenting)
	s.decide(t, v1alpha1.ParticipantDecision{Identity: string(host.You.Identity), Admitted: true})
	s.engine.people = nil // Paula reloads the page.
	made := s.inside(t, nil)
	s.decide(t, v1alpha1.ParticipantDecision{Identity: string(made.You.Identity), Role: v1alpha1.RolePresenter, Promoted: true})
	before := slices.Clone(v.Decisions)
	for _, who := range []engine.Identity{host.You.Identity, "user:paula"} {
		for _, act := range []string{"remove", "demote", "lockMicrophone"} {
			if got := s.call(t, http.MethodPost, "/session/act", made.Session, object{"action": act, "identity": who}); got.Code < 400 {
				t.Errorf("%s %s: %d", act, who, got.Code)
			}
		}
	}
	if !reflect.DeepEqual(before, v.Decisions) {
		t.Errorf("decisions are %+v", v.Decisions)
	}
}

// TestPromotionInTheRoomIsOfLowerRank: the page's act and its answers say so, and what it undoes is as it was before.
func TestPromotionInTheRoomIsOfLowerRank(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", func(v *meeting.View) { v.Opened = true })
	host, other := s.inside(t, presenting), s.inside(t, presenting)
	ann := s.inside(t, nil)
	rights := func(of sessionAnswer) engine.Rights {
		p := s.engine.people[slices.IndexFunc(s.engine.people, func(p engine.Participant) bool { return p.Identity == of.You.Identity })]
		return p.Rights()
	}
	s.act(t, host.Session, object{"action": "promote", "identity": ann.You.Identity})
	if got := rights(ann); !got.Promoted || !got.Presenter {
		t.Errorf("one who was promoted: %+v", got)
	}
	s.act(t, host.Session, object{"action": "demote", "identity": other.You.Identity})
	s.act(t, host.Session, object{"action": "promote", "identity": other.You.Identity})
	if got := rights(other); got.Promoted || !got.Presenter {
		t.Errorf("a presenter who was demoted and promoted again: %+v", got)
	}
	v.Peers = []v1alpha1.Participant{{Identity: "watcher-1", Name: "W", Hidden: true, Presenter: true}, {Identity: "watcher-2", Name: "X", Hidden: true}}
	for who, want := range map[string]string{
		ann.Session:  `"hidden":[{"identity":"watcher-1","name":"W","outranks":true},{"identity":"watcher-2","name":"X"}]`,
		host.Session: `"hidden":[{"identity":"watcher-1","name":"W"},{"identity":"watcher-2","name":"X"}]`,
	} {
		if got := s.call(t, http.MethodGet, "/session", who, nil).Body.String(); !strings.Contains(got, want) {
			t.Errorf("the page reads %s, not %s", got, want)
		}
	}
}

// Another replica has given a presenter the role back a moment ago: a replica whose cache is behind takes the presenter for one who outranks.
func TestRankIsWhatTheClusterHas(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", func(v *meeting.View) { v.Opened = true })
	in := s.inside(t, presenting)
	made := s.inside(t, nil).You.Identity
	s.decide(t, v1alpha1.ParticipantDecision{Identity: string(made), Role: v1alpha1.RolePresenter, Promoted: true})
	behind := *v
	behind.Decisions = []v1alpha1.ParticipantDecision{{Identity: string(in.You.Identity), Role: v1alpha1.RoleParticipant}}
	do := func(by engine.Identity, order moderation.Order) {
		t.Helper()
		before := slices.Clone(v.Decisions)
		order.By = &moderation.Actor{Identity: by}
		_, err := moderation.New(s.meetings, admission.New(s.meetings)).Do(t.Context(), s.tenant, behind, order)
		if !fault.Is(err, fault.KindDenied) || !reflect.DeepEqual(before, v.Decisions) {
			t.Errorf("the act is allowed: %v, decisions %+v", err, v.Decisions)
		}
	}
	for _, act := range []string{"remove", "lockMicrophone", "demote", "promote"} {
		do(made, moderation.Order{Commands: []string{act}, To: in.You.Identity})
	}
	// The presenter has lost the role in the same moment.
	s.decide(t, v1alpha1.ParticipantDecision{Identity: string(made), Role: v1alpha1.RoleParticipant})
	v.Decisions = slices.DeleteFunc(v.Decisions, func(d v1alpha1.ParticipantDecision) bool { return d.Identity == string(made) && d.Promoted })
	behind.Decisions = append(behind.Decisions, v1alpha1.ParticipantDecision{Identity: string(made), Role: v1alpha1.RolePresenter})
	do(made, moderation.Order{Commands: []string{"lock"}})
	do(made, moderation.Order{Commands: []string{"allowToSpeak"}, To: in.You.Identity})
}
