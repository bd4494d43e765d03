// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/compat/compattest"
)

const tokenSecret = "operators-own-jwt-key"

var (
	tokenNow       = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	tokenLifetimes = Lifetimes{Default: time.Hour, Greatest: 30 * 24 * time.Hour}
)

// legacyToken is what an integration sends.
func legacyToken(t testing.TB, data string, more jwt.MapClaims) string {
	t.Helper()
	claims := jwt.MapClaims{"data": compattest.Encrypt(t, data, tokenSecret), "iat": tokenNow.Unix()}
	for name, value := range more {
		claims[name] = value
		if value == nil {
			delete(claims, name)
		}
	}
	return compattest.Sign(t, claims, tokenSecret)
}

// makeTokens signs and encrypts as integrations do, without a JWT library: crypto-js for the one, Node.js for the other.
const makeTokens = `
const CryptoJS = require('crypto-js'), { createHmac, hkdfSync } = require('node:crypto');
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const { secret, uses, iat, exp, payloads } = JSON.parse(input);
const key = (use) => use === '' ? secret : Buffer.from(hkdfSync('sha256', secret, '', use, 32)).toString('hex');
console.log(JSON.stringify(payloads.map((payload) => {
	const data = CryptoJS.AES.encrypt(JSON.stringify(payload), key(uses[1])).toString();
	const body = part({ alg: 'HS256', typ: 'JWT' }) + '.' + part({ data, iat, exp });
	return body + '.' + createHmac('sha256', key(uses[0])).update(body).digest('base64url');
})));`

// keyUses name the keys for signing and encrypting, as releases derive them. An empty name stands for the secret itself.
var keyUses = map[string][2]string{
	"the secret itself":            {"", ""},
	"derived as MiroTalk SFU does": {"mirotalksfu:auth", "mirotalksfu:auth"},
	"derived as MiroTalk P2P does": {"mirotalkp2p:jwt-sign", "mirotalkp2p:payload-encrypt"},
}

func TestTokensOfCryptoJS(t *testing.T) {
	type object = map[string]any
	payloads := []object{
		{"username": "ada", "password": "correct horse", "presenter": true},
		{"username": "ada", "password": "", "presenter": "true", "expire": "2h"},
		{"username": "ünïcødé 🙂", "password": "pässwörd", "presenter": "1"},
		{"username": "bob", "password": strings.Repeat("p", 500), "presenter": 1},
		{"username": "bob", "password": "x", "presenter": false},
		{"username": "bob", "password": "x", "presenter": "false"},
		{"username": "bob", "password": "x"},
	}
	end := tokenNow.Add(90 * time.Minute)
	for release, uses := range keyUses {
		var signed []string
		oracle(t, makeTokens, object{"secret": tokenSecret, "uses": uses, "iat": tokenNow.Unix(), "exp": end.Unix(), "payloads": payloads}, &signed)
		for i, presenter := range []bool{true, true, true, true, false, false, false} {
			got, err := NewTokenKey(tokenSecret).Open(signed[i], tokenLifetimes, tokenNow)
			if err != nil {
				t.Errorf("%s, %v: %v", release, payloads[i], err)
				continue
			}
			want := Token{ID: got.ID, Username: payloads[i]["username"].(string), Password: payloads[i]["password"].(string), Presenter: presenter, Expires: end}
			got.Expires = got.Expires.UTC()
			if diff := cmp.Diff(want, got); diff != "" || got.ID == "" {
				t.Errorf("%s, %v (-want +got):\n%s", release, payloads[i], diff)
			}
		}
	}
}

// TestKeysAreOfOneRelease: what one release signs, another's key does not decrypt.
func TestKeysAreOfOneRelease(t *testing.T) {
	var mixed []string
	for signs, a := range keyUses {
		for encrypts, b := range keyUses {
			if signs == encrypts {
				continue
			}
			oracle(t, makeTokens, map[string]any{
				"secret": tokenSecret, "uses": [2]string{a[0], b[1]}, "iat": tokenNow.Unix(), "payloads": []map[string]any{{"username": "ada"}},
			}, &mixed)
			if got, err := NewTokenKey(tokenSecret).Open(mixed[0], tokenLifetimes, tokenNow); err == nil {
				t.Errorf("signed with %s and encrypted with %s: it opens as %+v", signs, encrypts, got)
			}
		}
	}
}

