// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/md5" //nolint:gosec // the form that integrations write; the signature is checked before it matters
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
	// maxAhead bounds the time of making (iat) that counts, after now: the clock of the signer may be ahead.
	maxAhead = 5 * time.Minute
)

// TokenKey opens tokens that integrations sign themselves: a JWT (HS256) whose claim data holds, encrypted as CryptoJS does
// with a passphrase, who the user is. This package makes no such tokens.
type TokenKey struct{ pairs []keyPair }

// keyPair holds the keys of one release of the integrations.
type keyPair struct{ sign, encrypt []byte }

// NewTokenKey makes a key of the integrations' secret. Older releases sign and encrypt with the secret itself, MiroTalk SFU since
// 2.5.92 and MiroTalk P2P since 2.1.35 with keys that they derive from the secret.
func NewTokenKey(secret string) *TokenKey {
	raw, sfu := []byte(secret), deriveHex(secret, "mirotalksfu:auth")
	return &TokenKey{[]keyPair{
		{raw, raw},
		{sfu, sfu},
		{deriveHex(secret, "mirotalkp2p:jwt-sign"), deriveHex(secret, "mirotalkp2p:payload-encrypt")},
	}}
}

// deriveHex is HKDF-SHA256 without salt, written in hexadecimal digits.
func deriveHex(secret, info string) []byte {
	key, err := hkdf.Key(sha256.New, []byte(secret), nil, info, sha256.Size)
	if err != nil {
		panic(err) // It fails for lengths above 255 hashes alone.
	}
	return hex.AppendEncode(nil, key)
}

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

// ErrTokenEarly means that the clock of who signed the token is ahead of this service's.
var ErrTokenEarly = errors.New("compat: the token is not good yet")

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
	for _, pair := range k.pairs {
		claims, err := pair.check(signed, now)
		switch {
		case errors.Is(err, jwt.ErrTokenSignatureInvalid):
			continue
		case errors.Is(err, jwt.ErrTokenExpired):
			return Token{}, errTokenOver
		case errors.Is(err, jwt.ErrTokenNotValidYet):
			return Token{}, ErrTokenEarly
		case err != nil:
			return Token{}, errToken
		}
		plain, err := decrypt(claims.Data, pair.encrypt)
		if err != nil {
			return Token{}, err
		}
		return readToken(signed, plain, claims, l, now)
	}
	return Token{}, errToken
}

// check returns the claims of a token that the pair has signed. A time of making (iat) in the future is no error: RFC 7519 demands none,
// and the signer's clock may be ahead.
func (p *keyPair) check(signed string, now time.Time) (*tokenClaims, error) {
	var claims tokenClaims
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(),
		jwt.WithLeeway(tokenLeeway), jwt.WithTimeFunc(func() time.Time { return now }),
	)
	_, err := parser.ParseWithClaims(signed, &claims, func(t *jwt.Token) (any, error) {
		if _, critical := t.Header["crit"]; critical {
			return nil, errToken
		}
		return p.sign, nil
	})
	return &claims, err
}

// payload is the encrypted part. Its members are read like the members of a request.
type payload struct {
	Username  jsontext.Value `json:"username"`
	Password  jsontext.Value `json:"password"`
	Presenter jsontext.Value `json:"presenter"`
	Expire    jsontext.Value `json:"expire"`
}

func readToken(signed string, plain []byte, claims *tokenClaims, l Lifetimes, now time.Time) (Token, error) {
	var p payload
	if err := json.Unmarshal(plain, &p, jsontext.AllowDuplicateNames(true)); err != nil {
		return Token{}, errToken
	}
	username, ok := ReadText(p.Username)
	if !ok || username == "" || len(username) > maxUsername || strings.ContainsFunc(username, unicode.IsControl) {
		return Token{}, errToken
	}
	password, ok := ReadText(p.Password)
	if !ok && !MeansNone(p.Password) {
		return Token{}, errToken
	}
	presenter, _ := ReadFlag(p.Presenter)
	end, err := endOf(claims, p.Expire, l, now)
	if err != nil {
		return Token{}, err
	}
	sum := sha256.Sum256([]byte(signed))
	return Token{
		ID: base64.RawURLEncoding.EncodeToString(sum[:]), Username: username, Password: password, Presenter: presenter, Expires: end,
	}, nil
}

// endOf is when a token ends: as the JWT says, else as the encrypted lifetime says, else after the default, but never later than
// the greatest lifetime after it was made. A time of making that lies in the future by more than maxAhead does not count.
func endOf(claims *tokenClaims, expire jsontext.Value, l Lifetimes, now time.Time) (time.Time, error) {
	made, ahead := claims.IssuedAt, false
	if made != nil && made.After(now.Add(maxAhead)) {
		made, ahead = nil, true
	}
	var end time.Time
	switch {
	case claims.ExpiresAt != nil:
		end = claims.ExpiresAt.Time
	case made != nil:
		end = made.Add(lifetimeOf(expire, l.Default))
	case ahead:
		return end, ErrTokenEarly
	default:
		return end, errTokenNoTime
	}
	latest := now.Add(l.Greatest)
	switch {
	case made == nil && end.After(latest):
		return end, errTokenNoTime
	case made != nil:
		end = earlier(end, earlier(made.Add(l.Greatest), latest))
	}
	if now.After(end.Add(tokenLeeway)) {
		return end, errTokenOver
	}
	return end, nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// lifetimeOf reads a length of time in words, or a number of seconds. What it cannot read is the default.
func lifetimeOf(expire jsontext.Value, byDefault time.Duration) time.Duration {
	text := string(Scalar(expire))
	if expire.Kind() == '0' {
		text += "s"
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
