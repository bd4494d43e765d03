// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/crypto/bcrypt"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	rightKey   = "right-key-of-32-random-characters"
	rotatedKey = "other-key-of-32-random-characters"
	host       = "meet.example.com"
	baseURL    = "https://meet.example.com/video"
)

var start = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

// world is the API over HTTP, with a fake of what is behind it.
type world struct {
	t         testing.TB
	options   Options
	router    httpserver.RouterOptions
	hosts     hosts
	meetings  *fakeMeetings
	moderator *fakeModerator
	server    *httptest.Server
	registry  *prometheus.Registry
	// readTimeout is the server's; zero means none.
	readTimeout time.Duration

	mu    sync.Mutex
	clock time.Time
	lines []string
}

func newWorld(t testing.TB, tenants ...*tenant.Tenant) *world {
	w := &world{t: t, hosts: hosts{}, clock: start, registry: prometheus.NewRegistry()}
	w.meetings = &fakeMeetings{now: w.now}
	for _, one := range tenants {
		w.hosts[one.Hosts[0]] = one
	}
	w.moderator = &fakeModerator{meetings: w.meetings}
	w.options = Options{Meetings: w.meetings, Moderator: w.moderator, ClusterTime: w.now, Registerer: w.registry}
	w.router = httpserver.RouterOptions{
		Tenants: w.hosts, Now: w.now, Log: funcr.NewJSON(w.logLine, funcr.Options{}),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	}
	return w
}

// serve starts the server; options may be changed before.
func (w *world) serve() *world {
	return w.serveAPI(newAPI(w.options))
}

// serveAPI is serve with an API that a test has made.
func (w *world) serveAPI(a *api) *world {
	w.server = httptest.NewUnstartedServer(httpserver.NewRouter(w.router, a.surface()))
	w.server.Config.ReadTimeout = w.readTimeout
	w.server.Start()
	w.t.Cleanup(w.server.Close)
	return w
}

// handler is the API without a server.
func (w *world) handler() http.Handler { return httpserver.NewRouter(w.router, New(w.options)) }

// serveRouted starts the server with pages beside the API. Nothing of the API's may get to the pages.
func (w *world) serveRouted() *world {
	page := func(q *httpserver.Request) (httpserver.Answer, error) {
		w.t.Errorf("%s %s is taken for a page", q.HTTP.Method, q.HTTP.URL)
		return httpserver.NoContent, nil
	}
	pages := &httpserver.Surface{Name: "Page call", Prefix: "/", Routes: []httpserver.Route{{Method: http.MethodGet, Path: "/{rest...}", Serve: page}}}
	w.server = httptest.NewServer(httpserver.NewRouter(w.router, New(w.options), pages))
	w.t.Cleanup(w.server.Close)
	return w
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock = w.clock.Add(d)
}

func (w *world) logLine(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

// logged returns the log lines since it was last asked.
func (w *world) logged() []map[string]any {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	parsed := make([]map[string]any, 0, len(w.lines))
	for _, line := range w.lines {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			w.t.Fatalf("log line %s: %v", line, err)
		}
		parsed = append(parsed, one)
	}
	w.lines = nil
	return parsed
}

// testTenant is a tenant of a variant with everything on.
func testTenant(variant v1alpha1.Variant, change ...func(*tenant.Tenant)) *tenant.Tenant {
	keys, problems := credential.NewKeyRing([]string{rightKey, rotatedKey})
	if len(problems) > 0 {
		panic(problems[0].String())
	}
	signer, _ := credential.NewSigner("convene/ns/conf", map[string][]byte{"1": bytes.Repeat([]byte{7}, 32)})
	t := tenant.Tenant{
		NamespacedName: types.NamespacedName{Namespace: "ns", Name: "conf"}, UID: "uid-conf",
		Variant: variant, BaseURL: baseURL, BasePath: "/video", Hosts: []string{host},
		Keys: keys, Signer: signer, TokenLifetime: time.Hour, MaxTokenLifetime: 30 * 24 * time.Hour,
		Settings: meeting.DefaultSettings(),
	}
	t = t.Switch(nil, nil)
	for _, c := range change {
		c(&t)
	}
	return &t
}

// withUsers gives the host the user ada, whose password is correct-horse.
func withUsers(t *tenant.Tenant) {
	hash, err := bcrypt.GenerateFromPassword([]byte("correct-horse"), bcrypt.MinCost)
	if err != nil {
		panic(err)
	}
	var problems []credential.UserProblem
	if t.Users, problems = credential.ParseUsers([]byte("ada:" + string(hash) + "\n")); len(problems) > 0 {
		panic(problems[0].String())
	}
}

func off(names ...string) func(*tenant.Tenant) {
	return func(t *tenant.Tenant) {
		allowed := map[string]bool{}
		for _, name := range names {
			allowed[name] = false
		}
		var extensions []string
		if slices.Contains(names, controlNamed) {
			extensions = append(extensions, string(tenant.Control))
		}
		*t = t.Switch(allowed, names, extensions...)
	}
}

// request to the tenant, with the right key, changed by what a test needs.
func (w *world) request(method, path, body string, change ...func(*http.Request)) *http.Request {
	w.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.server.URL+path, reader)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Authorization", rightKey)
	for _, c := range change {
		c(r)
	}
	return r
}

func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

// response of the API, held against the document.
type response struct {
	status int
	header http.Header
	body   string
}

// do sends a request below /video/api/v1 and checks that the document describes the answer.
func (w *world) do(method, path, body string, change ...func(*http.Request)) response {
	w.t.Helper()
	return w.send(w.request(method, "/video/api/v1/"+path, body, change...))
}

func (w *world) send(r *http.Request) response {
	w.t.Helper()
	answer, err := w.server.Client().Do(r)
	if err != nil {
		w.t.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	got := response{status: answer.StatusCode, header: answer.Header, body: string(body)}
	checkDescribed(w.t, r, got)
	return got
}

func (r response) json(t testing.TB) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal([]byte(r.body), &value); err != nil {
		t.Fatalf("body %q: %v", r.body, err)
	}
	return value
}

// text is a string property of the body.
func (r response) text(t testing.TB, name string) string {
	t.Helper()
	text, ok := r.json(t)[name].(string)
	if !ok {
		t.Fatalf("body %q has no string %q", r.body, name)
	}
	return text
}
