// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"time"

	"convene.dev/convene/internal/meeting"
)

// maxBlind bounds how many blind times are kept for each engine.
const maxBlind = 32

// visible keeps a look that was answered, and says whether the one before was not, or there was none.
func (s *sight) visible(now time.Time) (turned bool) {
	turned = s.visibleSince.IsZero() || !s.awaySince.IsZero()
	s.blind = s.blindUntil(now)
	if s.visibleSince.IsZero() {
		s.visibleSince = now
	}
	s.lastSeen, s.awaySince, s.throttled = now, time.Time{}, false
	return turned
}

// blindUntil are the blind times, with the one that may go on now. Of too many the oldest two become one with the time
// between them: what waits for an empty room then waits too long, never too short.
func (s *sight) blindUntil(now time.Time) []meeting.Span {
	if s.lastSeen.IsZero() || (s.awaySince.IsZero() && !s.throttled) {
		return s.blind
	}
	all := append(s.blind[:len(s.blind):len(s.blind)], meeting.Span{From: s.lastSeen, Until: now})
	if len(all) > maxBlind {
		all[1].From = all[0].From
		all = all[1:]
	}
	return all
}
