// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// says makes a participant write, and returns what the others receive.
func (s *site) says(t testing.TB, session, text string) chatMessage {
	t.Helper()
	s.now = s.now.Add(time.Second)
	if got := s.call(t, http.MethodPost, "/session/chat", session, object{"text": text}); got.Code != http.StatusNoContent {
		t.Fatalf("status %d: %s", got.Code, got.Body)
	}
	var m chatMessage
	unpack(t, s.engine.acts[len(s.engine.acts)-1].(engine.Say).Payload, &m)
	return m
}

func unpack(t testing.TB, payload []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(payload, into); err != nil {
		t.Fatalf("%v: %s", err, payload)
	}
}

// asks makes one participant ask another, and returns what the other receives.
func (s *site) asks(t testing.TB, session string, from engine.Identity) historyRequest {
	t.Helper()
	got := s.call(t, http.MethodPost, "/session/history", session, object{"from": from})
	if got.Code != http.StatusNoContent {
		t.Fatalf("status %d: %s", got.Code, got.Body)
	}
	sent := s.engine.acts[len(s.engine.acts)-1].(engine.Announce)
	if sent.To != from || sent.Topic != "convene.chat.request" {
		t.Fatalf("asked %q on %s", sent.To, sent.Topic)
	}
	var request historyRequest
	unpack(t, sent.Payload, &request)
	return request
}

func (s *site) passesOn(t testing.TB, session string, r historyRequest, messages ...chatMessage) answer {
	t.Helper()
	return s.call(t, http.MethodPost, "/session/history/messages", session, passedHistory{r, messages})
}

// received are the packets that one participant has received by now.
func (s *site) received(t testing.TB, who engine.Identity) []historyPacket {
	t.Helper()
	var all []historyPacket
	for _, a := range s.engine.acts {
		if a, ok := a.(engine.Announce); ok && a.Topic == "convene.chat.history" {
			if a.To != who {
				t.Errorf("messages for %s were sent to %q", who, a.To)
			}
			var p historyPacket
			unpack(t, a.Payload, &p)
			all = append(all, p)
		}
	}
	return all
}

// meet makes a site with one who was there before and one who comes late.
func meet(t testing.TB, change ...func(*tenant.Tenant)) (s *site, early, late sessionAnswer) {
	s = newSite(t, change...)
	s.meetings.open("room", nil)
	for _, in := range []*sessionAnswer{&early, &late} {
		*in = s.enterWith(t, object{"ticket": s.ticket(t, nil)}).session()
		s.engine.join(in.You.Identity)
	}
	return s, early, late
}

