// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const tenant = "convene/team/default"

func master(b byte) []byte { return bytes.Repeat([]byte{b}, SigningKeySize) }

func newSigner(t testing.TB, keys map[string][]byte) *Signer {
	t.Helper()
	s, problems := NewSigner(tenant, keys)
	if s == nil || problems != nil {
		t.Fatalf("NewSigner: %v, problems %v", s, problems)
	}
	return s
}

func issue(t testing.TB, s *Signer) string {
	t.Helper()
	token, err := s.IssueToken(TokenRequest{Username: "ada", Presenter: true, Lifetime: time.Hour}, now)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestSigningKeys(t *testing.T) {
	s, problems := NewSigner(tenant, map[string][]byte{"b": master(1), "a": make([]byte, 31), "0": nil})
	if s == nil {
		t.Fatal("the usable key was not used")
	}
	if diff := cmp.Diff([]SigningKeyProblem{{ID: "a", Others: 1}}, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if s, _ := NewSigner(tenant, map[string][]byte{"a": make([]byte, 31)}); s != nil {
		t.Error("a signer without a usable key is not nil")
	}
}

// TestSigningKeysAreBounded: a Secret has room for 30,000 keys, each of which a stamp would be compared with.
func TestSigningKeysAreBounded(t *testing.T) {
	all := map[string][]byte{}
	for i := range 3 * MaxSigningKeys {
		all[fmt.Sprintf("%03d", i)] = master(byte(i))
		all[fmt.Sprintf("short-%03d", i)] = nil
	}
	s, problems := NewSigner(tenant, all)
	if want := []SigningKeyProblem{{ID: "short-095", Others: 95}, {ID: "063", Others: 63, TooMany: true}}; !slices.Equal(problems, want) {
		t.Errorf("problems %v, want %v", problems, want)
	}
	if len(s.keys) != MaxSigningKeys || len(s.byID) != MaxSigningKeys || s.keys[0].id != "095" {
		t.Errorf("%d keys, the greatest is %s", len(s.keys), s.keys[0].id)
	}
	if string(s.pseudonym) != string(derive(master(0), "pseudonym")) {
		t.Error("participants have other identities than with the least key")
	}
}

func TestNilSignerIsUnavailable(t *testing.T) {
	var s *Signer
	_, err := s.IssueToken(TokenRequest{Username: "ada", Lifetime: time.Hour}, now)
	_, err2 := s.VerifyToken("x", nil, now)
	_, err3 := s.VerifyTicket("x", nil, now)
	_, err4 := s.VerifySession("x", now)
	for _, err := range []error{err, err2, err3, err4} {
		if !fault.Is(err, fault.KindUnavailable) {
			t.Errorf("got %v, want Unavailable", err)
		}
	}
}

func TestRotation(t *testing.T) {
	before := newSigner(t, map[string][]byte{"1": master(1)})
	overlap := newSigner(t, map[string][]byte{"1": master(1), "2": master(2)})
	after := newSigner(t, map[string][]byte{"2": master(2)})
	old, young := issue(t, before), issue(t, overlap)
	for _, tc := range []struct {
		reason string
		signer *Signer
		token  string
		ok     bool
	}{
		{"what the old key signed is good while both are there", overlap, old, true},
		{"the greater key signs", after, young, true},
		{"the greater key signs alone", before, young, false},
		{"removing a key ends what it signed", after, old, false},
	} {
		if _, err := tc.signer.VerifyToken(tc.token, nil, now); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
}

func TestNewSigningKey(t *testing.T) {
	id1, key1 := NewSigningKey(now)
	id2, key2 := NewSigningKey(now.Add(time.Second))
	if len(key1) != SigningKeySize || bytes.Equal(key1, key2) {
		t.Errorf("keys %x and %x are not two of %d bytes", key1, key2, SigningKeySize)
	}
	if id1 >= id2 {
		t.Errorf("the later id %q is not greater than %q", id2, id1)
	}
	// Of two replicas one sees the new key first: until both have, they sign with the old one.
	both := newSigner(t, map[string][]byte{id1: key1, id2: key2})
	only := newSigner(t, map[string][]byte{id1: key1})
	for _, at := range []time.Time{now, now.Add(time.Second), now.Add(settling)} {
		token, err := both.IssueToken(TokenRequest{Username: "ada", Lifetime: time.Hour}, at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := only.VerifyToken(token, nil, at); err != nil {
			t.Errorf("a key signed before its time: %v", err)
		}
	}
	later := now.Add(time.Second + settling)
	token, err := both.IssueToken(TokenRequest{Username: "ada", Lifetime: time.Hour}, later)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := only.VerifyToken(token, nil, later); err == nil {
		t.Error("the new key does not sign from its time on")
	}
	// A clock before every key must not stop the service.
	if _, err := both.IssueToken(TokenRequest{Username: "ada", Lifetime: time.Hour}, now.AddDate(-1, 0, 0)); err != nil {
		t.Errorf("with all keys in the future: %v", err)
	}
}

// forge signs any header and claims with the signer's own key.
func forge(t testing.TB, s *Signer, p purpose, header, claims map[string]any) string {
	t.Helper()
	h, _ := json.Marshal(header)
	c, _ := json.Marshal(claims)
	return forgeText(t, s, p, h, c)
}

func forgeText(t testing.TB, s *Signer, p purpose, header, claims []byte) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(claims)
	signature, err := jwt.SigningMethodHS256.Sign(text, s.keys[0].derived[p].key)
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func goodHeader() map[string]any { return map[string]any{"alg": "HS256", "typ": "JWT", "kid": "1"} }

func goodClaims() map[string]any {
	return map[string]any{
		"iss": tenant, "aud": "convene/token", "sub": "ada", "jti": "x", "typ_use": "token", "presenter": true,
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
}

func TestVerifyRefusesForgeries(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	if _, err := s.VerifyToken(forge(t, s, purposeToken, goodHeader(), goodClaims()), nil, now); err != nil {
		t.Fatalf("the forgery that changes nothing must pass, or the others prove nothing: %v", err)
	}
	with := func(m map[string]any, key string, value any) map[string]any {
		if m[key] = value; value == nil {
			delete(m, key)
		}
		return m
	}
	header := func(key string, value any) string {
		return forge(t, s, purposeToken, with(goodHeader(), key, value), goodClaims())
	}
	claim := func(key string, value any) string {
		return forge(t, s, purposeToken, goodHeader(), with(goodClaims(), key, value))
	}
	good := forge(t, s, purposeToken, goodHeader(), goodClaims())
	parts := strings.Split(good, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","kid":"1"}`))
	for reason, token := range map[string]string{
		"nothing":                           "",
		"not a JWT":                         "hunter2-is-not-a-token",
		"alg none without signature":        none + "." + parts[1] + ".",
		"alg none with signature":           none + "." + parts[1] + "." + parts[2],
		"another HMAC":                      header("alg", "HS512"),
		"an RSA algorithm with our key":     header("alg", "RS256"),
		"no kid":                            header("kid", nil),
		"a kid that is not there":           header("kid", "2"),
		"a kid that is no string":           header("kid", 1),
		"an extension that must be known":   header("crit", []string{"b64"}),
		"another tenant":                    claim("iss", "convene/team/other"),
		"no issuer":                         claim("iss", nil),
		"no subject":                        claim("sub", nil),
		"an empty subject":                  claim("sub", ""),
		"no id":                             claim("jti", nil),
		"another audience":                  claim("aud", "convene/ticket"),
		"no audience":                       claim("aud", nil),
		"a list of audiences":               claim("aud", []string{"convene/token"}),
		"another use":                       claim("typ_use", "ticket"),
		"no use":                            claim("typ_use", nil),
		"no exp":                            claim("exp", nil),
		"exp past the leeway":               claim("exp", now.Add(-31*time.Second).Unix()),
		"exp that is no number":             claim("exp", "never"),
		"no nbf":                            claim("nbf", nil),
		"nbf beyond the leeway":             claim("nbf", now.Add(31*time.Second).Unix()),
		"iat beyond the leeway":             claim("iat", now.Add(31*time.Second).Unix()),
		"signed with another purpose's key": forge(t, s, purposeTicket, goodHeader(), goodClaims()),
		"a changed payload":                 parts[0] + "." + parts[1][:len(parts[1])-2] + "AA." + parts[2],
		"a cut signature":                   good[:len(good)-1],
		"padding":                           good + "=",
		"the signature's spare bits":        good[:len(good)-1] + nextLetter(good[len(good)-1]),
		"a fourth part":                     good + ".x",
		"over 8 KiB":                        claim("jti", strings.Repeat("x", maxSigned)),
	} {
		_, err := s.VerifyToken(token, nil, now)
		if !fault.Is(err, fault.KindDenied) || fault.As(err).Message != errToken.Message {
			t.Errorf("%s: got %v, want the one refusal", reason, err)
			continue
		}
		if token != "" && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error repeats what was presented: %v", reason, err)
		}
	}
	for reason, token := range map[string]string{
		"exp within the leeway": claim("exp", now.Add(-29*time.Second).Unix()),
		"nbf within the leeway": claim("nbf", now.Add(29*time.Second).Unix()),
	} {
		if _, err := s.VerifyToken(token, nil, now); err != nil {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// nextLetter changes the lowest bits of a base64 letter, which the last letter of a signature does not use.
func nextLetter(c byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(alphabet[strings.IndexByte(alphabet, c)+1])
}

func TestPurposesHaveTheirOwnKeys(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	seen := map[string]purpose{}
	for p := range purposes {
		key := string(s.keys[0].derived[p].key)
		if other, ok := seen[key]; ok || key == string(master(1)) {
			t.Errorf("%s shares its key with %s or the master", p, other)
		}
		seen[key] = p
	}
	ticket, err := s.IssueTicket(Ticket{Room: "r", JoinOptions: meeting.JoinOptions{Name: "n"}}, nil, time.Hour, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.VerifyToken(ticket, nil, now); err == nil {
		t.Error("a ticket was taken for a token")
	}
	if _, err := s.VerifySession(ticket, now); err == nil {
		t.Error("a ticket was taken for a session")
	}
}

func TestIssueRefusesLifetimesBelowASecond(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	for _, lifetime := range []time.Duration{0, -time.Hour, time.Second - 1} {
		if token, err := s.IssueToken(TokenRequest{Username: "ada", Lifetime: lifetime}, now); err == nil {
			t.Errorf("lifetime %s gave %q", lifetime, token)
		}
	}
}

func TestPlainCauseCoversTheLibrary(t *testing.T) {
	if got := plainCause(errors.New("something with hunter2")); !errors.Is(got, jwt.ErrTokenInvalidClaims) {
		t.Errorf("an unknown error became %v", got)
	}
}

func FuzzVerify(f *testing.F) {
	s := newSigner(f, map[string][]byte{"1": master(1)})
	users, _ := ParseUsers([]byte(adaLine))
	// It must be the same in every process that the fuzzer starts, so nothing in it is random.
	token := forge(f, s, purposeToken, goodHeader(), goodClaims())
	f.Add(token)
	f.Add(token[:len(token)-1] + "=")
	f.Add(token[:len(token)-9] + "\n" + token[len(token)-9:])
	f.Add(token[:9] + "\r\n" + token[9:])
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Add("..")
	f.Add("")
	f.Fuzz(func(t *testing.T, presented string) {
		if _, err := s.VerifyToken(presented, nil, now); err == nil && presented != token {
			t.Errorf("accepted %q", presented)
		}
		if _, err := s.VerifyToken(presented, users, now); err == nil {
			t.Errorf("accepted %q without its user's password", presented)
		}
		if _, err := s.VerifyTicket(presented, nil, now); err == nil {
			t.Errorf("accepted %q as a ticket", presented)
		}
		if _, err := s.VerifySession(presented, now); err == nil {
			t.Errorf("accepted %q as a session", presented)
		}
	})
}

// FuzzSignedClaims reads headers and claims behind a good signature: what is accepted has all that is required.
func FuzzSignedClaims(f *testing.F) {
	s := newSigner(f, map[string][]byte{"1": master(1)})
	header, _ := json.Marshal(goodHeader())
	claims, _ := json.Marshal(goodClaims())
	f.Add(header, claims)
	for _, text := range []string{"", "{}", "[]", "null", `{"exp":1e999}`, `{"aud":["convene/token"]}`, `{"iss":1}`, `{"exp":-1,"nbf":9223372036854775807}`} {
		f.Add(header, []byte(text))
		f.Add([]byte(text), claims)
	}
	f.Add(header, bytes.Replace(claims, []byte(`"exp"`), []byte(`"EXP"`), 1))
	f.Fuzz(func(t *testing.T, header, claims []byte) {
		for p := range purposes {
			token := forgeText(t, s, p, header, claims)
			grants := []func() error{
				purposeToken:   func() error { _, err := s.VerifyToken(token, nil, now); return err },
				purposeTicket:  func() error { _, err := s.VerifyTicket(token, nil, now); return err },
				purposeSession: func() error { _, err := s.VerifySession(token, now); return err },
			}
			if err := grants[p](); err != nil {
				if !fault.Is(err, fault.KindDenied) {
					t.Errorf("%s %s %s: %v", p, header, claims, err)
				}
				continue
			}
			var e envelope
			if err := json.Unmarshal(claims, &e); err != nil || e.Issuer != tenant || e.Audience != p.audience() || e.ID == "" || e.Use != p.String() ||
				e.Subject == "" && p != purposeTicket || e.Expires <= now.Add(-leeway).Unix() || e.NotBefore == 0 || e.NotBefore > now.Add(leeway).Unix() {
				t.Errorf("%s is accepted with %s (%v)", p, claims, err)
			}
		}
	})
}

// TestPseudonymsOutlastSigningKeys: who was removed or muted is known by a pseudonym. Each rotation of the signing keys leaves it.
func TestPseudonymsOutlastSigningKeys(t *testing.T) {
	of := func(data map[string][]byte) string { return string(newSigner(t, data).Pseudonym("anna")) }
	made, later := NewSigningKeys(now), NewSigningKeys(now.Add(time.Hour))
	first := of(made)
	delete(later, PseudonymKey)
	maps.Copy(made, later)
	if of(made) != first {
		t.Error("a key was added")
	}
	later[PseudonymKey] = made[PseudonymKey]
	if of(later) != first {
		t.Error("the first key was removed")
	}
	if of(NewSigningKeys(now)) == first {
		t.Error("two tenants have one pseudonym")
	}

	// A Secret without the entry, from before there was one or by hand.
	old := map[string][]byte{"1": master(1), "2": master(2)}
	if of(old) != of(map[string][]byte{"1": master(1)}) || of(old) == of(map[string][]byte{"2": master(2)}) {
		t.Error("without the entry the least key does not count")
	}
	if of(old) != of(map[string][]byte{PseudonymKey: master(1), "2": master(2)}) {
		t.Error("the least key was moved to the entry")
	}
}

// TestThePseudonymKeySignsNothing: it is never rotated, so it must be worth nothing as a signing key.
func TestThePseudonymKeySignsNothing(t *testing.T) {
	if s, _ := NewSigner(tenant, map[string][]byte{PseudonymKey: master(1)}); s != nil {
		t.Error("the key of pseudonyms signs")
	}
	data := NewSigningKeys(now)
	for id := range data {
		if id <= PseudonymKey && id != PseudonymKey {
			t.Errorf("%s is not above %s, so that older builds sign with the latter", id, PseudonymKey)
		}
	}
	s := newSigner(t, data)
	claims := sessionClaims{envelope: envelope{
		Issuer: tenant, Audience: purposeSession.audience(), Subject: "a-b", ID: "x", IssuedAt: now.Unix(), NotBefore: now.Unix(),
		Expires: now.Add(time.Hour).Unix(), Use: purposeSession.String(),
	}}
	for id, key := range data {
		signed, err := sign(newSigningKey(id, key), purposeSession, &claims)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.verify(purposeSession, signed, &sessionClaims{}, now); (err == nil) != (id != PseudonymKey) {
			t.Errorf("what %s has signed: %v", id, err)
		}
	}
}