// TestScalarsOfPayloads: backends of all languages write what is in a token as they write the body of a request.
func TestScalarsOfPayloads(t *testing.T) {
	for _, tc := range []struct {
		payload string
		want    Token
	}{
		{`{"username":42}`, Token{Username: "42"}},
		{`{"username":42.0}`, Token{Username: "42"}},
		{`{"username":"42"}`, Token{Username: "42"}},
		{`{"username":"\u0061da","password":1234}`, Token{Username: "ada", Password: "1234"}},
		{`{"username":"ada","password":false}`, Token{Username: "ada"}},
		{`{"username":"ada","password":null}`, Token{Username: "ada"}},
		{`{"username":"ada","password":"false"}`, Token{Username: "ada", Password: "false"}},
		{`{"username":"ada","presenter":"True"}`, Token{Username: "ada", Presenter: true}},
		{`{"username":"ada","presenter":"TRUE"}`, Token{Username: "ada", Presenter: true}},
		{`{"username":"ada","presenter":1.0}`, Token{Username: "ada", Presenter: true}},
		{`{"username":"ada","presenter":"0"}`, Token{Username: "ada"}},
		{`{"username":"ada","presenter":"yes"}`, Token{Username: "ada"}},
		{`{"username":"ada","presenter":[true]}`, Token{Username: "ada"}},
		{`{"username":"bob","username":"ada"}`, Token{Username: "ada"}},
	} {
		got, err := NewTokenKey(tokenSecret).Open(legacyToken(t, tc.payload, nil), tokenLifetimes, tokenNow)
		tc.want.ID, tc.want.Expires = got.ID, got.Expires
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tc.payload, err, diff)
		}
	}
}

// TestClocksThatAreAhead: a token of a service whose clock is ahead is good, and for no longer than another.
func TestClocksThatAreAhead(t *testing.T) {
	const user = `{"username":"ada"}`
	for _, tc := range []struct {
		ahead  time.Duration
		claims jwt.MapClaims
		// lasts is counted from now. Zero is for a refusal.
		lasts time.Duration
		err   error
	}{
		{31 * time.Second, nil, time.Hour + 31*time.Second, nil},
		{3 * time.Minute, nil, time.Hour + 3*time.Minute, nil},
		{3 * time.Minute, jwt.MapClaims{"exp": tokenNow.Add(2 * time.Hour).Unix()}, 2 * time.Hour, nil},
		{3 * time.Minute, jwt.MapClaims{"exp": tokenNow.Add(9000 * time.Hour).Unix()}, tokenLifetimes.Greatest, nil},
		{2 * time.Hour, jwt.MapClaims{"exp": tokenNow.Add(3 * time.Hour).Unix()}, 3 * time.Hour, nil},
		{2 * time.Hour, jwt.MapClaims{"exp": tokenNow.Add(9000 * time.Hour).Unix()}, 0, errTokenNoTime},
		{2 * time.Hour, nil, 0, ErrTokenEarly},
		{0, jwt.MapClaims{"nbf": tokenNow.Add(20 * time.Second).Unix()}, time.Hour, nil},
		{0, jwt.MapClaims{"nbf": tokenNow.Add(45 * time.Second).Unix()}, 0, ErrTokenEarly},
	} {
		claims := jwt.MapClaims{"iat": tokenNow.Add(tc.ahead).Unix()}
		maps.Copy(claims, tc.claims)
		got, err := NewTokenKey(tokenSecret).Open(legacyToken(t, user, claims), tokenLifetimes, tokenNow)
		if !errors.Is(err, tc.err) || err == nil && !got.Expires.Equal(tokenNow.Add(tc.lasts)) {
			t.Errorf("%s ahead, %v: ends at %s, %v; want after %s, %v", tc.ahead, tc.claims, got.Expires, err, tc.lasts, tc.err)
		}
	}
}

