// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// waits reads the answer of one who has to wait.
func (a answer) waits() waitingAnswer {
	a.t.Helper()
	if a.Code != http.StatusAccepted {
		a.t.Fatalf("status %d: %s", a.Code, a.Body)
	}
	var w waitingAnswer
	a.into(&w)
	return w
}

// knock connects one who waits, as the media server then lists them.
func (s *site) knock(w waitingAnswer) {
	g := s.engine.grants[len(s.engine.grants)-1]
	traits := g.Traits
	traits.Hidden = true
	s.engine.waiting = append(s.engine.waiting, engine.Participant{Identity: w.You.Identity, Name: g.Name, JoinedAt: s.now, Traits: traits})
}

func asking(v *meeting.View) { v.Admission = v1alpha1.AdmissionAsk }

func (s *site) state(t *testing.T, session string) stateAnswer {
	t.Helper()
	var state stateAnswer
	s.call(t, http.MethodGet, "/session", session, nil).into(&state)
	return state
}

// TestWhoHasToWaitGetsNothingOfTheMeeting: the token is of another room, and the session opens none of the other calls.
func TestWhoHasToWaitGetsNothingOfTheMeeting(t *testing.T) {
	s := newSite(t)
	arrived := s.upstreamEngine(t)
	v := s.meetings.open("room", asking)
	v.Started = s.now
	s.engine.people = []engine.Participant{{Identity: "paula-1", Name: "Ann", Traits: engine.Traits{Presenter: true}}}
	ann := object{"room": "room", "name": "Ann", "avatar": "https://a.example/a.png"}
	w := s.enterWith(t, ann).waits()
	want := []engine.Grant{{
		Room: meeting.WaitingRoom(v.EngineRoom), Identity: w.You.Identity, Name: "Ann", Waiting: true, Lifetime: grantLifetime,
		Traits: engine.Traits{Since: s.now},
	}}
	if diff := cmp.Diff(want, s.engine.grants); diff != "" {
		t.Errorf("granted (-want +got)\n%s", diff)
	}
	if w.You.Name != "Ann" || !w.Meeting.StartedAt.IsZero() || !w.Meeting.ExpiresAt.IsZero() || w.Waiting.Why != v1alpha1.AdmissionAsk {
		t.Errorf("one who waits is told %+v", w)
	}
	if len(s.engine.ensured) != 1 || !s.engine.ensured[0].Equal(engine.RoomState{}) || strings.Contains(strings.Join(s.meetings.calls, " "), "mark opened") {
		t.Errorf("made rooms that tell %v, after %v", s.engine.ensured, s.meetings.calls)
	}
	s.knock(w)
	for path, b := range map[string]object{
		"/session/chat": {"text": "hello"}, "/session/hand": {"raised": true},
		"/session/act": {"action": "admit", "identity": w.You.Identity},
	} {
		if got := s.call(t, http.MethodPost, path, w.Session, b); got.Code != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
	if state := s.state(t, w.Session); state.State != sessionWaiting || state.Waiting != nil || state.Hidden != nil {
		t.Errorf("one who waits is told %+v", state)
	}
	// Another meeting's queue is not this one's, and the token lets them into the waiting room.
	if got := s.connect(t, "rtc", url.Values{"access_token": {w.Engine.Token}}); got.Code != http.StatusOK || len(*arrived) != 1 {
		t.Errorf("connecting: %d %s", got.Code, got.Body)
	}
	// They come again, and wait on since then as the same person.
	s.now = s.now.Add(time.Minute)
	back := s.enterWith(t, ann.with(object{"session": w.Session})).waits()
	if !back.Waiting.Since.Equal(w.Waiting.Since) || back.You.Identity != w.You.Identity {
		t.Errorf("back as %s since %s, was %s since %s", back.You.Identity, back.Waiting.Since, w.You.Identity, w.Waiting.Since)
	}
	if other := s.enterWith(t, ann).waits(); other.You.Identity == w.You.Identity || other.Waiting.Since.Equal(w.Waiting.Since) {
		t.Errorf("another is %s since %s", other.You.Identity, other.Waiting.Since)
	}
}

// TestWhoNeedNotWait: presenters, those who were in, and those who were let in.
func TestWhoNeedNotWait(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", nil)
	ann := object{"room": "room", "name": "Ann"}
	in := s.enterWith(t, ann).session()
	s.engine.join(in.You.Identity)
	in = s.prove(t, in)
	asking(v)
	admitted := s.enterWith(t, object{"room": "room", "name": "Bob"}).waits()
	v.Decisions = []v1alpha1.ParticipantDecision{{Identity: string(admitted.You.Identity), Admitted: true}, {Identity: "user:paula", Role: v1alpha1.RolePresenter}}
	if state := s.state(t, admitted.Session); state.State != sessionAdmitted {
		t.Errorf("one who was let in is told %s", state.State)
	}
	for reason, ask := range map[string]object{
		"one who was in":          again(ann, in),
		"one who was let in":      {"room": "room", "name": "Bob", "session": admitted.Session},
		"a presenter":             {"ticket": s.ticket(t, presenting)},
		"a user made a presenter": {"ticket": s.ticket(t, func(k *credential.Ticket) { k.Username = "paula" })},
	} {
		got := s.enterWith(t, ask).session()
		if reason == "one who was let in" && got.You.Identity != admitted.You.Identity {
			t.Errorf("%s came as %s, waited as %s", reason, got.You.Identity, admitted.You.Identity)
		}
	}
	v.Locked = true
	s.enterWith(t, object{"room": "room", "name": "Bob", "session": admitted.Session}).session()
	if got := s.enterWith(t, object{"room": "room", "name": "Cem"}); got.Code != http.StatusForbidden || got.refusal().Reason != "Locked" {
		t.Errorf("a new one at a locked door: %d %s", got.Code, got.Body)
	}
}

// TestPeopleComeInWithAPresenter, as soon as one is in, and wait again when none is.
func TestPeopleComeInWithAPresenter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		s.meetings.open("room", func(v *meeting.View) { v.Admission, v.Opened = v1alpha1.AdmissionWithPresenter, true })
		ann := object{"room": "room", "name": "Ann"}
		w := s.enterWith(t, ann).waits()
		if w.Waiting.Why != v1alpha1.AdmissionWithPresenter {
			t.Errorf("waits because of %s", w.Waiting.Why)
		}
		again := ann.with(object{"session": w.Session})
		s.engine.people = []engine.Participant{{Identity: "bob-1"}}
		s.enterWith(t, again).waits()
		if state := s.state(t, w.Session); state.State != sessionWaiting {
			t.Errorf("without a presenter: %s", state.State)
		}
		s.engine.people = append(s.engine.people, engine.Participant{Identity: "paula-1", Traits: engine.Traits{Presenter: true}})
		s.enterWith(t, again).session()
		<-time.After(2 * time.Second) // The page asks again.
		if state := s.state(t, w.Session); state.State != sessionAdmitted {
			t.Errorf("with a presenter: %s", state.State)
		}
		s.engine.people = nil
		s.enterWith(t, object{"room": "room", "name": "Cem"}).waits()
	})
}

