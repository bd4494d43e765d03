// SPDX-License-Identifier: Apache-2.0

package httpserver_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/crypto/bcrypt"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/httpapi"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/web"
)

const (
	keyA     = "key-of-tenant-a-0123456789"
	keyB     = "key-of-tenant-b-0123456789"
	requests = 100_000
)

type directory []*tenant.Tenant

func (d directory) All() []*tenant.Tenant { return d }

func (d directory) ForHost(host string) (t *tenant.Tenant, denied bool) {
	i := slices.IndexFunc(d, func(t *tenant.Tenant) bool { return t.Hosts[0] == host })
	if i < 0 {
		return nil, false
	}
	return d[i], false
}

// house is the whole router with the real API and the real pages, over two tenants.
type house struct {
	handler http.Handler
	// surfaces are what the handler is made of.
	surfaces []*httpserver.Surface
	tenants  directory
	engine   engine.Engine
	now      time.Time
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	signalling := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = io.WriteString(w, "success")
	}))
	t.Cleanup(signalling.Close)
	server := engine.Server{URL: signalling.URL, Key: "engine-key", Secret: strings.Repeat("engine secret", 3)}
	// It signs and verifies as the real one does.
	signer, err := livekit.New("media", server)
	if err != nil {
		t.Fatal(err)
	}
	h.engine = silentEngine{signer}
	media := &tenant.Media{Server: server, Engine: h.engine}
	h.tenants = directory{
		newTenant(t, "a", v1alpha1.VariantA, "a.example.com", "", keyA, media),
		newTenant(t, "b", v1alpha1.VariantB, "b.example.com", "/meet", keyB, media),
	}
	now := func() time.Time { return h.now }
	meetings := newMemory(now)
	pages, webhooks, err := web.New(web.Options{Tenants: h.tenants, Meetings: meetings, ClusterTime: now})
	if err != nil {
		t.Fatal(err)
	}
	api := httpapi.New(httpapi.Options{Meetings: meetings, ClusterTime: now})
	h.surfaces = []*httpserver.Surface{api, pages, webhooks}
	h.handler = httpserver.NewRouter(httpserver.RouterOptions{Tenants: h.tenants, Now: now, Log: logr.Discard()}, h.surfaces...)
	return h
}

func newTenant(t testing.TB, name string, variant v1alpha1.Variant, host, base, key string, media *tenant.Media) *tenant.Tenant {
	t.Helper()
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	out := tenant.Tenant{
		NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}, UID: types.UID("uid-" + name), Variant: variant,
		BaseURL: "https://" + host + base, BasePath: base, Hosts: []string{host},
		TokenLifetime: time.Hour, MaxTokenLifetime: 24 * time.Hour, Settings: meeting.DefaultSettings(),
		Presenters: map[string]bool{"ada": true}, Media: []*tenant.Media{media},
		Web: tenant.Web{
			WebSpec: v1alpha1.WebSpec{HomeURL: v1alpha1.URL("https://" + host + base + "/"), CORSOrigins: []string{"*"}},
			Brand:   v1alpha1.BrandSpec{Name: "Convene"},
		},
	}
	out.Keys, _ = credential.NewKeyRing([]string{key})
	out.Signer, _ = credential.NewSigner(out.Issuer(), map[string][]byte{"1": []byte(strings.Repeat(name, 32))})
	out.Users, _ = credential.ParseUsers([]byte("ada:" + string(hash) + "\n"))
	out = out.Switch(nil, nil)
	return &out
}

// TestGeneratedRequests sends generated requests through the real router: nothing fails, every error can be read, and
// nobody gets without a key what needs one.
func TestGeneratedRequests(t *testing.T) {
	h := newHouse(t)
	var served atomic.Int64
	var workers sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for worker := range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			g := newGenerator(h, uint64(worker))
			for served.Load() < requests && !t.Failed() {
				raw := g.request()
				r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(raw)))
				if err != nil {
					continue // Such do not come past net/http.
				}
				r.RemoteAddr = g.address()
				w := httptest.NewRecorder()
				h.handler.ServeHTTP(w, r)
				served.Add(1)
				if wrong := h.wrong(r, w); wrong != "" {
					t.Errorf("seed %d: %s\n%.1500q\nanswered %d %v\n%.500s", worker, wrong, raw, w.Code, w.Header(), w.Body)
				}
				if r.Method == http.MethodPost {
					g.learn(w)
				}
				mu.Lock()
				statuses[w.Code]++
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	t.Logf("%d requests: %v", served.Load(), statuses)
	for _, status := range []int{200, 204, 302, 400, 401, 403, 404, 405, 409, 410, 413, 429} {
		if statuses[status] == 0 {
			t.Errorf("no request was answered with %d: the generator does not get there", status)
		}
	}
}

