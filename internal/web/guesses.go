// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
)

// maxChecks is how many password checks may be under way or wait. Each costs tens of milliseconds of a processor, so
// more would not be answered in time anyway.
const maxChecks = 64

// maxChecksOfOne is how many of them may be one address's: names that nobody has are tried without an end, and must hold
// up nobody else. It is as many as processors are kept busy by, so that a class behind one address waits no longer.
const maxChecksOfOne = 8

// guess runs a check of a secret that people type, unless there were too many wrong ones from this address about this
// subject.
func (h *handler) guess(
	ctx context.Context, v *visit, what limit.Secret, subject string, check func() (bool, error),
) (right bool, err error) {
	from := h.TrustedProxies.Of(v.r)
	done, wait := h.guesses.Try(limit.Guess{Tenant: v.t.UID, What: what, From: from, Subject: subject}, h.Now())
	if wait > 0 {
		return false, &refusal{fault: fault.TooMany("There were too many wrong attempts; wait a moment and try again"), after: wait}
	}
	defer func() { done(!right && err == nil) }()
	giveBack, err := h.checks.Take(ctx, from)
	if err != nil {
		return false, errTooManyChecks.Because(err)
	}
	defer giveBack()
	return check()
}

var errTooManyChecks = fault.Unavailable("Too many people are coming in at once; try again in a moment")