// TestPresentersSeeWhoWaits, and let one in, all, or refuse; each in one write that the media server is told of.
func TestPresentersSeeWhoWaits(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", func(v *meeting.View) { v.Opened = true })
	guest := s.inside(t, nil)
	paula := s.inside(t, presenting)
	asking(v)
	var waiters []waitingAnswer
	for _, name := range []string{"Ann", "Bob", "Cem", "Dan"} {
		s.now = s.now.Add(time.Second)
		w := s.enterWith(t, object{"room": "room", "name": name}).waits()
		s.knock(w)
		waiters = append(waiters, w)
	}
	names := func() (all string) {
		if w := s.state(t, paula.Session).Waiting; w != nil {
			all = fmt.Sprint(w.Count)
			for _, p := range w.People {
				all += " " + p.Name
			}
		}
		return all
	}
	if got := names(); got != "4 Ann Bob Cem Dan" {
		t.Errorf("a presenter sees %q", got)
	}
	if state := s.state(t, guest.Session); state.State != sessionLive || state.Waiting != nil {
		t.Errorf("a guest is told %+v", state)
	}
	s.engine.acts, s.engine.doorActs, s.meetings.calls = nil, nil, nil
	s.act(t, paula.Session, object{"action": "admit", "identity": waiters[1].You.Identity})
	s.act(t, paula.Session, object{"action": "refuse", "identity": waiters[2].You.Identity})
	want := []engine.Action{engine.Admit{Who: waiters[1].You.Identity}, engine.Remove{Who: waiters[2].You.Identity}}
	if diff := cmp.Diff(want, s.engine.doorActs); diff != "" {
		t.Errorf("at the door (-want +got)\n%s", diff)
	}
	if got := names(); got != "2 Ann Dan" {
		t.Errorf("then she sees %q", got)
	}
	if got := s.call(t, http.MethodPost, "/session/act", paula.Session, object{"action": "admit", "identity": "nobody-1"}); got.Code != http.StatusNotFound {
		t.Errorf("one who waits no longer: %d %s", got.Code, got.Body)
	}
	if state := s.state(t, waiters[2].Session); state.State != sessionRemoved {
		t.Errorf("one who was refused is told %s", state.State)
	}
	s.engine.doorActs, s.meetings.calls = nil, nil
	s.act(t, paula.Session, object{"action": "admitAll"})
	if len(s.meetings.calls) != 1 || v.AdmittedUntil.Before(waiters[3].Waiting.Since) {
		t.Errorf("all are let in until %s by %v", v.AdmittedUntil, s.meetings.calls)
	}
	if got := s.engine.doorActs[0]; got != (engine.Tell{State: engine.RoomState{Open: true}}) {
		t.Errorf("the waiting room is told %+v", s.engine.doorActs)
	}
	if got := names(); got != "" {
		t.Errorf("nobody waits, and she sees %q", got)
	}
	s.now = s.now.Add(time.Minute)
	s.enterWith(t, object{"room": "room", "name": "Eve"}).waits()
	s.act(t, paula.Session, object{"action": "admission", "admission": "Open"})
	if v.HasWaitingRoom() {
		t.Error("admission is not open")
	}
	if got := s.call(t, http.MethodPost, "/session/act", paula.Session, object{"action": "admission", "admission": "Ajar"}); got.Code != http.StatusBadRequest {
		t.Errorf("another admission: %d", got.Code)
	}
}

