// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"time"

	"convene.dev/convene/internal/fault"
)

// guessLimit is how often one address may be wrong about one room's password or one user's. Only wrong answers count,
// so that a class behind one address can come in at once.
var guessLimit = rate{every: 6 * time.Second, burst: 30}

// What is guessed at.
const (
	guessPassword = bucketPasswords
	guessLogin    = bucketLogins
)

// maxChecks is how many password checks may be under way or wait. Each costs tens of milliseconds of a processor, so
// more would not be answered in time anyway.
const maxChecks = 64

type guesses struct {
	buckets *buckets
	checks  chan struct{}
}

func newGuesses() *guesses {
	return &guesses{buckets: newBuckets(), checks: make(chan struct{}, maxChecks)}
}

// guess runs a check of a secret that people type, unless there were too many wrong ones from this address about this
// subject.
func (h *handler) guess(
	ctx context.Context, v *visit, what bucketUse, subject string, check func() (bool, error),
) (right bool, err error) {
	key := bucketKey{tenant: v.t.UID, what: what, from: h.address(v.r), subject: subjectOf(subject)}
	if wait := h.guesses.buckets.take(key, guessLimit, h.Now()); wait > 0 {
		return false, &refusal{fault: fault.TooMany("There were too many wrong attempts; wait a moment and try again"), after: wait}
	}
	select {
	case h.guesses.checks <- struct{}{}:
		defer func() { <-h.guesses.checks }()
		right, err = check()
	case <-ctx.Done():
		err = fault.Unavailable("Too many people are coming in at once; try again in a moment").Because(ctx.Err())
	}
	if right || err != nil {
		h.guesses.buckets.giveBack(key, guessLimit)
	}
	return right, err
}