// wrong says what is wrong with an answer.
func (h *house) wrong(r *http.Request, w *httptest.ResponseRecorder) string {
	body, header := w.Body.String(), w.Header()
	switch {
	case w.Code >= 500:
		return "an error of ours"
	case strings.Contains(body, keyA) || strings.Contains(body, keyB):
		return "the answer holds an API key"
	case header.Get("X-Request-Id") == "":
		return "an answer without a request id"
	case body != "" && r.URL.Path != "/robots.txt" && !strings.HasSuffix(r.URL.Path, "/robots.txt") && header.Get("X-Content-Type-Options") != "nosniff":
		return "browsers may guess its type"
	case strings.HasPrefix(header.Get("Location"), "//") || header.Get("Location") != "" && header.Get("Location")[0] != '/':
		return "it leads elsewhere"
	}
	t, _ := h.tenants.ForHost(r.Host)
	base := ""
	if t != nil {
		base = t.BasePath
	}
	rest, isAPI := strings.CutPrefix(r.URL.Path, base+"/api")
	isAPI = isAPI && (rest == "" || rest[0] == '/')
	if isAPI && w.Code < 300 && t != nil && r.Method != http.MethodOptions && !strings.HasPrefix(rest, "/v1/docs") {
		if _, right := t.Keys.Match(r.Header.Get("Authorization")); !right {
			return "it was answered without the tenant's key"
		}
	}
	if w.Code < 400 || r.Method == http.MethodHead {
		return ""
	}
	return wrongError(meansAPI(r.URL, base), header.Get("Content-Type"), w.Body.Bytes())
}

// meansAPI reports whether a path is the API's, as it is or once it is cleaned, with the tenant's base path or without.
func meansAPI(u *url.URL, base string) bool {
	meant := u.Path
	if escaped := u.EscapedPath(); path.Clean(escaped) != cmp.Or(strings.TrimSuffix(escaped, "/"), "/") {
		meant = path.Clean(meant)
	}
	meant = strings.TrimPrefix(meant, base)
	return meant == "/api" || strings.HasPrefix(meant, "/api/")
}

// wrongError says what is wrong with the body of an error.
func wrongError(isAPI bool, contentType string, body []byte) string {
	if !isAPI && !strings.HasPrefix(contentType, "application/json") {
		if len(body) > 0 && !strings.HasPrefix(contentType, "text/html") {
			return "an error that is neither JSON nor a page"
		}
		return ""
	}
	var e struct {
		Success                       *bool
		Error, Reason, Redirect, Home string
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil || e.Error == "" || contentType != "application/json" {
		return fmt.Sprintf("an error that no client can read: %v", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return "more than one JSON value"
	}
	if !isAPI && e.Reason == "" {
		return "an error without the reason that the page needs"
	}
	return ""
}

// generator makes requests that are like real ones in most parts and unlike in some.
type generator struct {
	*rand.Rand
	house *house
	// learned are links, tokens and sessions out of answers, to be sent again anywhere.
	learned []string
	common  []string
	// bodies are those of the last requests.
	bodies [][]byte
}

func newGenerator(h *house, seed uint64) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 20261121)), house: h}
	for _, t := range h.tenants {
		token, _ := t.Signer.IssueToken(credential.TokenRequest{Username: "ada", Presenter: true, Lifetime: time.Hour, Users: t.Users}, h.now)
		g.common = append(g.common, token)
	}
	g.common = append(g.common, "ada", "secret", "Stand-up", "room-1", "", "wrong", "ü ☕", "<script>alert(1)</script>", "../..", "%2e%2e", "\x00", "\xff",
		"a\r\nX: y", "//evil.example", "javascript:alert(1)", "https://example.com/a.png", "true", "null", "99:00:00", "unlimited", "1h", strings.Repeat("x", 3000))
	return g
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

// word is something that may be meant for anything.
func (g *generator) word() string {
	switch g.IntN(12) {
	case 0, 1:
		if len(g.learned) > 0 {
			return pick(g, g.learned...)
		}
	case 2:
		b := make([]byte, g.IntN(12))
		for i := range b {
			b[i] = byte(g.IntN(256))
		}
		return string(b)
	}
	return pick(g, g.common...)
}

func (g *generator) address() string {
	return fmt.Sprintf("192.0.2.%d:%d", g.IntN(3), 1024+g.IntN(60000))
}

// targets are all that is served, by the method that it takes.
var targets = map[string][]string{
	"GET": {
		"/api/v1/stats", "/api/v1/meetings", "/api/v1/docs", "/api/v1/docs/openapi.json", "/api/v1/docs/assets/page.js", "/api", "/", "/join",
		"/join/Stand-up", "/Stand-up", "/robots.txt", "/session", "/media-server/rtc/validate", "/assets/x.js", "/elsewhere",
	},
	"POST": {
		"/api/v1/meeting", "/api/v1/join", "/api/v1/join", "/api/v1/token", "/session", "/session", "/session", "/session/chat", "/session/hand",
		"/session/reaction", "/session/act", "/session/act", "/media-server/webhook",
	},
	"DELETE": {"/api/v1/meeting/Stand-up", "/api/v1/meeting/locked", "/api/v1/meeting/r1", "/api/v1/meeting/r2"},
}

