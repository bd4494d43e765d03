// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/tenant"
)

func TestCORS(t *testing.T) {
	const app = "https://app.example.com"
	for _, tc := range []struct {
		reason  string
		origins []string
		origin  string
		want    string
	}{
		{"none allowed", nil, app, ""},
		{"allowed", []string{"https://other.example.com", app}, app, app},
		{"allowed in other case", []string{app}, "https://App.Example.com", "https://App.Example.com"},
		{"allowed by its full name, with the default port", []string{app}, app + ".:443", app + ".:443"},
		{"another port", []string{app}, app + ":8443", ""},
		{"a sandboxed page", []string{app}, "null", ""},
		{"another one", []string{app}, "https://evil.example.org", ""},
		{"a longer one", []string{app}, app + ".evil.example.org", ""},
		{"another scheme", []string{app}, "http://app.example.com", ""},
		{"an app", []string{"capacitor://localhost"}, "capacitor://localhost", "capacitor://localhost"},
		{"another app", []string{"capacitor://localhost"}, "ionic://localhost", ""},
		{"any", []string{"*"}, app, "*"},
		{"no origin", []string{"*"}, "", ""},
	} {
		w := newWorld(t, testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.Web.CORSOrigins = tc.origins })).serve()
		for _, key := range []string{rightKey, "wrong"} {
			got := w.do(http.MethodGet, "stats", "", header("Origin", tc.origin), header("Authorization", key))
			if allowed := got.header.Get("Access-Control-Allow-Origin"); allowed != tc.want {
				t.Errorf("%s, key %s: allows %q, want %q", tc.reason, key, allowed, tc.want)
			}
		}
		got := w.do(http.MethodOptions, "meeting/stand-up", "", func(r *http.Request) {
			r.Header = http.Header{"Origin": {tc.origin}, "Access-Control-Request-Method": {"DELETE"}, "Access-Control-Request-Headers": {"authorization,content-type"}}
		})
		methods := ""
		if tc.want != "" {
			methods = "DELETE, OPTIONS"
		}
		if got.status != http.StatusNoContent || got.header.Get("Access-Control-Allow-Origin") != tc.want || got.header.Get("Access-Control-Allow-Methods") != methods {
			t.Errorf("%s, preflight: %d %v", tc.reason, got.status, got.header)
		}
		if allowed := got.header.Get("Access-Control-Allow-Headers"); (tc.want == "") != (allowed == "") {
			t.Errorf("%s, preflight: %v", tc.reason, got.header)
		}
		if got.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: credentials", tc.reason)
		}
	}
}

// TestCORSAllowsTheHeadersThatAreAskedFor: clients and tracing add headers that nobody here has heard of.
func TestCORSAllowsTheHeadersThatAreAskedFor(t *testing.T) {
	const app = "https://app.example.com"
	w := newWorld(t, testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) { t.Web.CORSOrigins = []string{app} })).serve()
	for _, tc := range []struct {
		origin, want string
		asked        []string
	}{
		{app, "authorization, content-type, x-request-id", nil},
		{app, "x-requested-with", []string{"x-requested-with"}},
		{app, "authorization,baggage,content-type,traceparent,tracestate", []string{"authorization,baggage,content-type,traceparent,tracestate"}},
		{app, "x-datadog-trace-id, sentry-trace", []string{"x-datadog-trace-id", "sentry-trace"}},
		{"https://evil.example.org", "", []string{"x-requested-with"}},
	} {
		got := w.do(http.MethodOptions, "join", "", func(r *http.Request) {
			r.Header = http.Header{"Origin": {tc.origin}, "Access-Control-Request-Method": {"POST"}}
			if tc.asked != nil {
				r.Header["Access-Control-Request-Headers"] = tc.asked
			}
		})
		if allowed := got.header.Get("Access-Control-Allow-Headers"); got.status != http.StatusNoContent || allowed != tc.want {
			t.Errorf("%s asks for %q: %d, allowed are %q", tc.origin, tc.asked, got.status, allowed)
		}
	}
}

