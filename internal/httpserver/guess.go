// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"context"
	"errors"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
)

// ErrTooManyGuesses says that a check of a secret got no turn in the time of its request.
var ErrTooManyGuesses = fault.Unavailable("Too many sign-ins at once; try again in a moment")

// Guess runs a check of a secret that a person has typed, unless there were too many wrong ones from that address. The
// check says by the reason of its error that the secret was wrong. It waits where as many are checked as may be wrong.
func (q *Request) Guess(ctx context.Context, what limit.Secret, subject string, backend bool, check func() error) (err error) {
	guess := limit.Guess{Tenant: q.Tenant.UID, What: what, From: q.From(), Subject: subject, Backend: backend}
	done, err := q.router.guesses.Try(ctx, guess, q.router.Now)
	if spent := (limit.WaitError{}); errors.As(err, &spent) {
		return TooMany(spent.For, "There were too many wrong attempts; correct what was wrong and wait")
	}
	if err != nil {
		return ErrTooManyGuesses.Because(err)
	}
	defer func() { done(wasWrong(what, err)) }()
	return check()
}

func wasWrong(what limit.Secret, err error) bool {
	switch {
	case err == nil:
		return false
	case what == limit.RoomName:
		return fault.Is(err, fault.KindNotFound)
	}
	reason := fault.As(err).Reason
	return reason == fault.ReasonWrongPassword || reason == fault.ReasonWrongLogin
}