func (g *generator) path(base, method string) string {
	path := base + pick(g, targets[method]...)
	switch g.IntN(20) {
	case 0:
		path += "/"
	case 1:
		path += "/" + escape(g.word())
	case 2:
		path = "/" + path
	case 3:
		path = strings.Replace(path, "a", "%61", 1)
	}
	if g.IntN(3) == 0 {
		path += "?" + escape(pick(g, "token", "access_token", "room", "publish", g.word())) + "=" + escape(g.word())
	}
	return path
}

// escape leaves what may stand in a request line.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c > ' ' && c < 0x7f && c != '#' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// body is a new one each eighth time: with another path it asks for something else.
func (g *generator) body() []byte {
	if len(g.bodies) < 100 || g.IntN(8) == 0 {
		g.bodies = append(g.bodies[max(0, len(g.bodies)-999):], g.newBody())
		return g.bodies[len(g.bodies)-1]
	}
	return pick(g, g.bodies...)
}

func (g *generator) newBody() []byte {
	switch g.IntN(12) {
	case 0:
		return nil
	case 1:
		return []byte(g.word())
	case 2:
		return []byte(pick(g, "null", "[]", `"x"`, "{", "{}{}", strings.Repeat("[", 500), strings.Repeat(" ", 70<<10)+"{}"))
	}
	object := map[string]any{}
	for _, name := range []string{
		"room", "name", "roomPassword", "password", "duration", "avatar", "audio", "chat", "hide", "notify", "token", "ticket", "session", "username",
		"userPassword", "presenter", "expire", "redirect", "maxParticipants", "text", "raised", "action", "identity", "constructor",
	} {
		if g.IntN(3) == 0 || name == "room" || name == "name" || name == "username" {
			object[name] = g.value(name)
		}
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	if g.IntN(20) == 0 {
		encoded[g.IntN(len(encoded))] ^= 1 << g.IntN(8)
	}
	return encoded
}

func (g *generator) value(name string) any {
	switch g.IntN(8) {
	case 0:
		return pick[any](g, true, false, 0, 1, -1, 1e300, nil, []any{}, map[string]any{"username": "ada", "password": "secret"}, "true")
	case 1:
		return g.word()
	}
	switch name {
	case "room":
		return pick(g, "Stand-up", "locked", "ü ☕", "r1", "r2")
	case "name", "text":
		return "Ada"
	case "username":
		return "ada"
	case "password", "userPassword", "roomPassword":
		return pick(g, "secret", "secret", "guess")
	case "duration":
		return pick(g, "01:00:00", "unlimited")
	case "expire":
		return pick(g, "1h", "2d")
	case "avatar", "redirect":
		return "https://example.com/"
	case "action":
		return pick(g, "mute", "remove", "lowerHand", "end")
	case "maxParticipants":
		return 5
	case "token", "ticket", "session", "identity":
		return g.word()
	}
	return pick(g, true, false)
}

// request is the text of one.
func (g *generator) request() []byte {
	var b bytes.Buffer
	at := pick(g, g.house.tenants...)
	host, base, key := at.Hosts[0], at.BasePath, keyA
	if base != "" {
		key = keyB
	}
	method := pick(g, "GET", "GET", "POST", "POST", "POST", "DELETE")
	path := g.path(base, method)
	// One in eight is at the wrong house, or does the wrong thing there.
	switch g.IntN(32) {
	case 0:
		host = pick(g, "a.example.com", "b.example.com", "c.example.com", "A.example.com", "", "[::1]:80", "evil")
	case 1:
		path = g.path(pick(g, "", "/meet"), method)
	case 2:
		method = pick(g, "OPTIONS", "HEAD", "PUT", "BREW", "GET", "POST")
	case 3:
		key = pick(g, keyA, keyB)
	}
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, host)
	if strings.Contains(path, "/session") && len(g.learned) > 0 {
		key = "Bearer " + pick(g, g.learned...)
	}
	if g.IntN(20) == 0 {
		key = pick(g, "Bearer ", "") + headerOf(g.word())
	}
	fmt.Fprintf(&b, "Authorization: %s\r\n", key)
	for _, name := range []string{"X-Forwarded-For", "X-Request-Id", "Origin", "Accept-Encoding", "Content-Type", "Sec-Fetch-Site", "Upgrade", "User-Agent"} {
		if g.IntN(8) == 0 {
			fmt.Fprintf(&b, "%s: %s\r\n", name, pick(g, headerOf(g.word()), "gzip", "https://a.example.com", "cross-site", "192.0.2.1", "websocket"))
		}
	}
	body := g.body()
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return b.Bytes()
}

// headerOf leaves what a header may hold.
func headerOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// learn keeps what may open something.
func (g *generator) learn(w *httptest.ResponseRecorder) {
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		return
	}
	var a struct {
		Join, Token, Session string
		Engine               struct{ Token string }
		You                  struct{ Identity string }
	}
	if json.Unmarshal(w.Body.Bytes(), &a) != nil {
		return
	}
	_, ticket, _ := strings.Cut(a.Join, "&token=")
	for _, word := range []string{ticket, a.Token, a.Session, a.Engine.Token, a.You.Identity} {
		if word == "" {
			continue
		}
		if len(g.learned) < 40 {
			g.learned = append(g.learned, word)
		} else {
			g.learned[g.IntN(len(g.learned))] = word
		}
	}
}
