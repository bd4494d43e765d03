// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"convene.dev/convene/internal/fault"
)

const (
	// leeway is how far the clocks of two replicas may be apart.
	leeway = 30 * time.Second
	// maxSigned is the length in bytes beyond which nothing is parsed: our own are below 5 KiB.
	maxSigned = 8 << 10
	// MaxSigningKeys is how many signing keys a tenant has: one for each day of the longest lifetime of a token, and the next.
	MaxSigningKeys = 32
)

// purpose is what a signed credential is for. One for one purpose is worth nothing for another.
type purpose int

const (
	purposeToken purpose = iota
	purposeTicket
	purposeSession
	purposes // their number
)

// String is the purpose's name in keys, audiences and the claim typ_use.
func (p purpose) String() string { return [...]string{"token", "ticket", "session"}[p] }

func (p purpose) audience() string { return "convene/" + p.String() }

// refusal is what a credential that is not good looks like outside, whatever is wrong with it.
func (p purpose) refusal() *fault.Error { return [...]*fault.Error{errToken, errTicket, errSession}[p] }

// Signer makes and checks the signed credentials of one tenant: JWTs (RFC 7519) with HS256. It is safe for concurrent
// use and never changes. A nil Signer signs nothing and accepts nothing: it answers Unavailable.
type Signer struct {
	issuer string
	// keys are sorted, greatest id first.
	keys []*signingKey
	byID map[string]*signingKey
	// pseudonym is what pseudonyms are made with.
	pseudonym []byte
}

var errNoSigningKey = fault.Unavailable("The service cannot sign or check tokens and links yet: try again in a moment")

// NewSigner returns the signer of a tenant from the data of its signing-keys Secret, key id to random bytes. The
// greatest id signs, all verify: a key is replaced by adding a greater one, and removed when what it signed has expired. Of more than
// MaxSigningKeys the greatest are used. Pseudonyms are made with PseudonymKey, or where there is none with the least. Keys that are not
// used are reported; without a usable one the signer is nil.
func NewSigner(issuer string, data map[string][]byte) (*Signer, []SigningKeyProblem) {
	s := &Signer{issuer: issuer, byID: map[string]*signingKey{}}
	var short, old []string
	least := ""
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(data))) {
		switch master := data[id]; {
		case len(master) < SigningKeySize:
			short = append(short, id)
		case id == PseudonymKey:
			s.pseudonym = derive(master, "pseudonym")
		case len(s.keys) == MaxSigningKeys:
			least, old = id, append(old, id)
		default:
			key := newSigningKey(id, master)
			least, s.byID[id], s.keys = id, key, append(s.keys, key)
		}
	}
	var problems []SigningKeyProblem
	if len(short) > 0 {
		problems = append(problems, SigningKeyProblem{ID: short[0], Others: len(short) - 1})
	}
	if len(old) > 0 {
		problems = append(problems, SigningKeyProblem{ID: old[0], Others: len(old) - 1, TooMany: true})
	}
	if len(s.keys) == 0 {
		return nil, problems
	}
	if s.pseudonym == nil {
		s.pseudonym = derive(data[least], "pseudonym")
	}
	return s, problems
}

// current is the key that signs now: the greatest that is not for later.
func (s *Signer) current(now time.Time) (*signingKey, error) {
	if s == nil {
		return nil, errNoSigningKey
	}
	for _, key := range s.keys {
		if key.activeFrom <= now.Unix() {
			return key, nil
		}
	}
	return s.keys[len(s.keys)-1], nil
}

