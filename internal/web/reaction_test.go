// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

func TestReaction(t *testing.T) {
	like := object{"reaction": "like"}
	for _, c := range []struct {
		reason string
		ticket func(*credential.Ticket)
		given  func(*site)
		body   any
		status int
	}{
		{"one that there is", nil, nil, like, http.StatusNoContent},
		{"with chat off", func(k *credential.Ticket) { k.Chat = false }, nil, like, http.StatusForbidden},
		{"hidden", func(k *credential.Ticket) { k.Hide = true }, nil, like, http.StatusForbidden},
		{"where only presenters write", nil, func(s *site) {
			s.meetings.byRoom["room"].PresentersOnly = engine.Chat
		}, like, http.StatusForbidden},
		{"a presenter where only presenters write", presenting, func(s *site) {
			s.meetings.byRoom["room"].PresentersOnly = engine.Chat
		}, like, http.StatusNoContent},
		{"a participant who is not in", nil, func(s *site) { s.engine.people = nil }, like, http.StatusForbidden},
		{"nothing", nil, nil, object{}, http.StatusBadRequest},
		{"words", nil, nil, object{"reaction": "like this"}, http.StatusBadRequest},
		{"the engine away", nil, func(s *site) { s.engine.err = fault.Unavailable("away") }, like, http.StatusServiceUnavailable},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t)
			s.meetings.open("room", nil)
			in := s.inside(t, c.ticket)
			if c.given != nil {
				c.given(s)
			}
			got := s.call(t, http.MethodPost, "/session/reaction", in.Session, c.body)
			if got.Code != c.status {
				t.Fatalf("status %d, want %d: %s", got.Code, c.status, got.Body)
			}
			var want []engine.Action
			if c.status == http.StatusNoContent {
				payload := fmt.Sprintf(`{"from":%q,"name":"Tina","reaction":"like"}`, in.You.Identity)
				want = append(want, engine.Say{Topic: "convene.reaction", Payload: []byte(payload)})
			}
			if diff := cmp.Diff(want, s.engine.acts); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
