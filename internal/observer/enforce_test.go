// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// TestTelephonesHaveNoMorePlacesThanPages: whom LiveKit brings into a full meeting is removed, and what is decided holds for a telephone that has a
// place. Pages pass the gateway, which counts them.
func TestTelephonesHaveNoMorePlacesThanPages(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.tenants[0].Settings.MaxParticipants = 3
	l.meeting("m", v1alpha1.MeetingActive)
	room, came := roomName("a", "m"), 0
	one := func(who engine.Identity, kind v1alpha1.ParticipantKind) engine.Participant {
		came++
		return engine.Participant{Identity: who, Kind: kind, JoinedAt: monday.Add(time.Duration(came) * time.Second), Audio: true}
	}
	did := func(what string, wantFull []string, want ...engine.Action) {
		t.Helper()
		l.pass(2 * time.Second)
		if diff := cmp.Diff(want, f.Did()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", what, diff)
		}
		if diff := cmp.Diff(wantFull, l.full); diff != "" {
			t.Errorf("%s: told (-want +got)\n%s", what, diff)
		}
		l.full = nil
	}
	paula, ann, phone, stream := one("paula-1", ""), one("ann-1", ""), one("sip_+49", v1alpha1.KindSIP), one("camera", v1alpha1.KindIngress)
	f.Seat(room, paula, ann, phone)
	did("three of three places", nil)
	f.Seat(room, paula, ann, phone, stream)
	did("one more", []string{"m"}, engine.Remove{Who: "camera"})
	did("it has gone", nil)
	l.decide("m", func(s *v1alpha1.MeetingSpec) { s.MaxParticipants = new(int32(2)) })
	did("fewer places", []string{"m"}, engine.Remove{Who: "sip_+49"})
	phone.JoinedAt = monday
	f.Seat(room, phone, paula, ann)
	did("pages stay", nil)
	locked := engine.SetRights{Who: "sip_+49", Rights: engine.Rights{Forbidden: engine.Microphone, Held: engine.Microphone}}
	l.decide("m", func(s *v1alpha1.MeetingSpec) {
		s.Participants = []v1alpha1.ParticipantDecision{{Identity: "sip_+49", Muted: true}}
	})
	did("a telephone is locked", nil, locked)
	l.decide("m", func(s *v1alpha1.MeetingSpec) { s.Participants[0].Removed = true })
	did("and removed", nil, engine.Remove{Who: "sip_+49"})
	f.Break("act", errors.New("away"))
	f.Seat(room, paula, ann, stream)
	did("while it cannot be removed", nil)
	f.Break("act", nil)
	did("it is removed", []string{"m"}, engine.Remove{Who: "camera"})
}
