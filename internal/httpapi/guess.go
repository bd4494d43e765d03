// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
)

// guess runs a check of a secret that a person has typed for the backend, unless there were too many wrong ones about
// this room or user from there.
func (c *call) guess(what limit.Secret, subject string, check func() error) (err error) {
	done, wait := c.guesses.Try(limit.Guess{Tenant: c.tenant.UID, What: what, From: c.proxies.Of(c.r), Subject: subject, Backend: true}, c.start)
	if wait > 0 {
		return tooMany(wait, "Too many wrong passwords for this room or user; correct the password and wait")
	}
	defer func() { done(wasWrong(err)) }()
	return check()
}

func wasWrong(err error) bool {
	if err == nil {
		return false
	}
	reason := fault.As(err).Reason
	return reason == fault.ReasonWrongPassword || reason == fault.ReasonWrongLogin
}
