// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/tenant"
)

func TestToken(t *testing.T) {
	short := func(t *tenant.Tenant) { t.TokenLifetime, t.MaxTokenLifetime = 10*time.Minute, time.Hour }
	for _, tc := range []struct {
		reason, body string
		change       []func(*tenant.Tenant)
		want         credential.TokenGrant
	}{
		{"the username alone", `{"username":"ada"}`, nil, credential.TokenGrant{Username: "ada", Expires: start.Add(time.Hour)}},
		{
			"what the sample client sends", `{"username":"ada","password":"x","presenter":"true","expire":"1h"}`, nil,
			credential.TokenGrant{Username: "ada", Presenter: true, Expires: start.Add(time.Hour)},
		},
		{"seconds", `{"username":"u","expire":"90s"}`, nil, credential.TokenGrant{Username: "u", Expires: start.Add(90 * time.Second)}},
		{"the greatest", `{"username":"u","expire":"30d"}`, nil, credential.TokenGrant{Username: "u", Expires: start.Add(30 * 24 * time.Hour)}},
		{"unit words", `{"username":"u","expire":"30 minutes"}`, nil, credential.TokenGrant{Username: "u", Expires: start.Add(30 * time.Minute)}},
		{"a fraction", `{"username":"u","expire":"1.5h"}`, nil, credential.TokenGrant{Username: "u", Expires: start.Add(90 * time.Minute)}},
		{"a JSON number of seconds", `{"username":"u","expire":3600}`, nil, credential.TokenGrant{Username: "u", Expires: start.Add(time.Hour)}},
		{"weeks", `{"username":"u","expire":"04w"}`, nil, credential.TokenGrant{Username: "u", Expires: start.Add(28 * 24 * time.Hour)}},
		{"the tenant's default", `{"username":"u","expire":null}`, []func(*tenant.Tenant){short}, credential.TokenGrant{Username: "u", Expires: start.Add(10 * time.Minute)}},
		{
			"a user", `{"username":"ada","password":"correct-horse","presenter":1}`, []func(*tenant.Tenant){withUsers},
			credential.TokenGrant{Username: "ada", Presenter: true, Expires: start.Add(time.Hour)},
		},
	} {
		one := testTenant(v1alpha1.VariantB, tc.change...)
		w := newWorld(t, one).serve()
		got := w.do(http.MethodPost, "token", tc.body)
		if got.status != http.StatusOK {
			t.Errorf("%s: %d %s", tc.reason, got.status, got.body)
			continue
		}
		grant, err := one.Signer.VerifyToken(got.text(t, "token"), one.Users, start)
		if err != nil {
			t.Errorf("%s: %v", tc.reason, err)
		}
		if diff := cmp.Diff(tc.want, grant, cmpopts.IgnoreFields(credential.TokenGrant{}, "ID")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

func TestTokenOfUsers(t *testing.T) {
	for _, tc := range []struct {
		reason, body string
		status       int
		says         string
	}{
		{"a wrong password", `{"username":"ada","password":"battery"}`, 403, "The username or password is wrong; try again"},
		{"an unknown user", `{"username":"eve","password":"correct-horse"}`, 403, "The username or password is wrong; try again"},
		{"no password", `{"username":"ada"}`, 400, "password is required; give the user's password"},
		{"an empty password", `{"username":"ada","password":""}`, 400, "password is required; give the user's password"},
	} {
		w := newWorld(t, testTenant(v1alpha1.VariantA, withUsers)).serve()
		got := w.do(http.MethodPost, "token", tc.body)
		if got.status != tc.status || got.text(t, "error") != tc.says {
			t.Errorf("%s: %d %s", tc.reason, got.status, got.body)
		}
	}
}

func TestTokenHidesThePassword(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, withUsers)).serve()
	got := w.do(http.MethodPost, "token", `{"username":"ada","password":"correct-horse"}`)
	for _, part := range strings.Split(got.text(t, "token"), ".") {
		if strings.Contains(decode(t, part), "horse") {
			t.Errorf("the token holds the password")
		}
	}
}

func TestNoSigningKeys(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.Signer = nil })).serve()
	for path, body := range map[string]string{"token": `{"username":"u"}`, "join": `{"room":"r","name":"n"}`} {
		got := w.do(http.MethodPost, path, body)
		if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if commands := w.meetings.took(); len(commands) > 0 {
		t.Errorf("a meeting that nobody gets a link for: %v", commands)
	}
}

// The clocks of the replicas' machines differ; what one signs, the others have to accept.
func TestLinksAndTokensAreDatedByTheCluster(t *testing.T) {
	for _, off := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
		one := testTenant(v1alpha1.VariantA)
		w := newWorld(t, one)
		cluster := start.Add(off)
		w.options.ClusterTime = func() time.Time { return cluster }
		w.serve()
		signed := w.do(http.MethodPost, "token", `{"username":"ada"}`).text(t, "token")
		if grant, err := one.Signer.VerifyToken(signed, nil, cluster); err != nil || !grant.Expires.Equal(cluster.Add(time.Hour)) {
			t.Errorf("off by %s, the token ends at %s: %v", off, grant.Expires, err)
		}
		joined := w.do(http.MethodPost, "join", `{"room":"r","name":"Ada","token":"`+signed+`"}`)
		if joined.status != http.StatusOK {
			t.Fatalf("off by %s, the token is refused: %s", off, joined.body)
		}
		link, err := url.Parse(joined.text(t, "join"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := one.Signer.VerifyTicket(link.Query().Get("token"), nil, cluster); err != nil {
			t.Errorf("off by %s, the link: %v", off, err)
		}
	}
}
