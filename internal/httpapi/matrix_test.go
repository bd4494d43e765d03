// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
)

const neighbourKey = "neighbour-key-of-many-characters"

// credentialForms are ways to present a secret to a tenant whose key is given; foreign is another tenant's.
var credentialForms = []struct {
	reason string
	values func(key, foreign string) []string
	right  bool
}{
	{"the key", func(key, _ string) []string { return []string{key} }, true},
	{"the key with the space that HTTP does not count", func(key, _ string) []string { return []string{"  " + key + "\t"} }, true},
	{"no header", func(_, _ string) []string { return nil }, false},
	{"an empty header", func(_, _ string) []string { return []string{""} }, false},
	{"a key of nobody", func(_, _ string) []string { return []string{"wrong-key-of-32-random-characters"} }, false},
	{"the other tenant's key", func(_, foreign string) []string { return []string{foreign} }, false},
	{"a scheme before the key", func(key, _ string) []string { return []string{"Bearer " + key} }, false},
	{"another scheme before the key", func(key, _ string) []string { return []string{"Basic " + key} }, false},
	{"the header twice, right both times", func(key, _ string) []string { return []string{key, key} }, false},
	{"the header twice, right the first time", func(key, _ string) []string { return []string{key, "wrong"} }, false},
	{"the header twice, right the second time", func(key, foreign string) []string { return []string{foreign, key} }, false},
	{"two keys in one header", func(key, _ string) []string { return []string{key + ", " + key} }, false},
	{"the beginning of the key", func(key, _ string) []string { return []string{key[:len(key)-1]} }, false},
	{"the key and more", func(key, _ string) []string { return []string{key + "x"} }, false},
	{"the key in other case", func(key, _ string) []string { return []string{strings.ToUpper(key)} }, false},
	{"the key in quotes", func(key, _ string) []string { return []string{`"` + key + `"`} }, false},
}

// everyEndpoint is a good request to each of them, and how a good answer begins.
var everyEndpoint = []struct {
	endpoint           tenant.Endpoint
	method, path, body string
	variantA           bool
	begins             string
}{
	{tenant.Stats, http.MethodGet, "stats", "", false, `{"success":true,"timestamp":"`},
	{tenant.Meetings, http.MethodGet, "meetings", "", false, `{"meetings":[{"roomId":"stand-up","url":"`},
	{tenant.Meeting, http.MethodPost, "meeting", "", false, `{"meeting":"https://`},
	{tenant.Join, http.MethodPost, "join", `{"room":"stand-up","name":"Ada"}`, false, `{"join":"https://`},
	{tenant.MeetingEnd, http.MethodDelete, "meeting/stand-up", "{}", true, `{"success":true,"message":"Meeting ended","room":"stand-up"}`},
	{tenant.Token, http.MethodPost, "token", `{"username":"ada"}`, false, `{"token":"ey`},
	{tenant.Docs, http.MethodGet, "docs/openapi.json", "", false, `{"openapi":"3.1`},
}

// TestMatrix: every endpoint, on and off, with every form of credential, in both variants, of two tenants side by side,
// through the gateway's router.
func TestMatrix(t *testing.T) {
	for _, variant := range []v1alpha1.Variant{v1alpha1.VariantA, v1alpha1.VariantB} {
		for _, on := range []bool{true, false} {
			t.Run(fmt.Sprintf("variant %s, on %v", variant, on), func(t *testing.T) {
				switches := off()
				if !on {
					switches = off("stats", "meetings", "meeting", "meetingEnd", "join", "token", "docs")
				}
				one, neighbour := testTenant(variant, switches), testTenant(variant, switches, asNeighbour)
				w := newWorld(t, one, neighbour).serveRouted()
				for _, form := range credentialForms {
					w.matrixOf(t, one, on, form.right, form.reason, form.values(rightKey, neighbourKey))
					w.matrixOf(t, neighbour, on, form.right, form.reason, form.values(neighbourKey, rightKey))
					w.pass(time.Minute) // The limit on wrong keys is another test's.
				}
				w.matrixOf(t, one, on, true, "the other key, while keys are rotated", []string{rotatedKey})
				w.matrixOf(t, neighbour, on, false, "the other tenant's second key", []string{rotatedKey})
			})
		}
	}
}

// asNeighbour is on another host, with a key and an issuer of its own.
func asNeighbour(t *tenant.Tenant) {
	t.Name, t.UID, t.Hosts, t.BaseURL = "neighbour", "uid-neighbour", []string{"neighbour.example.com"}, "https://neighbour.example.com/video"
	t.Keys, _ = credential.NewKeyRing([]string{neighbourKey})
	t.Signer, _ = credential.NewSigner(t.Issuer(), map[string][]byte{"1": []byte(strings.Repeat("n", 32))})
}

