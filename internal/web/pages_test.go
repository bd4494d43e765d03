// SPDX-License-Identifier: Apache-2.0

package web

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/tenant"
)

func (s *site) get(t testing.TB, path string) answer {
	t.Helper()
	return s.do(t, newRequest(http.MethodGet, path, ""))
}

// getAsset asks for one in an encoding.
func (s *site) getAsset(t testing.TB, name, accept string) answer {
	t.Helper()
	r := newRequest(http.MethodGet, "/assets/"+name, "")
	r.Header.Set("Accept-Encoding", accept)
	return s.do(t, r)
}

func TestPaths(t *testing.T) {
	atRoot := newSite(t)
	prefixed := newSite(t, func(t *tenant.Tenant) { t.BaseURL, t.BasePath = "https://"+host+"/vidéo", "/vidéo" })
	for _, c := range []struct {
		method, path string
		status       int
		location     string
	}{
		{path: "/", status: 200},
		{path: "/join", status: 200},
		{path: "/join?room=room&name=Ann", status: 200},
		{path: "/join/", status: 200},
		{path: "/join/my%20room", status: 200},
		{path: "/join/no-such-room", status: 200},
		{path: "/join/a%2Fb", status: 404},
		{path: "/join/a/b", status: 404},
		{path: "/join/%2e%2e", status: 404},
		{path: "/join/%00", status: 404},
		{path: "/join/" + strings.Repeat("x", 129), status: 404},
		{path: "/room", status: 302, location: "/join/room"},
		{path: "/my%20caf%C3%A9", status: 302, location: "/join/my%20caf%C3%A9"},
		{path: "/room?name=Ann", status: 302, location: "/join/room?name=Ann"},
		{path: "/.well-known", status: 302, location: "/join/.well-known"},
		{path: "/newcall", status: 302, location: "/"},
		{path: "/newroom?name=Ann", status: 302, location: "/"},
		{path: "/customizeRoom", status: 302, location: "/"},
		{path: "/login", status: 302, location: "/"},
		{path: "/login?room=room&name=Ann", status: 302, location: "/join?room=room&name=Ann"},
		{path: "/logout", status: 302, location: "/"},
		{path: "/activeRooms", status: 302, location: "/"},
		{path: "/stats", status: 302, location: "/"},
		{path: "/about", status: 302, location: "/"},
		{path: "/privacy", status: 302, location: "/"},
		{path: "/icetest", status: 302, location: "/"},
		{path: "/brand", status: 302, location: "/"},
		{path: "/ICEtest", status: 302, location: "/"},
		{path: "/whoAreYou", status: 404},
		{path: "/whoAreYou/my%20room?name=Ann", status: 302, location: "/join/my%20room?name=Ann"},
		{path: "/whoAreYou/%5Cevil.example", status: 404},
		{path: "/js", status: 404},
		{path: "/js/none.js", status: 404},
		{path: "/join/about", status: 200},
		{path: "/join?room=random", status: 200},
		{path: "/join/random", status: 200},
		{path: "/join/?room=room&name=Ann", status: 200},
		{path: "/..", status: 404},
		{path: "/%5Cevil.example", status: 404},
		{path: "/%2Fevil.example", status: 404},
		{path: "//evil.example", status: 302, location: "/evil.example"},
		{path: "//evil.example/..", status: 404},
		{path: "/a/b", status: 404},
		{path: "/join/room/", status: 302, location: "/join/room"},
		{path: "/join/my%20room//?name=Ann&room=x%2F", status: 302, location: "/join/my%20room?name=Ann&room=x%2F"},
		{path: "/JOIN/My%20Room", status: 302, location: "/join/My%20Room"},
		{path: "/Join?room=Room&token=x.y.z", status: 302, location: "/join?room=Room&token=x.y.z"},
		{path: "/Join/?room=Room", status: 302, location: "/join?room=Room"},
		{path: "//join/room", status: 302, location: "/join/room"},
		{path: "/Join//a%2Fb", status: 302, location: "/join/a%2Fb"},
		{path: "/Room/", status: 302, location: "/Room"},
		{path: "/newcall/", status: 302, location: "/newcall"},
		{path: "/Login/?room=room", status: 302, location: "/Login?room=room"},
		{path: "/WhoAreYou/my%20room/?name=Ann", status: 302, location: "/whoAreYou/my%20room?name=Ann"},
		{path: "/JS/iframe.js", status: 302, location: "/js/iframe.js"},
		{path: "/ROBOTS.TXT/", status: 302, location: "/robots.txt"},
		{path: "//", status: 302, location: "/"},
		{path: "/join/../room/", status: 404},
		{path: "/join/./room", status: 404},
		{path: "/Join/a/b/", status: 404},
		{method: "HEAD", path: "/Join/room/", status: 302, location: "/join/room"},
		{method: "POST", path: "/Join/room/", status: 404},
		{path: "/session/", status: 404},
		{path: "/Session/", status: 404},
		{path: "/api", status: 404},
		{path: "/media-server", status: 204},
		{path: "/engine", status: 204},
		{path: "/favicon.ico", status: 404},
		{path: "/robots.txt", status: 200},
		{path: "/session/other", status: 404},
		{path: "/assets", status: 404},
		{path: "/assets/", status: 404},
		{path: "/assets/none.js", status: 404},
		{path: "/assets/../index.html", status: 404},
		{path: "/assets/%2e%2e/index.html", status: 404},
		{path: "/assets/main-abc123.js.br", status: 404},
		{path: "/assets/main-abc123.js", status: 200},
		{method: "HEAD", path: "/", status: 200},
		{method: "POST", path: "/", status: 405},
		{method: "POST", path: "/room", status: 405},
		{method: "DELETE", path: "/session", status: 405},
		{method: "GET", path: "/session/chat", status: 405},
		{method: "POST", path: "/media-server/rtc", status: 405},
		{method: "POST", path: "/engine/rtc", status: 405},
	} {
		if c.method == "" {
			c.method = http.MethodGet
		}
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			for base, s := range map[string]*site{"": atRoot, "/vid%C3%A9o": prefixed} {
				r := newRequest(c.method, "/", "")
				if err := setPath(r, base+c.path); err != nil {
					t.Fatal(err)
				}
				got := s.do(t, r)
				want := ""
				if c.location != "" {
					want = base + c.location
				}
				if got.Code != c.status || got.Header().Get("Location") != want {
					t.Errorf("under %q: status %d, Location %q; want %d, %q", base, got.Code, got.Header().Get("Location"), c.status, want)
				}
				if (got.Code == http.StatusMethodNotAllowed) != (got.Header().Get("Allow") != "") {
					t.Errorf("status %d with Allow %q", got.Code, got.Header().Get("Allow"))
				}
			}
		})
	}

	for path, want := range map[string]int{"/vid%C3%A9o": 302, "/": 404, "/room": 404, "/vid%C3%A9otape": 404} {
		r := newRequest(http.MethodGet, "/", "")
		if err := setPath(r, path); err != nil {
			t.Fatal(err)
		}
		if got := prefixed.do(t, r); got.Code != want {
			t.Errorf("%s: status %d, want %d", path, got.Code, want)
		}
	}
}

