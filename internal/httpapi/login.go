// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"strings"
	"time"
	"unicode"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/tenant"
)

// tokenRequest is the body of POST token and the token object of POST join.
type tokenRequest struct {
	username, password string
	presenter          bool
	// lifetime is what was asked for or the tenant's default; explicit says which.
	lifetime time.Duration
	explicit bool
}

// maxUsername in bytes, as the credentials have it.
const maxUsername = 255

func readToken(t *tenant.Tenant, f *fields) tokenRequest {
	var q tokenRequest
	q.username, _ = f.text("username")
	switch {
	case q.username == "":
		f.fail("username", "is required; give the user's name")
	case len(q.username) > maxUsername:
		f.fail("username", "must be at most 255 bytes long")
	case strings.ContainsFunc(q.username, unicode.IsControl):
		f.fail("username", "must not contain control characters; remove them")
	}
	q.password, _ = f.text("password")
	if q.password == "" && t.Users != nil {
		f.fail("password", "is required; give the user's password")
	}
	q.presenter = f.flag("presenter", false)
	q.lifetime = readLifetime(t, f, &q.explicit)
	return q
}

func readLifetime(t *tenant.Tenant, f *fields, explicit *bool) time.Duration {
	text, named := f.seconds("expire")
	*explicit = named
	if _, err := credential.ParseLifetime(text); named && err != nil {
		f.fail("expire", "must be a number above zero with a unit, for example 1h, 30 minutes or 2 days; a JSON number is in seconds")
		return 0
	}
	lifetime, err := credential.LifetimeWithin(text, t.TokenLifetime, t.MaxTokenLifetime)
	if e := (*fault.Error)(nil); errors.As(err, &e) {
		f.fail("expire", strings.TrimPrefix(e.Message, "expire "))
	}
	return lifetime
}

// maxLogins is how many password checks may wait or run at once, and maxLoginsOfOne how many of them may be one
// tenant's: each takes tens of milliseconds of a processor, and no tenant may take all from the others.
const (
	maxLogins      = 64
	maxLoginsOfOne = 32
)

var (
	errTooManyLogins = fault.Unavailable("Too many passwords are being checked; try again in a moment")
	errWrongLogin    = fault.Denied("The username or the password is wrong; correct them").WithReason(fault.ReasonWrongLogin)
)

// login checks who the user is where the host has users. Where it has none, the backend's word counts.
func (a *api) login(q *httpserver.Request, asked tokenRequest) error {
	if q.Tenant.Users == nil {
		return nil
	}
	return q.Guess(limit.HostLogin, asked.username, true, func() error {
		giveBack, ok := a.logins.Try(q.Tenant.UID)
		if !ok {
			return errTooManyLogins
		}
		defer giveBack()
		if !q.Tenant.Users.Verify(asked.username, asked.password) {
			return errWrongLogin
		}
		return nil
	})
}
