// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// envelope holds the claims that every credential has.
type envelope struct {
	Issuer    string `json:"iss"`
	Audience  string `json:"aud"`
	Subject   string `json:"sub,omitempty"`
	ID        string `json:"jti"`
	IssuedAt  int64  `json:"iat"`
	NotBefore int64  `json:"nbf"`
	Expires   int64  `json:"exp"`
	// Use tells the room page, which cannot check a signature, what it was given.
	Use string `json:"typ_use"`
	// Verifier ties the credential to the user's password; see verifier.
	Verifier string `json:"uv,omitempty"`
}

// signedClaims is what every credential's claims are.
type signedClaims interface {
	jwt.Claims
	common() *envelope
}

func (e *envelope) common() *envelope { return e }

func (e *envelope) expires() time.Time { return time.Unix(e.Expires, 0).UTC() }

func (e *envelope) GetExpirationTime() (*jwt.NumericDate, error) { return numericDate(e.Expires), nil }
func (e *envelope) GetIssuedAt() (*jwt.NumericDate, error)       { return numericDate(e.IssuedAt), nil }
func (e *envelope) GetNotBefore() (*jwt.NumericDate, error)      { return numericDate(e.NotBefore), nil }
func (e *envelope) GetIssuer() (string, error)                   { return e.Issuer, nil }
func (e *envelope) GetSubject() (string, error)                  { return e.Subject, nil }
func (e *envelope) GetAudience() (jwt.ClaimStrings, error)       { return jwt.ClaimStrings{e.Audience}, nil }

// numericDate returns nil for a claim that is absent.
func numericDate(seconds int64) *jwt.NumericDate {
	if seconds == 0 {
		return nil
	}
	return &jwt.NumericDate{Time: time.Unix(seconds, 0)}
}
