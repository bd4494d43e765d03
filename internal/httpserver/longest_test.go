// SPDX-License-Identifier: Apache-2.0

package httpserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/httpserver"
)

// usualLine is what common proxies take for a request line, in bytes: 8 KiB with nginx.
const usualLine = 8 << 10

// TestTheLongestOfEverything: what the API takes makes links that open, and sessions that connect, with the headers that browsers
// send. In ASCII the links come through common proxies, too.
func TestTheLongestOfEverything(t *testing.T) {
	h := newHouse(t)
	base := "/" + strings.Repeat("x", 2048-len("https://long.example.com/"))
	long := newTenant(t, "long", v1alpha1.VariantA, "long.example.com", base, keyA, h.tenants[0].Media[0])
	long.Settings.AdHoc = v1alpha1.AdHocTickets // Tickets carry their meetings.
	h.tenants[1] = long
	address := httpserver.Served(t, h.handler)
	link := func(rest string) string { return "https://example.com/" + rest }
	for _, tc := range []struct {
		reason, letter, avatar string
		usual                  bool
	}{
		{"plain", "x", link(strings.Repeat("a", 2028)), true},
		{"characters of three bytes in a query", "%", link(strings.Repeat("&", 2028)), true},
		{"characters that JSON escapes", `"`, link(strings.Repeat(`"`, 2028)), true},
		{"letters of two bytes", "ü", link(strings.Repeat("ü", 2028)), false},
		{"letters of three bytes", "議", link(strings.Repeat("議", 1350)), false},
		{"letters of four bytes", "𠮷", link(strings.Repeat("𠮷", 1019)), false},
		{"a short link is shown whole", "x", link("a.png"), true},
	} {
		for _, host := range []string{"a.example.com", "long.example.com"} {
			base := ""
			if host != "a.example.com" {
				base = long.BasePath
			}
			call := func(method, path string, body map[string]any, header ...string) (status int, answer []byte) {
				t.Helper()
				text, err := json.Marshal(body)
				if err != nil {
					t.Fatal(err)
				}
				r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+path, strings.NewReader(string(text)))
				if err != nil {
					t.Fatal(err)
				}
				r.Host = host
				asBrowser(r.Header)
				for i := 0; i < len(header); i += 2 {
					r.Header.Set(header[i], header[i+1])
				}
				response, err := http.DefaultTransport.RoundTrip(r)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = response.Body.Close() }()
				answer, err = io.ReadAll(response.Body)
				if err != nil {
					t.Fatal(err)
				}
				return response.StatusCode, answer
			}
			status, answer := call("POST", base+"/api/v1/join", map[string]any{
				"room": strings.Repeat(tc.letter, 128), "name": strings.Repeat(tc.letter, 128), "avatar": tc.avatar, "duration": "99:59:59",
				"token": map[string]any{"username": "ada", "password": "secret", "presenter": true},
			}, "Authorization", keyA)
			var joined struct{ Join string }
			if err := json.Unmarshal(answer, &joined); status != http.StatusOK || err != nil {
				t.Errorf("%s on %s: a join is answered with %d %.200s", tc.reason, host, status, answer)
				continue
			}
			u, err := url.Parse(joined.Join)
			if err != nil {
				t.Fatal(err)
			}
			if line := len("GET  HTTP/1.1\r\n") + len(u.RequestURI()) - len(base); tc.usual && line > usualLine {
				t.Errorf("%s on %s: a link of %d bytes", tc.reason, host, line)
			}
			if shown := u.Query().Get("avatar"); shown != tc.avatar && len(joined.Join) < usualLine/2 {
				t.Errorf("%s on %s: a link of %d bytes shows the avatar %q", tc.reason, host, len(joined.Join), shown)
			}
			if status, answer := call("GET", u.RequestURI(), nil); status != http.StatusOK {
				t.Errorf("%s on %s: a link of %d bytes is answered with %d %.200s", tc.reason, host, len(joined.Join), status, answer)
			}
			status, answer = call("POST", base+"/session", map[string]any{"room": u.Query().Get("room"), "ticket": u.Query().Get("token")})
			var entered struct {
				Session string
				You     struct{ Avatar string }
				Engine  struct{ Token string }
			}
			if err := json.Unmarshal(answer, &entered); status != http.StatusOK || err != nil || entered.You.Avatar != tc.avatar {
				t.Errorf("%s on %s: the session is answered with %d %.200s", tc.reason, host, status, answer)
				continue
			}
			if status, answer := call("GET", base+"/session", nil, "Convene-Session", entered.Session); status != http.StatusOK {
				t.Errorf("%s on %s: a session of %d bytes is answered with %d %.200s", tc.reason, host, len(entered.Session), status, answer)
			}
			query := url.Values{"access_token": {entered.Engine.Token}, "os_version": {strings.Repeat("x", 250)}, "browser_version": {strings.Repeat("x", 250)}}
			if status, answer := call("GET", base+"/media-server/rtc/validate?"+query.Encode(), nil); status != http.StatusOK {
				t.Errorf("%s on %s: an engine token of %d bytes is answered with %d %.200s", tc.reason, host, len(entered.Engine.Token), status, answer)
			}
		}
	}
}

// asBrowser sets headers as browsers send them, in more than their usual length.
func asBrowser(h http.Header) {
	h.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36")
	h.Set("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8")
	h.Set("Accept-Language", "en-GB,en;q=0.9,de;q=0.8,fr;q=0.7")
	h.Set("Sec-Ch-Ua", `"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"`)
	h.Set("Cookie", "other="+strings.Repeat("x", 500))
	h.Set("X-Forwarded-For", strings.Repeat("192.0.2.1, ", 20)+"192.0.2.1")
}
