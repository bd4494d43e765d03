// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
)

// hosts are tenants by host.
type hosts map[string]*tenant.Tenant

// ForHost finds one.
func (h hosts) ForHost(host string) (t *tenant.Tenant, denied bool) { return h[host], false }

// said answers with a text.
func said(text string) func(*Request) (Answer, error) {
	return func(q *Request) (Answer, error) {
		return Bytes{Data: [][]byte{[]byte(text + " " + q.HTTP.PathValue("name"))}}, nil
	}
}

func plainError(_ *Request, e Error) Answer {
	return Bytes{Status: e.Status, Data: [][]byte{[]byte("error " + e.Fault.Message)}}
}

// twoSurfaces are an API with a switch, and pages. Tenant a has no base path, b has one.
func twoSurfaces(routes ...Route) *Router {
	unknown := func(where string) error { return fault.NotFound("unknown to %s", where) }
	api := &Surface{
		Name: "API call", Prefix: "/api", TrimSlash: true, Refuse: plainError, UnknownPath: unknown("api"), UnknownHost: unknown("host"),
		Options: func(q *Request, allow string) { q.Header().Set("Allow", allow) },
		Routes: append([]Route{
			{Method: "GET", Path: "/api/things", Serve: said("things")},
			{Method: "POST", Path: "/api/things", Serve: said("new thing")},
			{Method: "DELETE", Path: "/api/things/{name}", Serve: said("no")},
			{Method: "GET", Path: "/api/switched", Endpoint: tenant.Stats, Serve: said("switched")},
		}, routes...),
	}
	pages := &Surface{
		Name: "Page call", Prefix: "/", Refuse: plainError, UnknownPath: unknown("pages"), UnknownHost: unknown("host"),
		Routes: []Route{
			{Method: "GET", Path: "/{$}", Page: true, Serve: said("home")},
			{Method: "GET", Path: "/{name}", Page: true, Serve: said("page")},
			{Method: "GET", Path: "/files/{name...}", Serve: said("file")},
		},
	}
	hooks := &Surface{AnyHost: true, Refuse: plainError, Routes: []Route{{Method: "POST", Path: "/hook", Serve: said("hook")}}}
	tenants := hosts{"a": {BaseURL: "https://a"}, "b": {BaseURL: "https://b/é", BasePath: "/é"}}
	return NewRouter(RouterOptions{Tenants: tenants, Log: logr.Discard()}, pages, api, hooks)
}

func TestRouting(t *testing.T) {
	router := twoSurfaces()
	for _, tc := range []struct {
		host, method, path string
		status             int
		says               string
	}{
		{"a", "GET", "/api/things", 200, "things "},
		{"a", "HEAD", "/api/things", 200, "things "},
		{"a", "GET", "/api/things/", 200, "things "},
		{"a", "POST", "/api/things", 200, "new thing "},
		{"a", "DELETE", "/api/things/a%2Fb%20c", 200, "no a/b c"},
		{"a", "DELETE", "/api/things/a/b", 404, "error unknown to api"},
		{"a", "DELETE", "/api/things", 405, "error This path does not take that method; use GET, HEAD, OPTIONS, POST"},
		{"a", "OPTIONS", "/api/things", 204, ""},
		{"a", "GET", "/api/switched", 404, "error unknown to api"},
		{"a", "GET", "/api", 404, "error unknown to api"},
		{"a", "GET", "/api/nothing", 404, "error unknown to api"},
		{"a", "GET", "//api/things", 404, "error unknown to api"},
		{"a", "GET", "/./api//things", 404, "error unknown to api"},
		{"a", "GET", "/page/../api/things", 404, "error unknown to api"},
		{"a", "GET", "//apis", 404, "error unknown to pages"},
		{"a", "DELETE", "/api/things/..%2F..%2Fpage", 200, "no ../../page"},
		{"a", "GET", "/api/../api/things", 404, "error unknown to api"},
		{"a", "GET", "/", 200, "home "},
		{"a", "GET", "http://a", 404, "error unknown to pages"},
		{"a", "GET", "/apis", 200, "page apis"},
		{"a", "GET", "/%2e%2e", 200, "page .."},
		{"a", "POST", "/apis", 405, "error This path does not take that method; use GET, HEAD"},
		{"a", "GET", "/files/x/y", 200, "file x/y"},
		{"a", "GET", "/nothing/there", 404, "error unknown to pages"},
		{"a", "POST", "/hook", 200, "hook "},
		{"nowhere", "POST", "/hook", 200, "hook "},
		{"nowhere", "GET", "/hook", 405, "error This path does not take that method; use POST"},
		{"b", "POST", "/hook", 200, "hook "},
		{"b", "POST", "/é/hook", 404, "error unknown to pages"},
		{"b", "GET", "/%C3%A9/api/things", 200, "things "},
		{"b", "GET", "/%C3%A9/", 200, "home "},
		{"b", "GET", "/%C3%A9/room", 200, "page room"},
		{"b", "GET", "/%C3%A9", 302, ""},
		{"b", "POST", "/%C3%A9", 405, "error This path does not take that method; use GET, HEAD"},
		{"b", "GET", "/%C3%A9//api/things", 404, "error unknown to api"},
		{"b", "GET", "//%C3%A9/api/things", 404, "error unknown to api"},
		{"b", "GET", "/api/things", 404, "error unknown to api"},
		{"b", "GET", "/%C3%A9room", 404, "error unknown to pages"},
		{"c", "GET", "/api/things", 404, "error unknown to host"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, nil)
		r.Host = tc.host
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		if w.Code != tc.status || w.Body.String() != tc.says {
			t.Errorf("%s %s of %s: %d %q, want %d %q", tc.method, tc.path, tc.host, w.Code, w.Body, tc.status, tc.says)
		}
		if tc.status == http.StatusFound && w.Header().Get("Location") != "/%C3%A9/" {
			t.Errorf("leads to %s", w.Header().Get("Location"))
		}
		if w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s has no id", tc.path)
		}
	}
}

