// SPDX-License-Identifier: Apache-2.0

package httpserver_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// FuzzRequests sends the text of a request through the real router: the Host header, the path, headers and bodies of
// everything that is served, LiveKit's webhooks too.
func FuzzRequests(f *testing.F) {
	h := newHouse(f)
	g := newGenerator(h, 1)
	for range 200 {
		f.Add(string(g.request()))
	}
	for _, host := range []string{"a.example.com", "A.EXAMPLE.COM:80", "a.example.com.", "[::1]:80", "[", "a.example.com:x:y", "", "evil.example\tx", "a.example.com, b.example.com", "\xff"} {
		for _, path := range []string{"/", "/api/v1/stats", "/join/room", "//evil.example", "http://evil.example/api/v1/stats"} {
			f.Add("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: " + keyA + "\r\n\r\n")
		}
	}
	f.Add("POST /media-server/webhook HTTP/1.1\r\nHost: x\r\nAuthorization: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			return // Such do not come past net/http.
		}
		r.RemoteAddr = "192.0.2.1:1024"
		h.now = h.now.Add(time.Minute) // Limits are another test's.
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, r)
		if wrong := h.wrong(r, w); wrong != "" {
			t.Errorf("%s\n%.1500q\nanswered %d %v\n%.500s", wrong, raw, w.Code, w.Header(), w.Body)
		}
		if r.Method == http.MethodPost && r.URL.Path == "/media-server/webhook" && w.Code < 400 {
			t.Errorf("a webhook that nobody signed: %d", w.Code)
		}
	})
}