// issue makes a credential for its subject. The username is that of a verified user, and empty for a guest; it is Denied for one whom
// the tenant's users do not know.
func (s *Signer) issue(p purpose, claims signedClaims, subject, username string, users *Users, lifetime time.Duration, now time.Time) (string, error) {
	key, err := s.current(now)
	if err != nil {
		return "", err
	}
	if lifetime < time.Second {
		return "", errors.New("credential: a lifetime below one second")
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // It never fails: crypto/rand ends the program first.
	e := claims.common()
	*e = envelope{
		Issuer:    s.issuer,
		Audience:  p.audience(),
		Subject:   subject,
		ID:        base64.RawURLEncoding.EncodeToString(id[:]),
		IssuedAt:  now.Unix(),
		NotBefore: now.Unix(),
		Expires:   now.Add(lifetime).Unix(),
		Use:       p.String(),
	}
	if username != "" {
		if e.Verifier, err = key.verifier(p, users, username); err != nil {
			return "", p.refusal().Because(err)
		}
	}
	return sign(key, p, claims)
}

// sign encodes claims under a key. The library's own encoder would encode the same header again each time, and write
// <, > and &, which a URL may be full of, in six bytes each. What would not be accepted again is not made.
func sign(key *signingKey, p purpose, claims any) (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(claims); err != nil {
		return "", err
	}
	body := bytes.TrimSuffix(text.Bytes(), []byte("\n"))
	derived := &key.derived[p]
	out := make([]byte, 0, len(derived.header)+base64.RawURLEncoding.EncodedLen(len(body))+44)
	out = append(out, derived.header...)
	out = base64.RawURLEncoding.AppendEncode(out, body)
	signature, err := jwt.SigningMethodHS256.Sign(string(out), derived.key)
	if err != nil {
		return "", err
	}
	out = append(out, '.')
	if out = base64.RawURLEncoding.AppendEncode(out, signature); len(out) > maxSigned {
		return "", errTooLong
	}
	return string(out), nil
}

var errTooLong = fault.Invalid("", "The link or token would be longer than %d KiB: shorten the names and the avatar's URL", maxSigned>>10)

// verify checks signed and decodes it into claims. Every refusal looks the same outside. Without any key it is not the credential that
// is wrong, and its holder should keep it.
func (s *Signer) verify(p purpose, signed string, claims signedClaims, now time.Time) (*signingKey, error) {
	if s == nil {
		return nil, errNoSigningKey
	}
	key, err := s.check(p, signed, claims, now)
	if err != nil {
		return nil, p.refusal().Because(err)
	}
	return key, nil
}

// check is verify with the cause of a refusal, which holds nothing of what was presented.
func (s *Signer) check(p purpose, signed string, claims signedClaims, now time.Time) (*signingKey, error) {
	if len(signed) > maxSigned {
		return nil, errors.New("credential: too long")
	}
	// Go's base64 passes over line breaks, strict or not. A credential has one form and no other (RFC 7515, section 2).
	if strings.ContainsAny(signed, "\r\n") {
		return nil, jwt.ErrTokenMalformed
	}
	var key *signingKey
	_, err := s.parser(p, now).ParseWithClaims(signed, claims, func(t *jwt.Token) (any, error) {
		// Extensions that a credential calls critical must be understood (RFC 7515, section 4.1.11); we know none.
		if _, critical := t.Header["crit"]; critical {
			return nil, errors.New("critical extension")
		}
		id, _ := t.Header["kid"].(string)
		if key = s.byID[id]; key == nil {
			return nil, errors.New("unknown signing key")
		}
		return key.derived[p].key, nil
	})
	if err != nil {
		return nil, plainCause(err)
	}
	e := claims.common()
	switch {
	case e.Use != p.String():
		return nil, errors.New("credential: made for another use")
	case e.ID == "":
		return nil, errors.New("credential: without an id")
	case e.Subject == "" && p != purposeTicket: // A guest has no username.
		return nil, errors.New("credential: without a subject")
	}
	return key, nil
}

func (s *Signer) parser(p purpose, now time.Time) *jwt.Parser {
	return jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithStrictDecoding(),
		jwt.WithIssuer(s.issuer),
		jwt.WithAudience(p.audience()),
		jwt.WithExpirationRequired(),
		jwt.WithNotBeforeRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway),
		jwt.WithTimeFunc(func() time.Time { return now }),
	)
}

// plainCause reduces an error of the library to one of its fixed ones, as its full text repeats what was presented.
func plainCause(err error) error {
	for _, known := range []error{
		jwt.ErrTokenMalformed, jwt.ErrTokenUnverifiable, jwt.ErrTokenSignatureInvalid, jwt.ErrTokenExpired,
		jwt.ErrTokenNotValidYet, jwt.ErrTokenUsedBeforeIssued, jwt.ErrTokenInvalidIssuer, jwt.ErrTokenInvalidAudience,
		jwt.ErrTokenRequiredClaimMissing,
	} {
		if errors.Is(err, known) {
			return known
		}
	}
	return jwt.ErrTokenInvalidClaims
}