// A panic before the first byte is an answer like every other error. Half an answer is cut off.
func TestPanics(t *testing.T) {
	router := twoSurfaces(
		Route{Method: "GET", Path: "/api/early", Serve: func(*Request) (Answer, error) { panic("a secret") }},
		Route{Method: "GET", Path: "/api/late", Serve: func(*Request) (Answer, error) {
			return Stream(func(w http.ResponseWriter) {
				_, _ = io.WriteString(w, strings.Repeat("x", 1<<16))
				panic("in the middle")
			}), nil
		}},
	)
	var lines []string
	router.Log = funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	server := httptest.NewServer(router)
	defer server.Close()
	get := func(path string) (status int, body string, err error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "a"
		answer, err := server.Client().Do(r)
		if err != nil {
			return 0, "", err
		}
		defer func() { _ = answer.Body.Close() }()
		data, err := io.ReadAll(answer.Body)
		return answer.StatusCode, string(data), err
	}
	if status, body, err := get("/api/early"); err != nil || status != http.StatusInternalServerError || !strings.HasPrefix(body, "error ") || strings.Contains(body, "secret") {
		t.Errorf("a panic before the first byte: %d %q %v", status, body, err)
	}
	if status, _, err := get("/api/late"); err == nil {
		t.Errorf("half an answer looks whole: %d", status)
	}
	if len(lines) != 2 || !strings.Contains(lines[0], "a secret") || !strings.Contains(lines[1], "in the middle") || !strings.Contains(lines[0], "router_test.go") {
		t.Errorf("logged are %q", lines)
	}
}

func TestEveryKindHasAStatus(t *testing.T) {
	s := &Surface{Statuses: map[fault.Kind]int{fault.KindGone: http.StatusNotFound}}
	for kind := fault.KindInternal; kind <= fault.KindUnavailable; kind++ {
		if e := s.AsError(&fault.Error{Kind: kind}); e.Status < 400 {
			t.Errorf("kind %d: status %d", kind, e.Status)
		}
	}
	if e := s.AsError(fmt.Errorf("wrapped: %w", fault.Gone("over"))); e.Status != http.StatusNotFound {
		t.Errorf("a status of the surface's own: %d", e.Status)
	}
	if e := s.AsError(errors.New("a detail")); e.Status != http.StatusInternalServerError || strings.Contains(e.Fault.Message, "detail") {
		t.Errorf("an error that is no fault: %+v", e)
	}
}

// unread counts what is read of a body.
type unread struct{ read int }

func (u *unread) Read(p []byte) (int, error) { u.read += len(p); return len(p), nil }

// Of a body that is too large no more is read, unless an API key came with it.
func TestWhatIsReadOfTooLargeABody(t *testing.T) {
	for key, most := range map[string]int{"": 1 << 12, "fingerprint": maxDrain + 1<<16} {
		router := twoSurfaces(Route{Method: "POST", Path: "/api/large", Serve: func(q *Request) (Answer, error) {
			q.Record.Key = key
			_, err := q.Body(1 << 10)
			return NoContent, err
		}})
		body := &unread{}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/large", body)
		r.Host, r.ContentLength = "a", -1
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		closes := w.Header().Get("Connection") == "close"
		if w.Code != http.StatusRequestEntityTooLarge || body.read > most || closes != (key == "") {
			t.Errorf("key %q: %d, %d bytes are read, the connection closes: %t", key, w.Code, body.read, closes)
		}
	}
}
