// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// withPeople adds participants to those who are in: Ada reads the chat, Wilma watches unseen, Mute has no chat. Walt waits.
func (s *site) withPeople() {
	s.engine.people = append(s.engine.people,
		engine.Participant{Identity: "ada-1", Name: "Ada", Traits: engine.Traits{Chat: true}},
		engine.Participant{Identity: "wilma-1", Name: "Wilma", Traits: engine.Traits{Chat: true, Hidden: true}},
		engine.Participant{Identity: "mute-1", Name: "Mute"},
	)
	s.engine.waiting = append(s.engine.waiting, engine.Participant{
		Identity: "walt-1", Name: "Walt", Traits: engine.Traits{Chat: true, Since: s.now},
	})
}

func TestPrivateMessage(t *testing.T) {
	toAda := object{"text": "<psst> & hush", "to": "ada-1"}
	to := func(who any) object { return toAda.with(object{"to": who}) }
	forPresenters := func(s *site) { s.meetings.byRoom["room"].PresentersOnly = engine.Chat }
	for _, c := range []struct {
		reason string
		ticket func(*credential.Ticket)
		given  func(*site)
		body   any
		status int
	}{
		{"to one who reads the chat", nil, nil, toAda, http.StatusOK},
		{"to one who is not there", nil, nil, to("eve-1"), http.StatusNotFound},
		{"to one who watches unseen", nil, nil, to("wilma-1"), http.StatusNotFound},
		{"to one without chat", nil, nil, to("mute-1"), http.StatusNotFound},
		{"to one who waits", nil, nil, to("walt-1"), http.StatusNotFound},
		{"to nobody", nil, nil, to(""), http.StatusNotFound},
		{"to a number", nil, nil, to(1), http.StatusBadRequest},
		{"to several", nil, nil, to([]string{"ada-1"}), http.StatusBadRequest},
		{"with chat off", func(k *credential.Ticket) { k.Chat = false }, nil, toAda, http.StatusForbidden},
		{"of one who watches unseen", func(k *credential.Ticket) { k.Hide = true }, nil, toAda, http.StatusForbidden},
		{"of one who is not in", nil, func(s *site) { s.engine.people = s.engine.people[1:] }, toAda, http.StatusForbidden},
		{"where only presenters write", nil, forPresenters, toAda, http.StatusForbidden},
		{"of a presenter where only presenters write", presenting, forPresenters, toAda, http.StatusOK},
		{"blanks", nil, nil, toAda.with(object{"text": " "}), http.StatusBadRequest},
		{"4,001 characters", nil, nil, toAda.with(object{"text": strings.Repeat("é", 4001)}), http.StatusBadRequest},
		{"the engine away", nil, func(s *site) { s.engine.err = fault.Unavailable("away") }, toAda, http.StatusServiceUnavailable},
	} {
		t.Run(c.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t)
				s.meetings.open("room", nil)
				in := s.inside(t, c.ticket)
				s.withPeople()
				if c.given != nil {
					c.given(s)
				}
				got := s.call(t, http.MethodPost, "/session/chat", in.Session, c.body)
				if got.Code != c.status {
					t.Fatalf("status %d, want %d: %s", got.Code, c.status, got.Body)
				}
				if got.Code != http.StatusOK {
					if acts := append(s.engine.acts, s.engine.doorActs...); len(acts) > 0 {
						t.Errorf("said: %v", acts)
					}
					return
				}
				var m chatMessage
				got.into(&m)
				payload, err := encodePlainly(m)
				if err != nil {
					t.Fatal(err)
				}
				// Nobody else gets it, and its author gets it as it was sent.
				want := []engine.Action{engine.Announce{Topic: "convene.chat", Payload: payload, To: "ada-1"}}
				if diff := cmp.Diff(want, s.engine.acts); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if m.ID == "" {
					t.Error("a message without an id")
				}
				m.ID = ""
				said := chatMessage{From: in.You.Identity, Name: "Tina", Text: "<psst> & hush", At: s.now, To: "ada-1", ToName: "Ada"}
				if diff := cmp.Diff(said, m); diff != "" { // It has no stamp.
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		})
	}
}

// TestAPrivateMessageFindsNobodyWhoWatches: the answer is the same, to the letter, for one who watches unseen and one who is not there.
func TestAPrivateMessageFindsNobodyWhoWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.meetings.open("room", nil)
		in := s.inside(t, nil)
		s.withPeople()
		answers := map[string]bool{}
		for _, who := range []string{"eve-1", "wilma-1", "mute-1", "walt-1"} {
			got := s.call(t, http.MethodPost, "/session/chat", in.Session, object{"text": "psst", "to": who})
			answers[got.Body.String()] = got.Code == http.StatusNotFound
		}
		if len(answers) != 1 {
			t.Errorf("they answer differently: %v", answers)
		}
		self := s.call(t, http.MethodPost, "/session/chat", in.Session, object{"text": "psst", "to": in.You.Identity})
		if self.Code != http.StatusBadRequest || len(s.engine.acts) > 0 {
			t.Errorf("to oneself: status %d: %s", self.Code, self.Body)
		}
	})
}

func TestPrivateMessagesAreLimited(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	in := s.inside(t, nil)
	s.withPeople()
	got := statuses(t, callRate.Burst+3, func(int) answer {
		return s.call(t, http.MethodPost, "/session/chat", in.Session, object{"text": "psst", "to": "ada-1"})
	})
	if got[http.StatusOK] != callRate.Burst || got[http.StatusTooManyRequests] != 3 {
		t.Errorf("%v", got)
	}
}

// TestAPrivateMessageIsNotPassedOn: nobody who comes late reads it, and no public message becomes a private one on the way.
func TestAPrivateMessageIsNotPassedOn(t *testing.T) {
	s, early, late := meet(t)
	public := s.says(t, early.Session, "public")
	s.engine.people[0].Chat = true
	s.now = s.now.Add(time.Second)
	var private chatMessage
	s.call(t, http.MethodPost, "/session/chat", late.Session, object{"text": "private", "to": early.You.Identity}).into(&private)
	if private.Text != "private" || private.To != early.You.Identity {
		t.Fatalf("sent %+v", private)
	}
	with := func(m chatMessage, change func(*chatMessage)) chatMessage {
		change(&m)
		return m
	}
	request := s.asks(t, late.Session, early.You.Identity)
	for reason, m := range map[string]chatMessage{
		"a private message":                  private,
		"one with the stamp of another":      with(private, func(m *chatMessage) { m.Stamp = public.Stamp }),
		"one that is said to be public":      with(private, func(m *chatMessage) { m.To, m.ToName, m.Stamp = "", "", public.Stamp }),
		"a public one as a private one":      with(public, func(m *chatMessage) { m.To, m.ToName = late.You.Identity, "Tina" }),
		"a public one to the name of anyone": with(public, func(m *chatMessage) { m.ToName = "Tina" }),
	} {
		s.engine.acts = nil
		s.now = s.now.Add(time.Second)
		if got := s.passesOn(t, early.Session, request, m); got.Code != http.StatusNoContent {
			t.Fatalf("%s: status %d: %s", reason, got.Code, got.Body)
		}
		if got := s.received(t, late.You.Identity); len(got) != 1 || len(got[0].Messages) != 0 {
			t.Errorf("%s was passed on: %+v", reason, got)
		}
	}
}
