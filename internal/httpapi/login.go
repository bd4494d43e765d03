// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/credential"
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

func readToken(t *tenant.Tenant, f *fields) tokenRequest {
	var q tokenRequest
	q.username, _ = f.text("username")
	switch {
	case q.username == "":
		f.fail("username", "is required; give the user's name")
	case len(q.username) > credential.MaxUsername:
		f.fail("username", fmt.Sprintf("must be at most %d bytes long", credential.MaxUsername))
	case strings.ContainsFunc(q.username, unicode.IsControl):
		f.fail("username", "must not contain control characters; remove them")
	}
	q.password, _ = f.text("password")
	if q.password == "" && t.Users != nil {
		f.fail("password", "is required; give the user's password")
	}
	q.presenter = f.flag("presenter", false)
	q.lifetime, q.explicit = readLifetime(t, f)
	return q
}

// readLifetime reads the lifetime of a token, and whether one was named.
func readLifetime(t *tenant.Tenant, f *fields) (lifetime time.Duration, named bool) {
	text, named := f.seconds("expire")
	if !named {
		return t.TokenLifetime, false
	}
	lifetime, ok := compat.ParseLifetime(text)
	switch {
	case !ok || lifetime < time.Second:
		f.fail("expire", "must be a number above zero with a unit, for example 1h, 30 minutes or 2 days; a JSON number is in seconds")
	case lifetime > t.MaxTokenLifetime:
		f.fail("expire", "must not be longer than "+formatLifetime(t.MaxTokenLifetime)+": ask for a shorter one")
	}
	return lifetime, true
}

// formatLifetime writes a lifetime as readLifetime reads it, in the greatest unit that fits.
func formatLifetime(d time.Duration) string {
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}} {
		if d >= unit.size && d%unit.size == 0 {
			return strconv.FormatInt(int64(d/unit.size), 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}

// login checks who the user is where the host has users. Where it has none, the backend's word counts.
func (a *api) login(q *httpserver.Request, asked tokenRequest) error {
	if q.Tenant.Users == nil {
		return nil
	}
	ctx, cancel := a.within(q)
	defer cancel()
	return q.Guess(ctx, limit.HostLogin, asked.username, true, func() error {
		right, err := q.Tenant.Users.Verify(ctx, credential.Turn{Namespace: q.Tenant.Namespace}, asked.username, asked.password)
		if err == nil && !right {
			err = admission.ErrWrongLogin
		}
		return err
	})
}
