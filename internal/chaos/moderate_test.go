// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// moderate is the story of a backend that locks a room, gives it a policy, mutes a user, and bans the user. Each is one write to the
// Meeting's spec, and is so in LiveKit.
func moderate(s *telling) {
	m := s.byHand(s.room)
	s.must(s.Client.Create(s.ctx, m))
	s.until(s.occupied(s.room, 0))
	g := s.sendIn(s.T, &guest{ticket: s.link("ada", "")})
	s.until(s.occupied(s.room, 1))
	m, err := s.ofRoom(s.room)
	s.must(err)
	who := m.Status.Participants[0].Identity
	room := "/api/v1/meeting/" + s.room
	ada := room + "/participants/" + who

	s.control(http.MethodPatch, room, map[string]any{"locked": true})
	s.control(http.MethodPatch, room, map[string]any{"policy": map[string]any{"camera": "Presenters"}})
	s.control(http.MethodPatch, ada, map[string]any{"muted": true})
	s.until(func() error {
		people, err := s.inside(m)
		if err == nil && (len(people) != 1 || people[0].Rights().Forbidden != engine.Microphone|engine.Camera) {
			err = fmt.Errorf("LiveKit has %+v", people)
		}
		return err
	})
	s.control(http.MethodDelete, ada, map[string]any{"ban": true})

	s.refused(g, true)
	s.refused(s.sendIn(s.T, &guest{ticket: s.link("ada", "")}), false)
	s.until(func() error {
		people, err := s.inside(m)
		if err == nil && len(people) > 0 {
			err = fmt.Errorf("%d participants are still in", len(people))
		}
		return errors.Join(err, s.occupied(s.room, 0)())
	})
	m, err = s.ofRoom(s.room)
	s.must(err)
	want := v1alpha1.MeetingSpec{
		Room: s.room, ConfigRef: m.Spec.ConfigRef, Locked: ptr.To(true), Policy: &v1alpha1.MeetingPolicy{Camera: v1alpha1.Presenters},
		Participants: []v1alpha1.ParticipantDecision{{Identity: who, Muted: true, Removed: true}, {Identity: "user:ada", Removed: true}},
	}
	if diff := cmp.Diff(want, m.Spec); diff != "" {
		s.Errorf("the spec is another one (-want +got):\n%s", diff)
	}
	if m.Generation != 5 {
		s.Errorf("four changes of the spec made generation %d, want 5", m.Generation)
	}
	s.must(s.backend.end(s.ctx, s.room))
	s.gone()
}

// link has the backend make a link of a user into a room with this password, or none, and gives its ticket.
func (s *telling) link(username, password string) (ticket string) {
	s.Helper()
	s.until(func() error {
		status, answer := s.backend.once(s.ctx, http.MethodPost, "/api/v1/join", map[string]any{
			"room": s.room, "roomPassword": password, "name": "Ada", "token": map[string]any{"username": username, "password": "x"},
		})
		link, _ := answer["join"].(string)
		if status != http.StatusOK {
			return fmt.Errorf("POST join answers %d %v", status, answer)
		}
		at, err := url.Parse(link)
		if err == nil {
			ticket = at.Query().Get("token")
		}
		return err
	})
	return ticket
}

// control has the backend do something until that is confirmed. A participant whose gateway was killed is not in for a moment.
func (s *telling) control(method, path string, body map[string]any) {
	s.Helper()
	s.until(func() error {
		switch status, answer := s.backend.once(s.ctx, method, path, body); status {
		case http.StatusOK, http.StatusAccepted:
			return nil
		case 0, http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable:
			return fmt.Errorf("%s %s answers %d %v", method, path, status, answer)
		default:
			s.Fatalf("%s %s answers %d %v", method, path, status, answer)
			return nil
		}
	})
}

// inside are the participants that LiveKit has.
func (s *telling) inside(m *v1alpha1.Meeting) ([]engine.Participant, error) {
	return s.engine.Participants(s.ctx, meeting.EngineRoom(string(s.config.UID), string(m.UID)))
}

// refused waits until a guest knows that they were removed.
func (s *telling) refused(g *guest, wasIn bool) {
	s.Helper()
	s.until(func() error {
		if !g.isOver() {
			return errors.New("the guest still tries to be in the meeting")
		}
		return nil
	})
	came, wrong := g.cameIn()
	if !g.wasRemoved() || (came > 0) != wasIn {
		s.Errorf("the guest came in %d times, was answered %q", came, wrong)
	}
}
