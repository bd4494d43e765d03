// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/fault"
)

func payload(t testing.TB, signed string) map[string]any {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(signed, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(raw, &claims); err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestTokenClaims(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	got := payload(t, issue(t, s))
	if id, _ := got["jti"].(string); len(id) != 22 {
		t.Errorf("jti %q is not 128 random bits", id)
	}
	delete(got, "jti")
	want := map[string]any{
		"iss": tenant, "aud": "convene/token", "sub": "ada", "presenter": true, "typ_use": "token",
		"iat": float64(now.Unix()), "nbf": float64(now.Unix()), "exp": float64(now.Add(time.Hour).Unix()),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
}

func TestVerifyToken(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	got, err := s.VerifyToken(issue(t, s), nil, now)
	if err != nil {
		t.Fatal(err)
	}
	if got.ID == "" {
		t.Error("no id")
	}
	got.ID = ""
	want := TokenGrant{Username: "ada", Presenter: true, Expires: now.Add(time.Hour)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("grant (-want +got):\n%s", diff)
	}
}

func TestTokenEndsWithThePassword(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	users, problems := ParseUsers([]byte(adaLine))
	if problems != nil {
		t.Fatal(problems)
	}
	changed, _ := ParseUsers([]byte(adaOtherLine))
	nobody, _ := ParseUsers(nil)
	verified, err := s.IssueToken(TokenRequest{Username: "ada", Lifetime: time.Hour, Users: users}, now)
	if err != nil {
		t.Fatal(err)
	}
	unverified := issue(t, s)
	for _, tc := range []struct {
		reason string
		token  string
		users  *Users
		ok     bool
	}{
		{"the password is the same", verified, users, true},
		{"the password was changed", verified, changed, false},
		{"the user was removed", verified, nobody, false},
		{"the tenant asks for no passwords any more", verified, nil, true},
		{"the token was made before the tenant asked for passwords", unverified, users, false},
	} {
		if _, err := s.VerifyToken(tc.token, tc.users, now); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
	if _, err := s.IssueToken(TokenRequest{Username: "eve", Lifetime: time.Hour, Users: users}, now); !fault.Is(err, fault.KindDenied) {
		t.Errorf("an unknown user: %v, want Denied", err)
	}
	if _, err := s.IssueToken(TokenRequest{Lifetime: time.Hour}, now); err == nil {
		t.Error("a token without a username was made")
	}
}

func BenchmarkIssueToken(b *testing.B) {
	s := newSigner(b, map[string][]byte{"20261121t120000z-0a1b": master(1)})
	users, _ := ParseUsers([]byte(adaLine))
	for name, users := range map[string]*Users{"users=none": nil, "users=some": users} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.IssueToken(TokenRequest{Username: "ada", Presenter: true, Lifetime: time.Hour, Users: users}, now); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVerifyToken(b *testing.B) {
	s := newSigner(b, map[string][]byte{"20261121t120000z-0a1b": master(1)})
	token := issue(b, s)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.VerifyToken(token, nil, now); err != nil {
			b.Fatal(err)
		}
	}
}