func TestALateArrivalReadsWhatWasWritten(t *testing.T) {
	s, early, late := meet(t)
	one, two := s.says(t, early.Session, "<one> é"), s.says(t, early.Session, "two")
	request := s.asks(t, late.Session, early.You.Identity)
	// In a wrong order, and one of it twice.
	if got := s.passesOn(t, early.Session, request, two, one, two); got.Code != http.StatusNoContent {
		t.Fatalf("status %d: %s", got.Code, got.Body)
	}
	want := []historyPacket{{Messages: []chatMessage{one, two}, Last: true}}
	if diff := cmp.Diff(want, s.received(t, late.You.Identity)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestAnotherReplicaPassesMessagesOn: neither has anything in common with the other but the tenant's keys.
func TestAnotherReplicaPassesMessagesOn(t *testing.T) {
	s, early, late := meet(t)
	one := s.says(t, early.Session, "one")
	other := mustHandler(t, s, Options{Tenants: fakeTenants{s.tenant}})
	request := s.asks(t, late.Session, early.You.Identity)
	s.router = s.route(other)
	if got := s.passesOn(t, early.Session, request, one); got.Code != http.StatusNoContent {
		t.Fatalf("status %d: %s", got.Code, got.Body)
	}
	if got := s.received(t, late.You.Identity); len(got) != 1 || len(got[0].Messages) != 1 {
		t.Errorf("received %+v", got)
	}
}

func TestNoWordsAreForgedInAHistory(t *testing.T) {
	s, early, late := meet(t)
	one := s.says(t, early.Session, "one")
	elsewhere := one
	elsewhere.Stamp = stampedFor(t, s.tenant.Signer, elsewhere, "uid-2")
	foreign, _ := credential.NewSigner("convene/ns/other", map[string][]byte{"1": []byte(strings.Repeat("x", 64))})
	otherTenant := one
	otherTenant.Stamp = stampedFor(t, foreign, otherTenant, "uid-1")
	with := func(change func(*chatMessage)) chatMessage {
		m := one
		change(&m)
		return m
	}
	request := s.asks(t, late.Session, early.You.Identity)
	for reason, m := range map[string]chatMessage{
		"of another meeting":  elsewhere,
		"of another tenant":   otherTenant,
		"of another author":   with(func(m *chatMessage) { m.From = late.You.Identity }),
		"under another name":  with(func(m *chatMessage) { m.Name = "Eve" }),
		"with other words":    with(func(m *chatMessage) { m.Text = "I agree" }),
		"at another time":     with(func(m *chatMessage) { m.At = m.At.Add(-time.Hour) }),
		"as another message":  with(func(m *chatMessage) { m.ID = "other" }),
		"without a stamp":     with(func(m *chatMessage) { m.Stamp = "" }),
		"with the request's":  with(func(m *chatMessage) { m.Stamp = request.Stamp }),
		"that nobody wrote":   {ID: "x", From: early.You.Identity, Name: "Tina", Text: "x", At: s.now, Stamp: one.Stamp},
		"of nobody, no words": {},
	} {
		s.engine.acts = nil
		s.now = s.now.Add(time.Second)
		if got := s.passesOn(t, early.Session, request, m); got.Code != http.StatusNoContent {
			t.Fatalf("%s: status %d: %s", reason, got.Code, got.Body)
		}
		if got := s.received(t, late.You.Identity); len(got) != 1 || len(got[0].Messages) != 0 || !got[0].Last {
			t.Errorf("a message %s was passed on: %+v", reason, got)
		}
	}
}

func stampedFor(t testing.TB, signer *credential.Signer, m chatMessage, meeting string) string {
	t.Helper()
	stamp, err := signer.StampMessage(m.of(meeting), m.At)
	if err != nil {
		t.Fatal(err)
	}
	return stamp
}

// TestWhoAsksForMessages: nobody who does not read the chat, is hidden or waits, and of nobody in particular.
func TestWhoAsksForMessages(t *testing.T) {
	for _, c := range []struct {
		reason string
		ticket func(*credential.Ticket)
		given  func(*site)
		body   object
		status int
	}{
		{"with chat on", nil, nil, object{"from": "ann-1"}, http.StatusNoContent},
		{"with chat off", func(k *credential.Ticket) { k.Chat = false }, nil, object{"from": "ann-1"}, http.StatusForbidden},
		{"hidden", func(k *credential.Ticket) { k.Hide = true }, nil, object{"from": "ann-1"}, http.StatusForbidden},
		{"where only presenters write", nil, func(s *site) {
			s.meetings.byRoom["room"].PresentersOnly = engine.Chat
		}, object{"from": "ann-1"}, http.StatusNoContent},
		{"where the tenant shows none", nil, func(s *site) { s.tenant.ChatHidden = true }, object{"from": "ann-1"}, http.StatusForbidden},
		{"a participant who is not in", nil, func(s *site) { s.engine.people = nil }, object{"from": "ann-1"}, http.StatusForbidden},
		{"of nobody", nil, nil, object{"from": ""}, http.StatusBadRequest},
		{"of everybody", nil, nil, object{}, http.StatusBadRequest},
		{"of a number", nil, nil, object{"from": 1}, http.StatusBadRequest},
		{"the engine away", nil, func(s *site) { s.engine.err = fault.Unavailable("away") }, object{"from": "ann-1"}, http.StatusServiceUnavailable},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t)
			s.meetings.open("room", nil)
			in := s.inside(t, c.ticket)
			if c.given != nil {
				c.given(s)
			}
			got := s.call(t, http.MethodPost, "/session/history", in.Session, c.body)
			if got.Code != c.status {
				t.Fatalf("status %d, want %d: %s", got.Code, c.status, got.Body)
			}
			if asked := len(s.engine.acts) > 0; asked != (c.status == http.StatusNoContent) {
				t.Errorf("asked: %v", s.engine.acts)
			}
			if told := in.You.History; told != (c.ticket == nil) {
				t.Errorf("the page is told that it may ask: %t", told)
			}
		})
	}
}

