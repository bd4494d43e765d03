// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/tenant"
)

// tokenRequest is the body of POST token and the token object of POST join.
type tokenRequest struct {
	Username  string `json:"username"`
	Password  string `json:"password"`
	Presenter bool   `json:"presenter"`
	// Expire is zero for the tenant's default.
	Expire lifetime `json:"expire"`
}

// validate checks a request at a path of the body, which is empty or ends in a dot.
func (r *tokenRequest) validate(path string, t *tenant.Tenant) error {
	switch {
	case r.Username == "":
		return body.Invalid(path+"username", "is required; give the user's name")
	case len(r.Username) > credential.MaxUsername:
		return body.Invalid(path+"username", "must be at most %d bytes long", credential.MaxUsername)
	case strings.ContainsFunc(r.Username, unicode.IsControl):
		return body.Invalid(path+"username", "must not contain control characters; remove them")
	case r.Password == "" && t.Users != nil:
		return body.Invalid(path+"password", "is required; give the user's password")
	case time.Duration(r.Expire) > t.MaxTokenLifetime:
		return body.Invalid(path+"expire", "must not be longer than %s: ask for a shorter one", formatLifetime(t.MaxTokenLifetime))
	}
	return nil
}

// lifetime of a token.
type lifetime time.Duration

// readLifetime reads text. A JSON number is in seconds.
func readLifetime(value jsontext.Value) (lifetime, error) {
	text, ok := compat.ReadText(value)
	if !ok {
		return 0, body.Problem("must be a string")
	}
	if value.Kind() == '0' {
		text = string(value) + "s"
	}
	d, ok := compat.ParseLifetime(text)
	if !ok || d < time.Second {
		return 0, body.Problem("must be a number above zero with a unit, for example 1h, 30 minutes or 2 days; a JSON number is in seconds")
	}
	return lifetime(d), nil
}

// formatLifetime writes a lifetime as readLifetime reads it: in the greatest unit that fits.
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
	return q.Guess(ctx, limit.HostLogin, asked.Username, true, func() error {
		right, err := q.Tenant.Users.Verify(ctx, credential.Turn{Namespace: q.Tenant.Namespace}, asked.Username, asked.Password)
		if err == nil && !right {
			err = admission.ErrWrongLogin
		}
		return err
	})
}
