// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"time"

	"convene.dev/convene/internal/meeting"
)

// maxOutages bounds how many outages are kept for each engine.
const maxOutages = 32

// visible keeps a look that was answered, and says whether the one before was not, or there was none.
func (s *observedServer) visible(now time.Time) (turned bool) {
	turned = s.visibleSince.IsZero() || !s.unavailableSince.IsZero()
	s.outages = s.outagesUntil(now)
	if s.visibleSince.IsZero() {
		s.visibleSince = now
	}
	s.lastSeen, s.unavailableSince, s.throttled = now, time.Time{}, false
	return turned
}

// outagesUntil are the outages, with the one that may go on now. Of too many the oldest two become one with the time
// between them: what waits for an empty room then waits too long, never too short.
func (s *observedServer) outagesUntil(now time.Time) []meeting.Span {
	if s.lastSeen.IsZero() || (s.unavailableSince.IsZero() && !s.throttled) {
		return s.outages
	}
	all := append(s.outages[:len(s.outages):len(s.outages)], meeting.Span{From: s.lastSeen, Until: now})
	if len(all) > maxOutages {
		all[1].From = all[0].From
		all = all[1:]
	}
	return all
}