// matrixOf asks every endpoint of a tenant.
func (w *world) matrixOf(t *testing.T, of *tenant.Tenant, on, right bool, reason string, values []string) {
	t.Helper()
	for _, e := range everyEndpoint {
		w.meetings.reset("stand-up")
		got := w.do(e.method, e.path, e.body, header("Authorization", values...), func(r *http.Request) { r.Host = of.Hosts[0] })
		status, body := http.StatusOK, e.begins
		switch {
		case e.variantA && of.Variant == v1alpha1.VariantB:
			status, body = http.StatusNotFound, `{"error":"`+errUnknownPath.Message+`"}`
		case !right && e.endpoint != tenant.Docs:
			status, body = http.StatusForbidden, `{"error":"`+errUnauthorized.Message+`"}`
		case !on:
			status, body = http.StatusForbidden, `{"error":"`+fault.As(disabled(e.endpoint)).Message+`"}`
		}
		if got.status != status || !strings.HasPrefix(got.body, body) || status >= 400 && got.body != body {
			t.Errorf("%s of %s with %s: %d %s, want %d %s", e.path, of.Name, reason, got.status, got.body, status, body)
		}
		if of.BaseURL != baseURL && strings.Contains(got.body, baseURL) {
			t.Errorf("%s of %s with %s speaks of the other tenant: %s", e.path, of.Name, reason, got.body)
		}
		if commands := w.meetings.took(); len(commands) > 0 && status != http.StatusOK {
			t.Errorf("%s of %s with %s: refused, and done: %v", e.path, of.Name, reason, commands)
		}
	}
}

func TestHeaderNameInAnyCase(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	for _, name := range []string{"authorization", "Authorization", "AUTHORIZATION"} {
		got := w.do(http.MethodGet, "stats", "", func(r *http.Request) { r.Header = http.Header{name: {rightKey}} })
		if got.status != http.StatusOK {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}

func TestOneSwitchIsOneEndpoint(t *testing.T) {
	for _, variant := range []v1alpha1.Variant{v1alpha1.VariantA, v1alpha1.VariantB} {
		for _, switched := range everyEndpoint {
			if switched.variantA && variant == v1alpha1.VariantB {
				continue
			}
			w := newWorld(t, testTenant(variant, off(string(switched.endpoint)))).serve()
			for _, e := range everyEndpoint {
				if e.variantA && variant == v1alpha1.VariantB {
					continue
				}
				status := http.StatusOK
				// In variant A meetingEnd follows meeting unless it is named.
				if e.endpoint == switched.endpoint || e.endpoint == tenant.MeetingEnd && switched.endpoint == tenant.Meeting {
					status = http.StatusForbidden
				}
				w.meetings.reset("stand-up")
				if got := w.do(e.method, e.path, e.body); got.status != status {
					t.Errorf("variant %s, %s off: %s answers %d %s, want %d", variant, switched.endpoint, e.endpoint, got.status, got.body, status)
				}
			}
		}
	}
}

func TestNoUsableKey(t *testing.T) {
	without := testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.Keys = credential.KeyRing{} })
	w := newWorld(t, without).serve()
	for _, e := range everyEndpoint {
		got := w.do(e.method, e.path, e.body)
		if e.endpoint == tenant.Docs {
			if got.status != http.StatusOK {
				t.Errorf("docs needs no key, and answers %d", got.status)
			}
			continue
		}
		if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "APIKeysResolved") {
			t.Errorf("%s: %d %s", e.path, got.status, got.body)
		}
	}
}

