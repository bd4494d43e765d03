// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"time"

	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
)

// maxChecks is how many password checks may be under way or wait. Each costs tens of milliseconds of a processor, so
// more would not be answered in time anyway.
const maxChecks = 64

// maxChecksOfOne is how many of them may be of one site: unknown names can be tried without an end, and must hold up no
// other user. A class behind one address waits no longer for it, because fewer run at once.
const maxChecksOfOne = 8

// guess runs a check of a secret that participants type, unless there were too many wrong ones from this address.
func (h *handler) guess(
	ctx context.Context, v *visit, what limit.Secret, subject string, check func() (bool, error),
) (right bool, err error) {
	from := h.TrustedProxies.Of(v.r)
	done, err := h.beginGuess(limit.Guess{Tenant: v.t.UID, What: what, From: from, Subject: subject})
	if err != nil {
		return false, err
	}
	defer func() { done(!right && err == nil) }()
	giveBack, err := h.checks.Take(ctx, clientip.Site(from))
	if err != nil {
		return false, errTooManyChecks.Because(err)
	}
	defer giveBack()
	return check()
}

// guessRoom looks for a room by a name that no ticket vouches for, unless too many from this address were of no room.
func (h *handler) guessRoom(v *visit, find func() (meeting.View, error)) (meeting.View, error) {
	done, err := h.beginGuess(limit.Guess{Tenant: v.t.UID, What: limit.RoomName, From: h.TrustedProxies.Of(v.r)})
	if err != nil {
		return meeting.View{}, err
	}
	view, err := find()
	done(fault.Is(err, fault.KindNotFound))
	return view, err
}

func (h *handler) beginGuess(guess limit.Guess) (done func(wrong bool), err error) {
	done, wait := h.guesses.Try(guess, h.Now())
	if wait > 0 {
		return nil, tooMany(wait, "There were too many wrong attempts; wait a moment and try again")
	}
	return done, nil
}

func tooMany(wait time.Duration, message string) error {
	return &refusal{fault: fault.TooMany("%s", message), after: wait}
}

var errTooManyChecks = fault.Unavailable("Too many people are coming in at once; try again in a moment")
