// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"strings"
	"testing"

	"convene.dev/convene/internal/tenant"
)

// TestScriptsForOtherSites are served where the tenant lets sites embed its rooms, and nowhere else.
func TestScriptsForOtherSites(t *testing.T) {
	allowed := func(t *tenant.Tenant) {
		t.Web.EmbedOrigins = []string{"https://app.example.com", "https://*.example.org", "capacitor://localhost"}
	}
	open, closed := newSite(t, allowed), newSite(t)
	for path, body := range map[string]string{"/js/Iframe.js": "script", "/js/iframe.js": "script", "/js/Widget.js": "widget", "/js/embed.js": "module"} {
		got := open.get(t, path)
		if got.Code != http.StatusOK || got.Body.String() != body || got.Header().Get("Content-Type") != "text/javascript; charset=utf-8" ||
			got.Header().Get("Cross-Origin-Resource-Policy") != "cross-origin" || got.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %q %v", path, got.Code, got.Body, got.Header())
		}
		if got := closed.get(t, path); got.Code != http.StatusNotFound || got.Body.String() == body {
			t.Errorf("%s of a tenant that lets nobody embed: %d %s", path, got.Code, got.Body)
		}
	}
	for _, path := range []string{"/js/other.js", "/js/embed.js/x", "/js/..%2findex.html", "/js/embed.js.br"} {
		if got := open.get(t, path); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
	for origin, want := range map[string]bool{
		"https://app.example.com": true, "https://APP.example.com": true, "https://app.example.com.:443": true, "https://a.example.org:443": true, "https://a.example.org:8443": false, "https://a.example.org": true, "https://a.b.example.org": true,
		"https://example.org": false, "https://.example.org": false, "https://evilexample.org": false, "http://app.example.com": false, "https://app.example.com:8443": false,
		"https://app.example.com.evil.example": false, "capacitor://localhost": true, "ionic://localhost": false, "capacitor://evil": false, "null": false, "": false, "https://": false,
	} {
		r := newRequest(http.MethodGet, "/js/embed.js", "")
		r.Header.Set("Origin", origin)
		got := open.do(t, r)
		if has := got.Header().Get("Access-Control-Allow-Origin"); (has == origin && has != "") != want || !strings.Contains(strings.Join(got.Header()["Vary"], ","), "Origin") {
			t.Errorf("%q may load the module: %q", origin, has)
		}
	}
}