// TestNamesThatAreMadeUp: links ask the service for the name of a room where people may open rooms, and for one's own anywhere.
func TestNamesThatAreMadeUp(t *testing.T) {
	for _, mode := range []v1alpha1.AdHoc{v1alpha1.AdHocNever, v1alpha1.AdHocTickets, v1alpha1.AdHocUsers, v1alpha1.AdHocAnyone} {
		s := newSite(t, adHoc(mode), func(t *tenant.Tenant) { t.BaseURL, t.BasePath = "https://"+host+"/meet", "/meet" })
		opens := mode == v1alpha1.AdHocUsers || mode == v1alpha1.AdHocAnyone
		// made is what comes after a beginning, or "" where the answer does not begin so.
		made := func(path, begins string) (string, url.Values) {
			t.Helper()
			to, err := url.Parse(s.get(t, path).Header().Get("Location"))
			if err != nil {
				t.Fatal(err)
			}
			rest, _ := strings.CutPrefix(to.Path, begins)
			return rest, to.Query()
		}
		first, query := made("/meet/newcall?name=Ann&audio=1", "/meet/join/")
		second, _ := made("/meet/newroom", "/meet/join/")
		if opens != (len(first) == 19 && len(second) == 19 && first != second && query.Get("name") == "Ann") {
			t.Errorf("%s: a new call leads to %q %v, and another one to %q", mode, first, query, second)
		}
		if !opens && (s.get(t, "/meet/newcall").Header().Get("Location") != "/meet/") {
			t.Errorf("%s: a new call leads to %q", mode, first)
		}
		_, query = made("/meet/join?room=random&name=random&audio=1", "")
		if room := query.Get("room"); opens != (len(room) == 19) || query.Get("name") == "random" || len(query.Get("name")) < 7 || query.Get("audio") != "1" {
			t.Errorf("%s: room=random&name=random leads to %v", mode, query)
		}
		if got := s.get(t, "/meet/join?room=room&name=random&token=x"); got.Code != http.StatusOK {
			t.Errorf("%s: with a token: %d", mode, got.Code)
		}
	}
}

