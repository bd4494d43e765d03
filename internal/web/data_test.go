// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// flood has new participants of one link write the longest messages until one is refused, and returns how many were taken.
func (s *site) flood(t *testing.T) (taken int) {
	t.Helper()
	for range 500 {
		in := s.inside(t, nil)
		switch got := s.call(t, http.MethodPost, "/session/chat", in.Session, object{"text": strings.Repeat("𝕏", maxChatLength)}); got.Code {
		case http.StatusNoContent:
			taken++
		case http.StatusTooManyRequests:
			return taken
		default:
			t.Fatalf("%d %s", got.Code, got.Body)
		}
	}
	t.Fatal("nothing is refused")
	return 0
}

// counted opens a meeting that so many participants are in.
func (s *site) counted(participants int32) {
	s.meetings.open("room", func(v *meeting.View) {
		v.MaxParticipants, v.Status = 10_000, &v1alpha1.MeetingStatus{ParticipantCount: participants}
	})
}

// TestWhatAMeetingIsSent: one link makes any number of participants, who together write no more than one.
func TestWhatAMeetingIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for participants, want := range map[int32]int{30: 35, 100: 11, 1000: 2} {
			s := newSite(t)
			s.counted(participants)
			if taken := s.flood(t); taken != want {
				t.Errorf("%d long messages to %d participants at once, want %d", taken, participants, want)
			}
		}
	})
}

func TestWhatAMeetingIsSentIsCountedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, withUsers)
		s.counted(30)
		in, other, paula := s.inside(t, nil), s.inside(t, nil), s.inside(t, presenting)
		s.engine.people[1].Chat = true
		s.flood(t)
		type call struct {
			path string
			body object
		}
		notice, reaction := call{"/session/act", object{"action": "announce", "text": "Please stop"}}, call{"/session/reaction", object{"reaction": "like"}}
		calls := map[string]call{
			"a message":             {"/session/chat", object{"text": "hello"}},
			"a private message":     {"/session/chat", object{"text": "hello", "to": other.You.Identity}},
			"a reaction":            reaction,
			"a request for history": {"/session/history", object{"from": other.You.Identity}},
		}
		for name, c := range calls {
			got := s.call(t, http.MethodPost, c.path, in.Session, c.body)
			if got.Code != http.StatusTooManyRequests || got.Header().Get("Retry-After") == "" {
				t.Errorf("%s, past what a meeting may be sent: %d %s", name, got.Code, got.Body)
			}
		}
		// A presenter is heard all the same, until presenters have written too much.
		calls["a notice"] = notice
		for name, c := range calls {
			if got := s.call(t, http.MethodPost, c.path, paula.Session, c.body); got.Code >= http.StatusBadRequest {
				t.Errorf("%s of a presenter: %d %s", name, got.Code, got.Body)
			}
		}
		s.data.TakeN(dataKey{s.tenant.UID, s.meetings.byRoom["room"].UID, true}, dataRate, dataRate.Burst, s.now)
		if got := s.call(t, http.MethodPost, notice.path, paula.Session, notice.body); got.Code != http.StatusTooManyRequests {
			t.Errorf("a notice, past what presenters may send: %d %s", got.Code, got.Body)
		}
		s.now = s.now.Add(time.Minute)
		if got := s.call(t, http.MethodPost, reaction.path, in.Session, reaction.body); got.Code != http.StatusNoContent {
			t.Errorf("a minute later: %d %s", got.Code, got.Body)
		}
	})
}