// TestCryptoJSReadsWhatTestsWrite: the tokens of the other tests are what integrations make.
func TestCryptoJSReadsWhatTestsWrite(t *testing.T) {
	const plain = `{"username":"ada","password":"secret","presenter":true}`
	signed := legacyToken(t, plain, nil)
	var got []string
	oracle(t, `
const CryptoJS = require('crypto-js'), { createHmac } = require('node:crypto');
const { secret, signed } = JSON.parse(input);
const [header, body, signature] = signed.split('.');
const { data } = JSON.parse(Buffer.from(body, 'base64url'));
console.log(JSON.stringify([
	CryptoJS.AES.decrypt(data, secret).toString(CryptoJS.enc.Utf8),
	String(createHmac('sha256', secret).update(header + '.' + body).digest('base64url') === signature),
]));`, map[string]string{"secret": tokenSecret, "signed": signed}, &got)
	if diff := cmp.Diff([]string{plain, "true"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhenATokenEnds(t *testing.T) {
	const user = `{"username":"ada","password":"x"`
	for _, tc := range []struct {
		reason, payload string
		claims          jwt.MapClaims
		// lasts is counted from when the token was made.
		lasts time.Duration
	}{
		{"as the JWT says", user + `}`, jwt.MapClaims{"exp": tokenNow.Add(2 * time.Hour).Unix()}, 2 * time.Hour},
		{"as the JWT says, whatever is encrypted", user + `,"expire":"5h"}`, jwt.MapClaims{"exp": tokenNow.Add(2 * time.Hour).Unix()}, 2 * time.Hour},
		{"as the encrypted lifetime says", user + `,"expire":"3 days"}`, nil, 72 * time.Hour},
		{"as the encrypted number of seconds says", user + `,"expire":600}`, nil, 10 * time.Minute},
		{"after the default", user + `}`, nil, time.Hour},
		{"after the default where the lifetime cannot be read", user + `,"expire":"soon"}`, nil, time.Hour},
		{"no later than the greatest lifetime, by the JWT", user + `}`, jwt.MapClaims{"exp": tokenNow.Add(9000 * time.Hour).Unix()}, tokenLifetimes.Greatest},
		{"no later than the greatest lifetime, by what is encrypted", user + `,"expire":"1y"}`, nil, tokenLifetimes.Greatest},
		{"without a time when it was made", user + `}`, jwt.MapClaims{"iat": nil, "exp": tokenNow.Add(2 * time.Hour).Unix()}, 2 * time.Hour},
	} {
		signed := legacyToken(t, tc.payload, tc.claims)
		got, err := NewTokenKey(tokenSecret).Open(signed, tokenLifetimes, tokenNow)
		if err != nil || !got.Expires.Equal(tokenNow.Add(tc.lasts)) {
			t.Errorf("%s: ends at %s, %v; want after %s", tc.reason, got.Expires, err, tc.lasts)
		}
		if _, err := NewTokenKey(tokenSecret).Open(signed, tokenLifetimes, tokenNow.Add(tc.lasts+time.Minute)); err == nil {
			t.Errorf("%s: it opens after its end", tc.reason)
		}
	}
}

func TestTokensThatAreRefused(t *testing.T) {
	const user = `{"username":"ada","password":"x"}`
	good := compattest.Encrypt(t, user, tokenSecret)
	iat := tokenNow.Unix()
	none, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{"data": good, "iat": iat}).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	other, err := jwt.NewWithClaims(jwt.SigningMethodHS512, jwt.MapClaims{"data": good, "iat": iat}).SignedString([]byte(tokenSecret))
	if err != nil {
		t.Fatal(err)
	}
	whole := legacyToken(t, user, nil)
	raw, _ := base64.StdEncoding.DecodeString(good)
	for reason, signed := range map[string]string{
		"empty": "", "no token": "nonsense", "no signature": none, "another algorithm": other,
		"another key signed":       compattest.Sign(t, jwt.MapClaims{"data": good, "iat": iat}, "another-key-of-16"),
		"another key encrypted":    compattest.Sign(t, jwt.MapClaims{"data": compattest.Encrypt(t, user, "another-key-of-16"), "iat": iat}, tokenSecret),
		"no data":                  compattest.Sign(t, jwt.MapClaims{"iat": iat}, tokenSecret),
		"data that is no text":     compattest.Sign(t, jwt.MapClaims{"data": 1, "iat": iat}, tokenSecret),
		"data in plain":            compattest.Sign(t, jwt.MapClaims{"data": user, "iat": iat}, tokenSecret),
		"data without salt":        compattest.Sign(t, jwt.MapClaims{"data": base64.StdEncoding.EncodeToString(raw[16:]), "iat": iat}, tokenSecret),
		"data that is cut off":     compattest.Sign(t, jwt.MapClaims{"data": base64.StdEncoding.EncodeToString(raw[:len(raw)-1]), "iat": iat}, tokenSecret),
		"data of salt alone":       compattest.Sign(t, jwt.MapClaims{"data": base64.StdEncoding.EncodeToString(raw[:16]), "iat": iat}, tokenSecret),
		"no JSON":                  legacyToken(t, "username=ada", nil),
		"nothing encrypted":        legacyToken(t, "", nil),
		"no username":              legacyToken(t, `{"password":"x"}`, nil),
		"a username of two lines":  legacyToken(t, `{"username":"a\nb"}`, nil),
		"a username that is long":  legacyToken(t, `{"username":"`+strings.Repeat("u", 256)+`"}`, nil),
		"a username of a flag":     legacyToken(t, `{"username":true}`, nil),
		"a username of null":       legacyToken(t, `{"username":null}`, nil),
		"a username of a list":     legacyToken(t, `{"username":["ada"]}`, nil),
		"a password of a list":     legacyToken(t, `{"username":"ada","password":["x"]}`, nil),
		"a list":                   legacyToken(t, `[{"username":"ada"}]`, nil),
		"made in the future":       legacyToken(t, user, jwt.MapClaims{"iat": tokenNow.Add(time.Hour).Unix()}),
		"not yet":                  legacyToken(t, user, jwt.MapClaims{"nbf": tokenNow.Add(time.Hour).Unix()}),
		"over":                     legacyToken(t, user, jwt.MapClaims{"exp": tokenNow.Add(-time.Hour).Unix()}),
		"without any time":         legacyToken(t, user, jwt.MapClaims{"iat": nil}),
		"for ever, made sometime":  legacyToken(t, user, jwt.MapClaims{"iat": nil, "exp": tokenNow.Add(9000 * time.Hour).Unix()}),
		"a line break in it":       whole[:20] + "\n" + whole[20:],
		"too long":                 legacyToken(t, user, jwt.MapClaims{"more": strings.Repeat("x", maxToken)}),
		"a change in the claims":   strings.Replace(whole, ".", ".e", 1),
		"a change in the sign":     whole[:len(whole)-2] + "AA",
		"a critical extension":     critical(t, good),
		"a signature over nothing": strings.Join(append(strings.Split(whole, ".")[:2], ""), "."),
	} {
		got, err := NewTokenKey(tokenSecret).Open(signed, tokenLifetimes, tokenNow)
		if err == nil {
			t.Errorf("%s: opens as %+v", reason, got)
		} else if strings.Contains(err.Error(), "ada") {
			t.Errorf("%s: the error says %v", reason, err)
		}
	}
}

func critical(t *testing.T, data string) string {
	t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"data": data, "iat": tokenNow.Unix()})
	token.Header["crit"] = []string{"b64"}
	signed, err := token.SignedString([]byte(tokenSecret))
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func TestATokenKeyIsNotPrinted(t *testing.T) {
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if said := fmt.Sprintf(form, NewTokenKey(tokenSecret)); strings.Contains(said, "operators") {
			t.Errorf("%s prints %s", form, said)
		}
	}
}

