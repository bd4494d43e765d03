// SPDX-License-Identifier: Apache-2.0

package chaos

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// startAgain is the story of a room with a password, a policy and a banned user, whose meeting ends empty and whose next meeting is
// started by a link. The next meeting has all that the one before it had.
var startAgain = story{
	name: "a room starts again",
	change: func(c *v1alpha1.ConferenceConfig) {
		// What the next meeting takes over is kept for as long as links of the one before it lead into the room.
		c.Spec.Meetings.TTLSecondsAfterEnded, c.Spec.Meetings.LinkLifetime = ptr.To(int32(3600)), &metav1.Duration{Duration: time.Hour}
	},
	tell: func(s *telling) {
		s.must(s.backend.open(s.ctx, map[string]any{"room": s.room, "duration": "01:00:00", "roomPassword": "sesame"}))
		ada, eve := s.link("ada", "sesame"), s.link("eve", "sesame")
		first := s.sendIn(s.T, &guest{ticket: ada})
		s.isIn(first, 1)
		s.control(http.MethodPatch, "/api/v1/meeting/"+s.room, map[string]any{"policy": map[string]any{"camera": "Presenters"}})
		was, err := s.ofRoom(s.room)
		s.must(err)
		s.patch(s, was, `{"spec":{"participants":[{"identity":"user:eve","removed":true}]}}`)
		first.leave()
		s.until(s.noneLives)

		again := s.sendIn(s.T, &guest{ticket: ada})
		s.isIn(again, 1)
		s.refused(s.sendIn(s.T, &guest{ticket: eve}), false)
		s.until(func() error {
			wrong := guest{room: s.room, password: "not sesame", baseURL: s.backend.baseURL}
			if _, token, _ := wrong.ask(s.ctx); token != "" || !strings.Contains(wrong.wrong, "WrongPassword") {
				return fmt.Errorf("another password is answered %q", wrong.wrong)
			}
			return nil
		})
		right := s.guest(s.T, s.room, "sesame")
		s.isIn(right, 2)
		now, err := s.ofRoom(s.room)
		s.must(err)
		want := v1alpha1.MeetingSpec{
			Room: s.room, ConfigRef: was.Spec.ConfigRef, Duration: was.Spec.Duration, PasswordSecretRef: now.Spec.PasswordSecretRef,
			Policy:       &v1alpha1.MeetingPolicy{Camera: v1alpha1.Presenters},
			Participants: []v1alpha1.ParticipantDecision{{Identity: "user:eve", Removed: true}},
		}
		if diff := cmp.Diff(want, now.Spec); diff != "" {
			s.Errorf("the spec is another one (-want +got):\n%s", diff)
		}
		s.must(s.backend.end(s.ctx, s.room))
		s.sentAway(again)
		s.sentAway(right)
		s.until(s.noneLives)
	},
	after: func(s *telling) {
		s.must(s.Client.DeleteAllOf(s.ctx, &v1alpha1.Meeting{}, client.InNamespace(s.Namespace)))
		s.gone()
	},
}

// noneLives returns an error while a meeting goes on, or while LiveKit or the counts still have something of an ended one.
func (s *telling) noneLives() error {
	all, err := s.meetings()
	for i := range all {
		if !meeting.IsOver(&all[i]) {
			err = errors.Join(err, fmt.Errorf("%s is %s", all[i].Name, all[i].Status.Phase))
		}
	}
	return errors.Join(err, s.quiet())
}