// setPath gives a request an address as it comes over the wire: nothing is cleaned.
func setPath(r *http.Request, address string) (err error) {
	r.URL, err = url.ParseRequestURI(address)
	return err
}

func TestThePageOfATenant(t *testing.T) {
	s := newSite(t, func(t *tenant.Tenant) {
		t.BaseURL, t.BasePath = "https://"+host+"/a&b", "/a&b"
		t.Web.Brand.Name = `</script><script>alert("__BOOT__/__BASE__/")</script>`
		t.Web.Brand.LogoURL = "https://logo.example/l.png"
		t.Web.EmbedOrigins = []string{"https://app.example.com"}
		t.Web.EndCountdown = &metav1.Duration{Duration: 1500 * time.Millisecond}
	})
	got := s.get(t, "/a&b/join/room")
	page := got.Body.String()
	if !strings.Contains(page, `<base href="/a&amp;b/">`) {
		t.Errorf("no base in %s", page)
	}
	_, data, _ := strings.Cut(page, `id="convene">`)
	data, _, _ = strings.Cut(data, "</script>")
	var b boot
	if err := json.Unmarshal([]byte(data), &b); err != nil {
		t.Fatalf("%v in %s", err, page)
	}
	want := boot{
		Brand:        brand{Name: s.tenant.Web.Brand.Name, Logo: "https://logo.example/l.png"},
		Home:         "https://home.example.com/",
		EmbedParents: []string{"https://app.example.com"},
		EndCountdown: new(1.5),
	}
	if diff := cmp.Diff(want, b); diff != "" {
		t.Errorf("boot (-want +got)\n%s", diff)
	}
	if n := strings.Count(page, "</script>"); n != 1 {
		t.Errorf("a brand's name ends the script: %s", page)
	}
	const brand = "&lt;/script&gt;&lt;script&gt;alert(&#34;__BOOT__/__BASE__/&#34;)&lt;/script&gt;"
	for _, tag := range []string{
		"<title>" + brand + "</title>", `<meta property="og:site_name" content="` + brand + `">`, `<meta property="og:title" content="` + brand + `">`,
	} {
		if !strings.Contains(page, tag) {
			t.Errorf("no %s in %s", tag, page)
		}
	}
	// A preview goes to everybody in a chat.
	if secret := s.get(t, "/a&b/join/Redundancies?name=Ann&token=secret").Body.String(); secret != page {
		t.Errorf("the page tells what the link says: %s", secret)
	}
}

func TestATenantThatChangesHasAnotherPage(t *testing.T) {
	s := newSite(t)
	first := s.get(t, "/").Body.String()
	changed := *s.tenant
	changed.Web.Brand.Name = "Other"
	s.Tenants = fakeTenants{&changed}
	s.router = s.route(s.handler)
	if second := s.get(t, "/").Body.String(); second == first || !strings.Contains(second, "Other") {
		t.Errorf("still %s", second)
	}
	if n := len(s.page.rendered); n != 1 {
		t.Errorf("%d pages are kept for one tenant", n)
	}
}

