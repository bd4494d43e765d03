// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5" //nolint:gosec // the form that integrations write; the signature is checked before it matters
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/golang-jwt/jwt/v5"
)

// MinTokenKey is the least length of the key of such tokens, in bytes: a token is in links, and anyone who has one can try short
// keys without asking this service.
const MinTokenKey = 16

const (
	// maxToken is the length in bytes beyond which nothing is parsed.
	maxToken    = 8 << 10
	maxUsername = 255
	tokenLeeway = 30 * time.Second
)

// TokenKey opens tokens that integrations sign themselves: a JWT (HS256) whose claim data holds, encrypted as CryptoJS does
// with a passphrase, who the user is. The same secret signs and encrypts. This package makes no such tokens.
type TokenKey struct{ secret []byte }

// NewTokenKey makes a key of the integrations' secret.
func NewTokenKey(secret string) *TokenKey { return &TokenKey{[]byte(secret)} }

// String keeps the secret out of logs.
func (*TokenKey) String() string { return "compat.TokenKey{…}" }

// GoString keeps the secret out of logs.
func (k *TokenKey) GoString() string { return k.String() }

// Token is what such a token says. Nothing has checked the password.
type Token struct {
	// ID is the same for each showing of one token.
	ID                 string
	Username, Password string
	Presenter          bool
	Expires            time.Time
}

// Lifetimes bound how long such a token is good for.
type Lifetimes struct {
	// Default is of a token that says nothing, and Greatest of all.
	Default, Greatest time.Duration
}

var (
	errToken       = errors.New("compat: no token of this key")
	errTokenOver   = errors.New("compat: the token is over")
	errTokenNoTime = errors.New("compat: the token does not say when it was made or ends, or lasts for longer than is allowed")
)

// tokenClaims are all that counts in the JWT.
type tokenClaims struct {
	Data string `json:"data"`
	jwt.RegisteredClaims
}

// Open checks a token and says what is in it. The error holds nothing of it.
func (k *TokenKey) Open(signed string, l Lifetimes, now time.Time) (Token, error) {
	// Go's base64 passes over line breaks. A token has one form.
	if len(signed) > maxToken || strings.ContainsAny(signed, "\r\n") {
		return Token{}, errToken
	}
	var claims tokenClaims
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(), jwt.WithIssuedAt(),
		jwt.WithLeeway(tokenLeeway), jwt.WithTimeFunc(func() time.Time { return now }),
	)
	_, err := parser.ParseWithClaims(signed, &claims, func(t *jwt.Token) (any, error) {
		if _, critical := t.Header["crit"]; critical {
			return nil, errToken
		}
		return k.secret, nil
	})
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return Token{}, errTokenOver
	case err != nil:
		return Token{}, errToken
	}
	plain, err := decrypt(claims.Data, k.secret)
	if err != nil {
		return Token{}, err
	}
	return readToken(signed, plain, &claims, l, now)
}

// payload is what is encrypted.
type payload struct {
	Username  string          `json:"username"`
	Password  string          `json:"password"`
	Presenter json.RawMessage `json:"presenter"`
	Expire    json.RawMessage `json:"expire"`
}

func readToken(signed string, plain []byte, claims *tokenClaims, l Lifetimes, now time.Time) (Token, error) {
	var p payload
	if err := json.Unmarshal(plain, &p); err != nil {
		return Token{}, errToken
	}
	if p.Username == "" || len(p.Username) > maxUsername || strings.ContainsFunc(p.Username, unicode.IsControl) {
		return Token{}, errToken
	}
	end, err := endOf(claims, p.Expire, l, now)
	if err != nil {
		return Token{}, err
	}
	sum := sha256.Sum256([]byte(signed))
	return Token{
		ID: base64.RawURLEncoding.EncodeToString(sum[:]), Username: p.Username, Password: p.Password, Presenter: isTrue(p.Presenter), Expires: end,
	}, nil
}

// isTrue reads true, "true", "1" and 1. Everything else is false.
func isTrue(value json.RawMessage) bool {
	switch string(value) {
	case "true", `"true"`, `"1"`, "1":
		return true
	}
	return false
}

// endOf is when a token ends: as the JWT says, else as the encrypted lifetime says, else after the default, but never later than
// the greatest lifetime after it was made.
func endOf(claims *tokenClaims, expire json.RawMessage, l Lifetimes, now time.Time) (time.Time, error) {
	var end time.Time
	switch {
	case claims.ExpiresAt != nil:
		end = claims.ExpiresAt.Time
	case claims.IssuedAt != nil:
		end = claims.IssuedAt.Add(lifetimeOf(expire, l.Default))
	}
	switch latest := now.Add(l.Greatest); {
	case end.IsZero():
		return end, errTokenNoTime
	case claims.IssuedAt != nil && end.After(claims.IssuedAt.Add(l.Greatest)):
		end = claims.IssuedAt.Add(l.Greatest)
	case claims.IssuedAt == nil && end.After(latest):
		return end, errTokenNoTime
	}
	if now.After(end.Add(tokenLeeway)) {
		return end, errTokenOver
	}
	return end, nil
}

// lifetimeOf reads a length of time in words, or a number of seconds. What it cannot read is the default.
func lifetimeOf(expire json.RawMessage, byDefault time.Duration) time.Duration {
	text := string(expire) + "s"
	var words string
	if json.Unmarshal(expire, &words) == nil {
		text = words
	}
	if d, ok := ParseLifetime(text); ok {
		return d
	}
	return byDefault
}

const (
	saltPrefix = "Salted__"
	saltSize   = 8
	keySize    = 32
)

// decrypt reads the OpenSSL form: base64 of Salted__, eight bytes of salt, and AES-256-CBC with PKCS #7 padding.
func decrypt(data string, secret []byte) ([]byte, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(data)
	if err != nil {
		return nil, errToken
	}
	rest, ok := bytes.CutPrefix(raw, []byte(saltPrefix))
	if !ok || len(rest) < saltSize+aes.BlockSize || (len(rest)-saltSize)%aes.BlockSize != 0 {
		return nil, errToken
	}
	key, iv := deriveKey(secret, rest[:saltSize])
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, errToken
	}
	plain := make([]byte, len(rest)-saltSize)
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, rest[saltSize:])
	padding := int(plain[len(plain)-1])
	if padding == 0 || padding > aes.BlockSize || !bytes.HasSuffix(plain, bytes.Repeat([]byte{byte(padding)}, padding)) {
		return nil, errToken
	}
	return plain[:len(plain)-padding], nil
}

// deriveKey is OpenSSL's EVP_BytesToKey with MD5 and one round.
func deriveKey(secret, salt []byte) (key, iv []byte) {
	var out, last []byte
	for len(out) < keySize+aes.BlockSize {
		h := md5.New() //nolint:gosec // see above
		_, _ = h.Write(last)
		_, _ = h.Write(secret)
		_, _ = h.Write(salt)
		last = h.Sum(nil)
		out = append(out, last...)
	}
	return out[:keySize], out[keySize : keySize+aes.BlockSize]
}
