// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"net/url"
	"strings"

	"convene.dev/convene/internal/hostname"
	"convene.dev/convene/internal/tenant"
)

// permissions are what the page may ask the browser for; an embedding page must still hand them on.
const permissions = "camera=(self), microphone=(self), display-capture=(self), fullscreen=(self), screen-wake-lock=(self), geolocation=()"

// wasm lets a meeting compile what tells participants from the rooms behind them, and voices from noise. It allows no script.
const wasm = "'wasm-unsafe-eval'"

// pageHeaders are the headers of a tenant's pages. Script is what scripts may do besides coming from here, or empty.
func pageHeaders(t *tenant.Tenant, script string) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "text/html; charset=utf-8")
	// The page names its hashed scripts, so that it must be asked for again after an upgrade.
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", contentSecurityPolicy(t, script))
	h.Set("Permissions-Policy", permissions)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	return h
}

func contentSecurityPolicy(t *tenant.Tenant, script string) string {
	connect := append([]string{"'self'"}, engineSources(t)...)
	frames := []string{"'self'"}
	for _, origin := range t.Web.EmbedOrigins {
		if isSource(origin) {
			frames = append(frames, origin)
		}
	}
	return strings.Join([]string{
		"default-src 'none'",
		strings.TrimSpace("script-src 'self' " + script),
		"style-src 'self'",
		"img-src * data: blob:",
		"media-src 'self' blob:",
		"font-src 'self'",
		"worker-src 'self' blob:",
		"connect-src " + strings.Join(connect, " "),
		"base-uri 'self'",
		"form-action 'self'",
		"frame-ancestors " + strings.Join(frames, " "),
	}, "; ")
}

// engineSources are where the page's signalling goes: a web socket, and a plain request that asks why one failed. The page may be at another host
// than baseURL, and 'self' does not stand for the web socket in every browser.
func engineSources(t *tenant.Tenant) []string {
	u, err := url.Parse(t.BaseURL)
	if err != nil || u.Host == "" {
		return nil
	}
	host, err := hostname.Of(u)
	if source := u.Scheme + "://" + host; err == nil && isSource(source) {
		return []string{asWebSocket(source), source}
	}
	return nil
}

// engineURL is the signalling URL for browsers: the gateway's.
func engineURL(t *tenant.Tenant) string { return asWebSocket(t.BaseURL) + signallingPaths[0] }

// asWebSocket makes ws of http, and wss of https.
func asWebSocket(address string) string { return strings.Replace(address, "http", "ws", 1) }

// isSource reports whether a text can be one source of a policy and nothing more.
func isSource(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\r\n;,'\"") }