func TestWhoWaitsReadsNoChat(t *testing.T) {
	s, early, _ := meet(t)
	one := s.says(t, early.Session, "one")
	asking(s.meetings.byRoom["room"])
	w := s.enterWith(t, object{"room": "room", "name": "Eve"}).waits()
	s.knock(w)
	request := historyRequest{For: w.You.Identity, Until: s.now.Add(requestLifetime)}
	for path, b := range map[string]any{
		"/session/history":          object{"from": early.You.Identity},
		"/session/history/messages": passedHistory{request, []chatMessage{one}},
	} {
		got := s.call(t, http.MethodPost, path, w.Session, b)
		if got.Code != http.StatusForbidden || got.refusal().Error != admission.ErrWaiting.Message {
			t.Errorf("%s: status %d: %s", path, got.Code, got.Body)
		}
	}
}

// TestMessagesThatNobodyAskedForArePassedOnToNobody: a request is for one participant, to one participant, of one meeting, and soon over.
func TestMessagesThatNobodyAskedForArePassedOnToNobody(t *testing.T) {
	s, early, late := meet(t)
	third := s.inside(t, nil)
	one := s.says(t, early.Session, "one")
	request := s.asks(t, late.Session, early.You.Identity)
	with := func(change func(*historyRequest)) historyRequest {
		r := request
		change(&r)
		return r
	}
	for reason, r := range map[string]historyRequest{
		"no request":   {},
		"another one":  with(func(r *historyRequest) { r.For = third.You.Identity }),
		"everybody":    with(func(r *historyRequest) { r.For = "" }),
		"for longer":   with(func(r *historyRequest) { r.Until = r.Until.Add(time.Hour) }),
		"a message's":  with(func(r *historyRequest) { r.Stamp = one.Stamp }),
		"waiting room": with(func(r *historyRequest) { r.For = engine.Identity(meeting.WaitingRoom("x")) }),
	} {
		if got := s.passesOn(t, early.Session, r, one); got.Code != http.StatusForbidden {
			t.Errorf("%s: status %d: %s", reason, got.Code, got.Body)
		}
	}
	if got := s.passesOn(t, third.Session, request, one); got.Code != http.StatusForbidden {
		t.Errorf("another participant answers: status %d: %s", got.Code, got.Body)
	}
	s.now = request.Until
	if got := s.passesOn(t, early.Session, request, one); got.Code != http.StatusForbidden {
		t.Errorf("too late: status %d: %s", got.Code, got.Body)
	}
	if got := s.received(t, late.You.Identity); len(got) > 0 {
		t.Errorf("passed on: %+v", got)
	}
}

// TestATenantThatShowsNoHistory: nothing is stamped, so nothing is passed on later either.
func TestATenantThatShowsNoHistory(t *testing.T) {
	s, early, late := meet(t, func(k *tenant.Tenant) { k.ChatHidden = true })
	one := s.says(t, early.Session, "one")
	if one.Stamp != "" || early.You.History {
		t.Errorf("a message has the stamp %q, and the page may ask: %t", one.Stamp, early.You.History)
	}
	s.tenant.ChatHidden = false
	request := s.asks(t, late.Session, early.You.Identity)
	s.tenant.ChatHidden = true
	if got := s.passesOn(t, early.Session, request, one); got.Code != http.StatusForbidden {
		t.Errorf("status %d: %s", got.Code, got.Body)
	}
}

