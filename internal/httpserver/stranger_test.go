// SPDX-License-Identifier: Apache-2.0

package httpserver_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"

	"convene.dev/convene/internal/httpserver"
)

// TestAStrangerIsAnsweredInProportion: a request without a credential takes memory in proportion to its own length, whatever it
// asks for. Every route is tried, and every file by its name.
func TestAStrangerIsAnsweredInProportion(t *testing.T) {
	// atLeast and byByte are in bytes. What is made is over when the request is answered, and most of it before: JSON takes the most.
	const atLeast, byByte = 8 << 10, 16
	h := newHouse(t)
	for _, surface := range h.surfaces {
		for _, route := range surface.Routes {
			for _, path := range pathsOf(t, route) {
				for reason, request := range strangers(route.Method, path) {
					made, sent := madeBy(h.handler, request)
					if made > atLeast+byByte*sent {
						t.Errorf("%s %s, %s: %d bytes, for %d", route.Method, path, reason, made, sent)
					}
				}
			}
		}
	}
}

// pathsOf are the paths at which a route is tried: a route to files at each of its files.
func pathsOf(t *testing.T, route httpserver.Route) (paths []string) {
	t.Helper()
	folders := map[string]string{"/assets/{file...}": "../web/dist/assets", "/js/{file}": "../web/dist/js", "/api/v1/docs/assets/{file}": "../httpapi/docsui/dist"}
	if folder := folders[route.Path]; folder != "" {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		before, _, _ := strings.Cut(route.Path, "{")
		for _, entry := range entries {
			paths = append(paths, before+strings.TrimSuffix(strings.TrimSuffix(entry.Name(), ".br"), ".gz"))
		}
		return paths
	}
	return []string{strings.NewReplacer(
		"{$}", "", "{path...}", "rtc/validate", "{room}", "Stand-up", "{identity}", "p1", "{file}", "x",
	).Replace(route.Path)}
}

func strangers(method, path string) map[string]func() *http.Request {
	requests := map[string]func() *http.Request{}
	add := func(reason, query, body string, header ...string) {
		requests[reason] = func() *http.Request {
			r := httptest.NewRequest(method, "http://a.example.com"+path+query, strings.NewReader(body))
			for i := 0; i < len(header); i += 2 {
				r.Header.Set(header[i], header[i+1])
			}
			return r
		}
	}
	add("nothing else", "", "")
	add("no coding", "", "", "Accept-Encoding", "identity")
	add("any coding", "", "", "Accept-Encoding", "*")
	add("the longest query", "?"+strings.Repeat("a=b&", 15<<8), "")
	add("the longest credential", "", "", "Authorization", "Bearer "+strings.Repeat("x", 15<<10))
	for reason, body := range map[string]string{
		"a long word": `{"room":"` + strings.Repeat("x", 16<<10-12) + `"}`,
		"many names":  `{"room":"x"` + strings.Repeat(`,"":0`, 3000) + "}",
		"nested":      `{"room":` + strings.Repeat("[", 16<<10-10),
		"many values": `{"room":[` + strings.Repeat("0,", 8000) + "0]}",
		"promised":    "",
	} {
		add(reason, "", body)
	}
	return requests
}

// madeBy is how much memory the answer to a request takes, garbage included, and how long the request is, in bytes.
func madeBy(handler http.Handler, request func() *http.Request) (made, sent uint64) {
	const times = 5
	var raw bytes.Buffer
	_ = request().Write(&raw)                            // It goes nowhere, and cannot fail.
	handler.ServeHTTP(nowhere{http.Header{}}, request()) // What is made once for all is not counted.
	var requests []*http.Request
	for range times {
		requests = append(requests, request())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, r := range requests {
		handler.ServeHTTP(nowhere{http.Header{}}, r)
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / times, uint64(raw.Len())
}

// nowhere is a client that is sent an answer, and keeps nothing of it.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header          { return n.header }
func (nowhere) WriteHeader(int)                {}
func (nowhere) Write(data []byte) (int, error) { return len(data), nil }
