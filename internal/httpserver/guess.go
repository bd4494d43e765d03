// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
)

// Guess runs a check of a secret that a person has typed, unless there were too many wrong ones from that address. The
// check says by the reason of its error that the secret was wrong.
func (q *Request) Guess(what limit.Secret, subject string, backend bool, check func() error) (err error) {
	done, wait := q.router.guesses.Try(limit.Guess{Tenant: q.Tenant.UID, What: what, From: q.From(), Subject: subject, Backend: backend}, q.Start)
	if wait > 0 {
		return TooMany(wait, "There were too many wrong attempts; correct what was wrong and wait")
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
