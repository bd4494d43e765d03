// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"errors"
	"time"

	"convene.dev/convene/internal/fault"
)

// TokenRequest is what a token is made of.
type TokenRequest struct {
	// Username is required. The caller has checked its password.
	Username  string
	Presenter bool
	// Lifetime is at least one second.
	Lifetime time.Duration
	// Users are the tenant's host users, nil when it has none.
	Users *Users
}

// TokenGrant is what a valid token says.
type TokenGrant struct {
	ID        string
	Username  string
	Presenter bool
	Expires   time.Time
}

type tokenClaims struct {
	envelope
	Presenter bool `json:"presenter"`
}

var errToken = fault.Denied("The token is not valid: ask for a new one with POST /api/v1/token")

// IssueToken makes an API token: good for every room of the tenant until it expires, or its user's password changes.
// It is Denied for a user whom the tenant does not know.
func (s *Signer) IssueToken(r TokenRequest, now time.Time) (string, error) {
	if r.Username == "" {
		return "", errors.New("credential: a token without a username")
	}
	return s.issue(purposeToken, &tokenClaims{Presenter: r.Presenter}, r.Username, r.Username, r.Users, r.Lifetime, now)
}

// VerifyToken returns what a token says. Users are the tenant's host users now, nil when it has none. Every refusal is
// Denied with the same message.
func (s *Signer) VerifyToken(signed string, users *Users, now time.Time) (TokenGrant, error) {
	var claims tokenClaims
	key, err := s.verify(purposeToken, signed, &claims, now)
	if err != nil {
		return TokenGrant{}, err
	}
	if err := key.checkUser(purposeToken, users, claims.Subject, &claims.envelope); err != nil {
		return TokenGrant{}, err
	}
	return TokenGrant{ID: claims.ID, Username: claims.Subject, Presenter: claims.Presenter, Expires: claims.expires()}, nil
}