func TestALongHistoryComesInPackets(t *testing.T) {
	s, early, late := meet(t)
	var all []chatMessage
	for i := range 8 {
		all = append(all, s.says(t, early.Session, fmt.Sprint(i, strings.Repeat("é", 2000))))
	}
	request := s.asks(t, late.Session, early.You.Identity)
	if got := s.passesOn(t, early.Session, request, all...); got.Code != http.StatusNoContent {
		t.Fatalf("status %d: %s", got.Code, got.Body)
	}
	var got []chatMessage
	packets := s.received(t, late.You.Identity)
	for i, p := range packets {
		if raw, _ := json.Marshal(p); len(raw) > 14<<10 {
			t.Errorf("a packet of %d bytes", len(raw))
		}
		if p.Last != (i == len(packets)-1) {
			t.Errorf("packet %d of %d is the last: %t", i, len(packets), p.Last)
		}
		got = append(got, p.Messages...)
	}
	if diff := cmp.Diff(all, got); diff != "" || len(packets) < 3 {
		t.Errorf("%d packets (-want +got)\n%s", len(packets), diff)
	}
	request = s.asks(t, late.Session, early.You.Identity)
	if got := s.passesOn(t, early.Session, request, make([]chatMessage, 101)...); got.Code != http.StatusBadRequest {
		t.Errorf("101 messages: status %d: %s", got.Code, got.Body)
	}
	long := object{"for": request.For, "until": request.Until, "stamp": request.Stamp, "x": strings.Repeat("x", maxHistoryBody)}
	if got := s.call(t, http.MethodPost, "/session/history/messages", early.Session, long); got.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("a long body: status %d: %s", got.Code, got.Body)
	}
}

// TestRequestsForMessagesAreLimited: the writing of messages is not.
func TestRequestsForMessagesAreLimited(t *testing.T) {
	s, early, late := meet(t)
	got := statuses(t, historyRate.Burst+5, func(int) answer {
		return s.call(t, http.MethodPost, "/session/history", late.Session, object{"from": early.You.Identity})
	})
	if got[http.StatusNoContent] != historyRate.Burst || got[http.StatusTooManyRequests] != 5 {
		t.Errorf("%v", got)
	}
	s.says(t, late.Session, "hello")
}

// FuzzHistory: whatever is passed on, nothing fails, and nobody receives what was not written.
func FuzzHistory(f *testing.F) {
	s, early, late := meet(f)
	one := s.says(f, early.Session, "one")
	request := s.asks(f, late.Session, early.You.Identity)
	// Identities and stamps differ in each process that fuzzes.
	given := strings.NewReplacer("REQUEST", fields(f, request), "MESSAGE", fields(f, one))
	for _, seed := range []string{
		`{REQUEST,"messages":[{MESSAGE},{MESSAGE}]}`, `{REQUEST,"messages":[{},null,{MESSAGE}]}`, `{"messages":[{MESSAGE}]}`,
		`{REQUEST,"messages":[{"text":"two",MESSAGE}]}`,
		`{REQUEST,"messages":[{"to":"x",MESSAGE},{"toName":"x",MESSAGE}]}`, `{REQUEST,"messages":null}`, "", "{}", "[]", `{"until":"x"}`, "\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s.engine.acts = nil
		// No limit is reached, and the request is not over.
		s.histories = limit.New[caller](1)
		got := s.call(t, http.MethodPost, "/session/history/messages", early.Session, given.Replace(text))
		if got.Code >= 500 {
			t.Fatalf("status %d: %s", got.Code, got.Body)
		}
		for _, p := range s.received(t, late.You.Identity) {
			for _, m := range p.Messages {
				if diff := cmp.Diff(one, m); diff != "" {
					t.Errorf("passed on (-want +got)\n%s", diff)
				}
			}
		}
	})
}

// fields are those of a value as JSON, without the braces.
func fields(t testing.TB, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Trim(string(raw), "{}")
}