// TestLettingAllInCoversThoseWhoAreSeen: whoever asked for sessions and did not connect is not among those who wait, and is let in by no
// decision about them: not to enter, not past a lock, and not when they connect afterwards.
func TestLettingAllInCoversThoseWhoAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		v := s.meetings.open("room", asking)
		ann, eve := object{"room": "room", "name": "Ann"}, object{"room": "room", "name": "Eve"}
		seen := s.enterWith(t, ann).waits()
		s.knock(seen)
		var collected []waitingAnswer
		for range 3 {
			collected = append(collected, s.enterWith(t, eve).waits())
		}
		left := s.enterWith(t, eve).waits()
		s.knock(left)
		s.engine.waiting = s.engine.waiting[:1]
		paula := s.inside(t, presenting)
		s.act(t, paula.Session, object{"action": "admitAll"})
		if v.AdmittedUntil.Before(left.Waiting.Since) {
			t.Fatalf("all are let in until %s", v.AdmittedUntil)
		}
		s.now = s.now.Add(2 * time.Second)
		stays := func(when string) {
			t.Helper()
			for i, w := range append(collected, left) {
				if state := s.state(t, w.Session); state.State != sessionWaiting {
					t.Errorf("%s, session %d is told %s", when, i, state.State)
				}
				if got := s.enterWith(t, eve.with(object{"session": w.Session})); got.Code == http.StatusOK {
					t.Errorf("%s, session %d comes in", when, i)
				}
			}
		}
		stays("without a connection")
		s.engine.listErr = fault.Unavailable("away")
		<-time.After(2 * time.Second) // The list is asked for again.
		if got := s.enterWith(t, ann.with(object{"session": seen.Session})); got.Code != http.StatusServiceUnavailable {
			t.Errorf("without a list one who was seen gets %d %s", got.Code, got.Body)
		}
		s.engine.listErr = nil
		<-time.After(2 * time.Second)
		v.Locked = true
		stays("at a locked meeting")
		if state := s.state(t, seen.Session); state.State != sessionAdmitted {
			t.Errorf("one who was seen is told %s", state.State)
		}
		in := s.enterWith(t, ann.with(object{"session": seen.Session})).session()
		s.engine.waiting = nil // Their page has left the waiting room.
		s.enterWith(t, again(ann, in)).session()
		v.Locked = false
		for _, w := range append(collected, left) {
			s.enterWith(t, eve.with(object{"session": w.Session})).waits()
			s.knock(w)
		}
		<-time.After(2 * time.Second)
		stays("connected afterwards")
		if waiting := s.state(t, paula.Session).Waiting; waiting == nil || waiting.Count != 4 {
			t.Errorf("the presenter sees %+v", waiting)
		}
	})
}

