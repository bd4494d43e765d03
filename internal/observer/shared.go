// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Two MediaServers can be one LiveKit: by two addresses, by two keys, or as two nodes over one Redis. Each then lists the rooms of
// the other, and to delete them as rooms that their Meetings have left would throw everybody out, again and again.

// sharedFor is how long a MediaServer counts as one LiveKit with another after a room has shown that. It is several times
// longestStrayPause, after which each such room is looked at again.
const sharedFor = 5 * time.Minute

// shared is the MediaServer that was last found to be the same LiveKit, and when, by monotonic time.
type shared struct {
	with  types.NamespacedName
	found time.Time
}

// isNeeded reports whether a room that its Meeting seems to have left is needed: it is the room of the Meeting, because the media server
// of the Meeting's place is this one, or the Meeting comes back to it, or nobody may enter at its place. Where that cannot be told, the
// room counts as needed, and is looked at again.
func (s *server) isNeeded(ctx context.Context, c suspect) bool {
	place := c.tenant.MediaAt(meeting.PlaceOf(c.meeting))
	if place == nil || place.Retired { // Those who are here could not enter there.
		return true
	}
	there, has, err := place.Engine.Room(ctx, c.name)
	if err != nil {
		return true
	}
	// This media server is asked too: the room may have been made again since the list.
	here, still, err := s.engine.Room(ctx, c.name)
	if err != nil || !still || here.SID != c.sid {
		return true
	}
	if !has || there.SID != here.SID {
		return here.Participants > 0 && there.Participants == 0 && s.isReturnedTo(c)
	}
	s.share(place.Name)
	return true
}

// isReturnedTo reports whether a Meeting that left this media server comes back when its participants are here alone.
func (s *server) isReturnedTo(c suspect) bool {
	return slices.ContainsFunc(c.tenant.Media, func(m *tenant.Media) bool {
		return m.Server == s.at && !m.Retired && slices.Contains(meeting.LeftPlaces(c.meeting), m.Name)
	})
}

func (s *server) share(with types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shared = shared{with, s.env.monotonic()}
}

// SharedWith names a MediaServer that is the same LiveKit as a media server. It answers false where none is known.
func (o *Observer) SharedWith(at engine.Server) (types.NamespacedName, bool) {
	s := o.known(at)
	if s == nil {
		return types.NamespacedName{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared.found.IsZero() || s.env.monotonic().Sub(s.shared.found) > sharedFor {
		return types.NamespacedName{}, false
	}
	return s.shared.with, true
}