// TestHeadersFitProxies: nginx takes 4 KiB of headers of an answer, and answers 502 above. The CRD lets embedOrigins have 2,600 characters.
func TestHeadersFitProxies(t *testing.T) {
	long := strings.Repeat(strings.Repeat("a", 63)+".", 4)[:253]
	s := newSite(t, func(c *tenant.Tenant) {
		c.BaseURL = "https://" + long + ":65535"
		for i := range 64 {
			c.Web.EmbedOrigins = append(c.Web.EmbedOrigins, fmt.Sprintf("https://%d.%s", i, strings.Repeat("a", 30)))
		}
	})
	for _, path := range []string{"/", "/join", "/join/room", "/join/room?token=x", "/js/embed.js"} {
		answer := s.get(t, path).Result()
		answer.Header.Set("Date", time.Now().Format(http.TimeFormat))
		answer.Header.Set("Content-Length", "1000000")
		head, err := httputil.DumpResponse(answer, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(head) > 4096 {
			t.Errorf("%s has %d bytes of headers:\n%s", path, len(head), head)
		}
	}
}

func TestHeadersOfPages(t *testing.T) {
	s := newSite(t)
	policy := func(a answer) map[string]string {
		out := map[string]string{}
		for directive := range strings.SplitSeq(a.Header().Get("Content-Security-Policy"), "; ") {
			name, sources, _ := strings.Cut(directive, " ")
			out[name] = sources
		}
		return out
	}
	got := s.get(t, "/")
	want := map[string]string{
		"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "* data: blob:",
		"media-src": "'self' blob:", "font-src": "'self'", "worker-src": "'self' blob:", "base-uri": "'self'",
		"form-action": "'self'", "frame-ancestors": "'self'",
		"connect-src": "'self' wss://" + host + " https://" + host,
	}
	if diff := cmp.Diff(want, policy(got)); diff != "" {
		t.Errorf("policy (-want +got)\n%s", diff)
	}
	for name, want := range map[string]string{
		"Referrer-Policy":            "no-referrer",
		"X-Content-Type-Options":     "nosniff",
		"Cross-Origin-Opener-Policy": "same-origin",
		"Cache-Control":              "no-cache",
		"Content-Type":               "text/html; charset=utf-8",
	} {
		if got := got.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, feature := range []string{"camera", "microphone", "display-capture", "fullscreen", "screen-wake-lock"} {
		if !strings.Contains(got.Header().Get("Permissions-Policy"), feature+"=(self)") {
			t.Errorf("the page may not ask for %s", feature)
		}
	}

	// A page that opens a join link in a window can tell whether the window is closed.
	for path, want := range map[string]string{
		"/join": "", "/join/": "", "/join/room": "", "/join/room?token=x": "", "/join?room=room&name=Ann": "", "/room": "", "/": "same-origin",
	} {
		if opener := s.get(t, path).Header().Get("Cross-Origin-Opener-Policy"); opener != want {
			t.Errorf("%s: Cross-Origin-Opener-Policy %q, want %q", path, opener, want)
		}
	}

	s = newSite(t, func(t *tenant.Tenant) {
		t.Web.EmbedOrigins = []string{"https://app.example.com", "https://*.example.org", "https://x; script-src *"}
		t.BaseURL = "https://Convéne.example.com:7443/path"
	})
	got = s.get(t, "/nowhere/at/all")
	p := policy(got)
	if want := "'self' https://app.example.com https://*.example.org"; p["frame-ancestors"] != want {
		t.Errorf("frame-ancestors %s, want %s", p["frame-ancestors"], want)
	}
	if want := "'self' wss://xn--convne-eva.example.com:7443 https://xn--convne-eva.example.com:7443"; p["connect-src"] != want {
		t.Errorf("connect-src %s, want %s", p["connect-src"], want)
	}
	if p := policy(s.get(t, "/join/room")); p["script-src"] != "'self' 'wasm-unsafe-eval'" {
		t.Errorf("script-src %s of a meeting", p["script-src"])
	}
	if p["script-src"] != "'self'" {
		t.Errorf("script-src %s", p["script-src"])
	}
	// The page's own inline script runs, and no other.
	inline, err := newPage(fstest.MapFS{"index.html": {Data: append([]byte("<script>go()</script>"), builtPage["index.html"].Data...)}})
	if err != nil {
		t.Fatal(err)
	}
	s.page = inline
	const ofGo = "'self' 'sha256-5KYv+PUboo5h+0+YAtGRPbwv5d/QxzHslP4YGnUaxRw='"
	if p := policy(s.get(t, "/")); p["script-src"] != ofGo {
		t.Errorf("script-src %s, want %s", p["script-src"], ofGo)
	}
	if opener := got.Header().Get("Cross-Origin-Opener-Policy"); opener != "" {
		t.Errorf("a page that may be embedded has Cross-Origin-Opener-Policy %s", opener)
	}
}

func TestAHostOfNobody(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/", "/session", "/assets/main-abc123.js"} {
		r := newRequest(http.MethodGet, path, "")
		r.Host = "other.example.com"
		got := s.do(t, r)
		if got.Code != http.StatusNotFound || !strings.HasPrefix(got.Header().Get("Content-Type"), "text/html") {
			t.Errorf("%s: status %d, %s", path, got.Code, got.Header().Get("Content-Type"))
		}
	}
}

// An open page asks where its tenant was: at a host that the tenant has left, or below a path that it has left.
func TestWhatPagesReadWhereTheirTenantWas(t *testing.T) {
	s := newSite(t, func(t *tenant.Tenant) { t.BasePath = "/meet" })
	for _, at := range [][2]string{{"other.example.com", "/meet/session"}, {host, "/session"}, {host, "/before/session"}} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := newRequest(method, at[1], "")
			r.Host = at[0]
			r.Header.Set("Accept", "application/json")
			var read errorBody
			got := s.do(t, r)
			if err := json.Unmarshal(got.Body.Bytes(), &read); err != nil || got.Code != http.StatusNotFound || read.Reason != "NotFound" || read.Error == "" {
				t.Errorf("%s %s: status %d, %s", method, at, got.Code, got.Body)
			}
		}
	}
}