// TestAWaitingRoomIsFull: a crowd at the door takes no more than the media server can list.
func TestAWaitingRoomIsFull(t *testing.T) {
	s := newSite(t)
	v := *s.meetings.open("room", asking)
	for i := range 1000 {
		from := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, byte(i / 256), byte(i)}), 32)
		leave, err := s.admission.TakeWaitingPlace(s.tenant, v, engine.Identity(fmt.Sprintf("w-%d", i)), from)
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
	if _, err := s.admission.TakeWaitingPlace(s.tenant, v, "w-more", netip.Prefix{}); err == nil {
		t.Error("one more connects")
	}
	if got := s.enterWith(t, object{"room": "room", "name": "Ann"}); got.refusal().Reason != "Full" {
		t.Errorf("one more comes: %d %s", got.Code, got.Body)
	}
}

// TestOneMessageToThePresenters: the session keeps it over a reload, and there is no second one.
func TestOneMessageToThePresenters(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", asking)
	ann := object{"room": "room", "name": "Ann"}
	w := s.enterWith(t, ann).waits()
	s.knock(w)
	say := func(session, text string) answer {
		return s.call(t, http.MethodPost, "/session/message", session, object{"text": text})
	}
	var renewed renewedAnswer
	say(w.Session, "It is me").into(&renewed)
	if diff := cmp.Diff([]engine.Action{engine.Write{Who: w.You.Identity, Message: "It is me"}}, s.engine.doorActs); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	back := s.enterWith(t, ann.with(object{"session": renewed.Session})).waits()
	if back.Waiting.Message != "It is me" || back.You.Identity != w.You.Identity || !back.Waiting.Since.Equal(w.Waiting.Since) {
		t.Errorf("back as %+v", back)
	}
	if g := s.engine.grants[len(s.engine.grants)-1]; g.Message != "It is me" {
		t.Errorf("granted %+v", g)
	}
	if got := say(back.Session, "It is me"); got.Code != http.StatusOK {
		t.Errorf("the same again: %d %s", got.Code, got.Body)
	}
	if got := say(back.Session, "Hurry up"); got.Code != http.StatusConflict || got.refusal().Reason != "NotAllowed" {
		t.Errorf("another: %d %s", got.Code, got.Body)
	}
	for _, text := range []string{"", " ", strings.Repeat("x", admission.MaxMessageLength+1)} {
		if got := say(w.Session, text); got.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", text, got.Code)
		}
	}
	s.meetings.byRoom["room"].Admission = v1alpha1.AdmissionOpen
	in := s.enterWith(t, object{"room": "room", "name": "Bob"}).session()
	if got := say(in.Session, "hello"); got.Code != http.StatusForbidden {
		t.Errorf("one who is in: %d", got.Code)
	}
}

// TestAnOpenMeetingHasNoWaitingRoom: who does not use it does not pay for it, with one call of the media server or one write.
func TestAnOpenMeetingHasNoWaitingRoom(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	paula := s.inside(t, presenting)
	ann := s.inside(t, nil)
	for _, b := range []object{
		{"action": "lock"}, {"action": "unlock"}, {"action": "mute", "identity": ann.You.Identity}, {"action": "remove", "identity": ann.You.Identity},
	} {
		s.act(t, paula.Session, b)
	}
	if state := s.state(t, paula.Session); state.Waiting != nil {
		t.Errorf("a presenter is told %+v", state)
	}
	if s.engine.doorAsked != 0 || len(s.engine.doorActs) != 0 || len(s.engine.ensured) != 2 {
		t.Errorf("asked %d times for a waiting room, did %v there, made %v", s.engine.doorAsked, s.engine.doorActs, s.engine.ensured)
	}
}