func TestPathsAndMethods(t *testing.T) {
	for _, tc := range []struct {
		reason, method, path string
		status               int
		allow                string
	}{
		{"an unknown path", http.MethodGet, "/video/api/v1/nothing", 404, ""},
		{"another version", http.MethodGet, "/video/api/v2/stats", 404, ""},
		{"the API alone", http.MethodGet, "/video/api", 404, ""},
		{"the version alone", http.MethodGet, "/video/api/v1/", 404, ""},
		{"no base path", http.MethodGet, "/api/v1/stats", 404, ""},
		{"more behind a path", http.MethodGet, "/video/api/v1/stats/now", 404, ""},
		{"two slashes", http.MethodGet, "/video/api/v1//stats", 404, ""},
		{"a path in other case", http.MethodGet, "/video/api/v1/Stats", 404, ""},
		{"more behind a room", http.MethodDelete, "/video/api/v1/meeting/a/b", 404, ""},
		{"a trailing slash", http.MethodGet, "/video/api/v1/stats/", 200, ""},
		{"a trailing slash behind a room", http.MethodDelete, "/video/api/v1/meeting/nobody/", 404, ""},
		{"HEAD for GET", http.MethodHead, "/video/api/v1/meetings", 200, ""},
		{"POST for GET", http.MethodPost, "/video/api/v1/stats", 405, "GET, HEAD, OPTIONS"},
		{"GET for POST", http.MethodGet, "/video/api/v1/join", 405, "OPTIONS, POST"},
		{"an unknown method", "BREW", "/video/api/v1/token", 405, "OPTIONS, POST"},
		{"an end without a room", http.MethodDelete, "/video/api/v1/meeting", 405, "OPTIONS, POST"},
		{"GET of a room", http.MethodGet, "/video/api/v1/meeting/stand-up", 405, "DELETE, OPTIONS"},
		{"POST for docs", http.MethodPost, "/video/api/v1/docs", 405, "GET, HEAD, OPTIONS"},
		{"OPTIONS without CORS", http.MethodOptions, "/video/api/v1/join", 204, "OPTIONS, POST"},
	} {
		w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
		for _, key := range []string{rightKey, "wrong"} {
			if key == "wrong" && tc.status == 200 || strings.Contains(tc.reason, "slash behind") {
				continue
			}
			got := w.send(w.request(tc.method, tc.path, "", header("Authorization", key)))
			if got.status != tc.status || got.header.Get("Allow") != tc.allow {
				t.Errorf("%s, key %s: %d, Allow %q, want %d, %q", tc.reason, key, got.status, got.header.Get("Allow"), tc.status, tc.allow)
			}
		}
	}
}

func TestVariantBHasNoEnd(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantB)).serve()
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodOptions} {
		if got := w.do(method, "meeting/stand-up", ""); got.status != http.StatusNotFound || got.header.Get("Allow") != "" {
			t.Errorf("%s: %d, Allow %q", method, got.status, got.header.Get("Allow"))
		}
	}
}

// TestVariantBWithControlHasNoEnd: the extension adds other methods to the same path.
func TestVariantBWithControlHasNoEnd(t *testing.T) {
	one := testTenant(v1alpha1.VariantB)
	withControl(one)
	w := newWorld(t, one).serve()
	for _, key := range []string{rightKey, "wrong"} {
		got := w.do(http.MethodDelete, "meeting/stand-up", "", header("Authorization", key))
		if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != "GET, HEAD, OPTIONS, PATCH" {
			t.Errorf("with the key %s: %d, Allow %q", key, got.status, got.header.Get("Allow"))
		}
	}
}

func TestHosts(t *testing.T) {
	other := testTenant(v1alpha1.VariantB, func(t *tenant.Tenant) { t.Hosts = []string{"other.example.com"}; t.BasePath = "" })
	w := newWorld(t, testTenant(v1alpha1.VariantA), other)
	w.hosts["*"], w.hosts["denied intranet"] = other, other
	w.serve()
	for _, tc := range []struct {
		reason, host, path, key string
		status                  int
	}{
		{"the host", host, "/video/api/v1/stats", rightKey, 200},
		{"another tenant's host", "other.example.com", "/api/v1/stats", rightKey, 200},
		{"another tenant's path", "other.example.com", "/video/api/v1/stats", rightKey, 404},
		{"nobody's host", "nobody.example.com", "/api/v1/stats", rightKey, 200},
		{"nobody's host, with a wrong key", "nobody.example.com", "/api/v1/stats", "wrong", 403},
		{"a host that another asks for, with a key of the default one", "intranet", "/api/v1/stats", rightKey, 200},
		{"a host that another asks for, with a key of that one", "intranet", "/api/v1/stats", "wrong", 404},
		{"a host that another asks for, without a key", "intranet", "/api/v1/stats", "", 404},
	} {
		got := w.send(w.request(http.MethodGet, tc.path, "", header("Authorization", tc.key), func(r *http.Request) { r.Host = tc.host }))
		if got.status != tc.status || tc.status == 404 && tc.host == "intranet" && !strings.Contains(got.text(t, "error"), "HostConflict") {
			t.Errorf("%s: %d %s, want %d", tc.reason, got.status, got.body, tc.status)
		}
	}
	if got := newWorld(t, other).serve().do(http.MethodGet, "stats", ""); got.status != http.StatusNotFound {
		t.Errorf("nobody's host, without a default: %d %s", got.status, got.body)
	}
}