func TestRequestID(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	if id := w.do(http.MethodGet, "stats", "", header("X-Request-Id", "mine")).header.Get("X-Request-Id"); id != "mine" {
		t.Errorf("mine became %q", id)
	}
	if id := w.do(http.MethodGet, "nothing", "", header("X-Request-Id", `a"b`)).header.Get("X-Request-Id"); id == "" || id == `a"b` {
		t.Errorf("an unfit one became %q", id)
	}
}

func TestAudit(t *testing.T) {
	one := testTenant(v1alpha1.VariantA)
	fingerprint := one.Keys.Fingerprints()[0]
	line := func(action, room string, status float64, result string) map[string]any {
		message := "API call"
		if status >= 400 {
			message = "API call refused"
		}
		return map[string]any{
			"logger": "", "level": 0.0, "msg": message, "time": "2026-03-01T09:30:00Z", "tenant": "ns/conf", "key": fingerprint,
			"action": action, "room": room, "status": status, "requestID": "id-1", "result": result,
		}
	}
	refusedWithoutKey := line("join", "", 403, errUnauthorized.Message)
	delete(refusedWithoutKey, "key")
	nowhere := line("unknown", "", 404, errUnknownPath.Message)
	delete(nowhere, "key")
	for _, tc := range []struct {
		reason, method, path, body, key string
		want                            []map[string]any
	}{
		{"reading", http.MethodGet, "stats", "", rightKey, nil},
		{"a preflight", http.MethodOptions, "meeting", "", rightKey, nil},
		{"creating", http.MethodPost, "meeting", `{"room":"r"}`, rightKey, []map[string]any{line("meeting", "r", 200, "done")}},
		{"joining", http.MethodPost, "join", `{"room":"r","name":"n"}`, rightKey, []map[string]any{line("join", "r", 200, "done")}},
		{"a token", http.MethodPost, "token", `{"username":"u"}`, rightKey, []map[string]any{line("token", "", 200, "done")}},
		{"ending", http.MethodDelete, "meeting/r", "", rightKey, []map[string]any{line("meetingEnd", "r", 200, "done")}},
		{"ending nothing", http.MethodDelete, "meeting/r", "", rightKey, []map[string]any{
			line("meetingEnd", "r", 404, "No meeting of this room is active; GET /api/v1/meetings lists those that are"),
		}},
		{"a bad value", http.MethodPost, "join", `{"room":"a/b","name":"n"}`, rightKey, []map[string]any{line("join", "", 400, saysSlash)}},
		{"a wrong key", http.MethodPost, "join", `{"room":"r","name":"n"}`, "wrong", []map[string]any{refusedWithoutKey}},
		{"an unknown path", http.MethodGet, "nothing", "", rightKey, []map[string]any{nowhere}},
	} {
		w := newWorld(t, one).serve()
		if tc.reason == "ending" {
			w.meetings.reset("r")
		}
		w.do(tc.method, tc.path, tc.body, header("Authorization", tc.key), header("X-Request-Id", "id-1"))
		if diff := cmp.Diff(tc.want, w.logged(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

func TestMetrics(t *testing.T) {
	w := newWorld(t, testTenant(v1alpha1.VariantA)).serve()
	w.do(http.MethodGet, "stats", "")
	w.do(http.MethodGet, "stats", "")
	w.do(http.MethodGet, "stats", "", header("Authorization", "wrong"))
	w.do(http.MethodGet, "no/such/path", "")
	families, err := w.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			words := []string{family.GetName()}
			for _, label := range m.GetLabel() {
				words = append(words, label.GetValue())
			}
			name := strings.Join(words, " ")
			if n := m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount()); n > 0 {
				got[name] = n
			}
		}
	}
	want := map[string]float64{
		"convene_http_requests_total 200 stats":         2,
		"convene_http_requests_total 403 stats":         1,
		"convene_http_requests_total 404 unknown":       1,
		"convene_http_request_duration_seconds stats":   3,
		"convene_http_request_duration_seconds unknown": 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
