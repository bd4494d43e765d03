// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/tenant"
)

// credentialForms are ways to present a secret.
var credentialForms = []struct {
	reason string
	values []string
	right  bool
}{
	{"the key", []string{rightKey}, true},
	{"the other key, while keys are rotated", []string{rotatedKey}, true},
	{"the key with the space that HTTP does not count", []string{"  " + rightKey + "\t"}, true},
	{"no header", nil, false},
	{"an empty header", []string{""}, false},
	{"another key", []string{"wrong-key-of-32-random-characters"}, false},
	{"a scheme before the key", []string{"Bearer " + rightKey}, false},
	{"another scheme before the key", []string{"Basic " + rightKey}, false},
	{"the header twice, right both times", []string{rightKey, rightKey}, false},
	{"the header twice, right the first time", []string{rightKey, "wrong"}, false},
	{"the header twice, right the second time", []string{"wrong", rightKey}, false},
	{"two keys in one header", []string{rightKey + ", " + rightKey}, false},
	{"the beginning of the key", []string{rightKey[:len(rightKey)-1]}, false},
	{"the key and more", []string{rightKey + "x"}, false},
	{"the key in other case", []string{strings.ToUpper(rightKey)}, false},
	{"the key in quotes", []string{`"` + rightKey + `"`}, false},
}

// everyEndpoint is a good request to each of them.
var everyEndpoint = []struct {
	endpoint           tenant.Endpoint
	method, path, body string
	variantA           bool
}{
	{tenant.Stats, http.MethodGet, "stats", "", false},
	{tenant.Meetings, http.MethodGet, "meetings", "", false},
	{tenant.Meeting, http.MethodPost, "meeting", "", false},
	{tenant.Join, http.MethodPost, "join", `{"room":"stand-up","name":"Ada"}`, false},
	{tenant.MeetingEnd, http.MethodDelete, "meeting/stand-up", "{}", true},
	{tenant.Token, http.MethodPost, "token", `{"username":"ada"}`, false},
	{tenant.Docs, http.MethodGet, "docs/openapi.json", "", false},
}

func TestSecretsEndpointsSwitchesVariants(t *testing.T) {
	for _, variant := range []v1alpha1.Variant{v1alpha1.VariantA, v1alpha1.VariantB} {
		for _, on := range []bool{true, false} {
			t.Run(fmt.Sprintf("variant %s, on %v", variant, on), func(t *testing.T) {
				one := testTenant(variant)
				if !on {
					one = testTenant(variant, off("stats", "meetings", "meeting", "meetingEnd", "join", "token", "docs"))
				}
				w := newWorld(t, one).serve()
				for _, e := range everyEndpoint {
					for _, form := range credentialForms {
						w.meetings.reset("stand-up")
						got := w.do(e.method, e.path, e.body, header("Authorization", form.values...))
						status, word := http.StatusOK, ""
						switch {
						case e.variantA && variant == v1alpha1.VariantB:
							status, word = http.StatusNotFound, "no such endpoint"
						case !form.right && e.endpoint != tenant.Docs:
							status, word = http.StatusForbidden, "Unauthorized"
						case !on:
							status, word = http.StatusForbidden, "disabled; ask the operator"
						}
						if got.status != status || !strings.Contains(got.body, word) {
							t.Errorf("%s with %s: %d %s, want %d with %q", e.path, form.reason, got.status, got.body, status, word)
						}
						if status == http.StatusForbidden && len(w.meetings.took()) > 0 {
							t.Errorf("%s with %s: refused, and done", e.path, form.reason)
						}
					}
				}
			})
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

func TestHosts(t *testing.T) {
	other := testTenant(v1alpha1.VariantB, func(t *tenant.Tenant) { t.Hosts = []string{"other.example.com"}; t.BasePath = "" })
	w := newWorld(t, testTenant(v1alpha1.VariantA), other).serve()
	for _, tc := range []struct {
		reason, host, path string
		status             int
	}{
		{"the host", host, "/video/api/v1/stats", 200},
		{"another tenant's host", "other.example.com", "/api/v1/stats", 200},
		{"another tenant's path", "other.example.com", "/video/api/v1/stats", 404},
		{"nobody's host", "nobody.example.com", "/api/v1/stats", 404},
	} {
		got := w.send(w.request(http.MethodGet, tc.path, "", func(r *http.Request) { r.Host = tc.host }))
		if got.status != tc.status {
			t.Errorf("%s: %d %s, want %d", tc.reason, got.status, got.body, tc.status)
		}
	}
}