// FuzzTokenKeyOpen: whatever is shown, nothing fails, and nothing is believed that the key has not signed.
func FuzzTokenKeyOpen(f *testing.F) {
	key := NewTokenKey(tokenSecret)
	good := legacyToken(f, `{"username":"ada","password":"x"}`, nil)
	for _, signed := range []string{good, "", "a.b.c", good[:len(good)-1], strings.ToUpper(good)} {
		f.Add(signed)
	}
	f.Fuzz(func(t *testing.T, signed string) {
		if _, err := key.Open(signed, tokenLifetimes, tokenNow); err != nil {
			return
		}
		// Not good itself: each process of a fuzzer makes another, and all show each other theirs.
		at := strings.LastIndexByte(signed, '.')
		mac := hmac.New(sha256.New, []byte(tokenSecret))
		_, _ = mac.Write([]byte(signed[:at]))
		if base64.RawURLEncoding.EncodeToString(mac.Sum(nil)) != signed[at+1:] {
			t.Errorf("%q opens", signed)
		}
	})
}

// FuzzTokenData: whatever an integration has signed, reading it does not fail otherwise than with an error.
func FuzzTokenData(f *testing.F) {
	key := NewTokenKey(tokenSecret)
	f.Add(compattest.Encrypt(f, `{"username":"ada"}`, tokenSecret), `{"username":"ada","presenter":[1],"expire":{}}`)
	f.Add("U2FsdGVkX1", `{"username":"ada","expire":1e400}`)
	f.Add("", "null")
	f.Fuzz(func(t *testing.T, data, plain string) {
		_, _ = key.Open(compattest.Sign(t, jwt.MapClaims{"data": data, "iat": tokenNow.Unix()}, tokenSecret), tokenLifetimes, tokenNow)
		got, err := key.Open(legacyToken(t, plain, nil), tokenLifetimes, tokenNow)
		if err == nil && (got.Username == "" || got.Expires.After(tokenNow.Add(tokenLifetimes.Greatest)) || !json.Valid([]byte(plain))) {
			t.Errorf("%q opens as %+v", plain, got)
		}
	})
}