func TestAssets(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		accept, body, encoding string
	}{
		{"gzip, deflate, br, zstd", "brotli", "br"},
		{"gzip;q=1.0, br;q=0", "gzip", "gzip"},
		{"GZIP", "gzip", "gzip"},
		{"identity", "plain script", ""},
		{"", "plain script", ""},
		{"*", "plain script", ""},
		{"br;q=nonsense", "plain script", ""},
		{"bro, xgzip", "plain script", ""},
	} {
		got := s.getAsset(t, "main-abc123.js", c.accept)
		if got.Body.String() != c.body || got.Header().Get("Content-Encoding") != c.encoding {
			t.Errorf("%q: %q in %q", c.accept, got.Body, got.Header().Get("Content-Encoding"))
		}
		for name, want := range map[string]string{
			"Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "public, max-age=31536000, immutable",
			"Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff",
		} {
			if got := got.Header().Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
	if got := s.getAsset(t, "icon-def456.svg", "br"); got.Body.String() != "<svg/>" ||
		got.Header().Get("Content-Type") != "image/svg+xml" {
		t.Errorf("%q, %s", got.Body, got.Header())
	}
	if got := s.get(t, "/assets/none.js"); got.Header().Get("Cache-Control") != "no-store" {
		t.Error("that a file is not there is kept for ever")
	}
}

func TestAPageThatCannotBeServed(t *testing.T) {
	index := builtPage["index.html"]
	for _, c := range []struct {
		reason string
		dist   fstest.MapFS
	}{
		{"nothing is built", fstest.MapFS{".gitignore": {}}},
		{"no scripts", fstest.MapFS{"index.html": index}},
		{"no placeholders", fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}, "assets/main.js": {}}},
		{"a placeholder twice", fstest.MapFS{
			"index.html": {Data: append([]byte("__BOOT__"), index.Data...)}, "assets/main.js": {}}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := &site{}
			_, err := newHandler(Options{Tenants: fakeTenants{}, Meetings: newFakeMeetings(s)}, c.dist)
			if err == nil || !strings.Contains(err.Error(), "make web") {
				t.Errorf("the error does not say how to fix it: %v", err)
			}
		})
	}
}

// TestTheBuiltPage holds the page in this binary against what is expected of it, or the error against what it should
// say before the first build.
func TestTheBuiltPage(t *testing.T) {
	_, _, err := New(Options{Tenants: fakeTenants{}, Meetings: newFakeMeetings(&site{})})
	if _, missing := fs.Stat(embedded, "dist/index.html"); missing != nil {
		if err == nil || !strings.Contains(err.Error(), "make web") {
			t.Errorf("the page is not built, and the error says %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	dist, err := fs.Sub(embedded, "dist")
	if err != nil {
		t.Fatal(err)
	}
	if s.handler, err = newHandler(s.Options, dist); err != nil {
		t.Fatal(err)
	}
	s.router = s.route(s.handler)
	home, join := s.get(t, "/").Body.String(), s.get(t, "/join/room").Body.String()
	if strings.Contains(home, "data-meeting") || !strings.Contains(join, "data-meeting") {
		t.Errorf("a meeting's scripts are named on the home page, or not on a room's:\n%s\n%s", home, join)
	}
	for _, link := range attributeValues(join, "src", "href") {
		if path, ours := strings.CutPrefix(link, "./"); ours {
			if got := s.get(t, "/"+path); got.Code != http.StatusOK {
				t.Errorf("the page asks for %s, which is answered with status %d", link, got.Code)
			}
		} else if link != "/" {
			t.Errorf("the page asks for %s", link)
		}
	}
}

// attributeValues are the values of all such attributes in a page.
func attributeValues(page string, names ...string) []string {
	var out []string
	for _, name := range names {
		parts := strings.Split(page, " "+name+`="`)
		for _, part := range parts[1:] {
			value, _, _ := strings.Cut(part, `"`)
			out = append(out, value)
		}
	}
	return out
}
