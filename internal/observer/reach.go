// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"errors"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// maxOutages bounds how many outages are kept for each media server.
const maxOutages = 32

// reach is since when a media server has answered lists of its rooms, and when it did not. The server's lock guards it.
type reach struct {
	// visibleSince is the first list that was answered, lastSeen the last; unavailableSince is zero while lists are answered.
	visibleSince, lastSeen, unavailableSince time.Time
	// silentSince is when lists began to be neither answered nor refused; zero while they are.
	silentSince time.Time
	// outages are times between answered lists in which others were not answered, oldest first. The slice is never changed in
	// place.
	outages []meeting.Span
	// err is why the last list failed.
	err error
	// throttled says that the last list was answered with "too many calls": the server is there, and says nothing.
	throttled bool
}

func (r *reach) answers() bool { return !r.visibleSince.IsZero() && r.unavailableSince.IsZero() }

// heard keeps whether a list was answered, and reports whether the media server has become available or unavailable with it, or whether it
// refuses where it was silent before.
func (r *reach) heard(now time.Time, err error) (turned bool) {
	switch {
	case errors.Is(err, engine.ErrTooManyCalls):
		r.throttled = true // Slower, not unavailable.
	case err != nil:
		r.err = err
		away := mark(&r.unavailableSince, now, true)
		silent := mark(&r.silentSince, now, fault.As(err).Reason != v1alpha1.ReasonUnauthorized)
		turned = away || silent
	default:
		turned = !r.answers()
		r.outages = r.outagesUntil(now)
		if r.visibleSince.IsZero() {
			r.visibleSince = now
		}
		r.lastSeen, r.unavailableSince, r.silentSince, r.err, r.throttled = now, time.Time{}, time.Time{}, nil, false
	}
	return turned
}

// mark keeps since when something lasts, and reports whether that has changed.
func mark(since *time.Time, now time.Time, lasts bool) (turned bool) {
	if turned = lasts == since.IsZero(); turned {
		*since = time.Time{}
		if lasts {
			*since = now
		}
	}
	return turned
}

// outagesUntil are the outages, with the one that may go on now. Of too many the oldest two become one with the time
// between them: what waits for an empty room then waits too long, never too short.
func (r *reach) outagesUntil(now time.Time) []meeting.Span {
	if r.lastSeen.IsZero() || (r.unavailableSince.IsZero() && !r.throttled) {
		return r.outages
	}
	all := append(r.outages[:len(r.outages):len(r.outages)], meeting.Span{From: r.lastSeen, Until: now})
	if len(all) > maxOutages {
		all[1].From = all[0].From
		all = all[1:]
	}
	return all
}
