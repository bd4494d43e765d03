// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Placeholders in the built page.
const (
	basePlaceholder  = "/__BASE__/"
	bootPlaceholder  = "__BOOT__"
	brandPlaceholder = "__BRAND__"
)

// placeholders are how often the built page has them: the brand in its title, and twice in what chats show of a link.
var placeholders = map[string]int{basePlaceholder: 1, bootPlaceholder: 1, brandPlaceholder: 3}

// meetingPreloads name the scripts of a meeting, which the home page does without.
var meetingPreloads = regexp.MustCompile(`[ \t]*<link [^>]*\bdata-meeting\b[^>]*>\n?`)

// inlineScript is the page's own script, which brings what the page lacks when its files are of another version.
var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// page is the single HTML page of all tenants, with what differs filled in.
type page struct {
	source []byte
	// script is what the policy says of the inline script, empty where there is none.
	script string

	mu sync.Mutex
	// rendered is by pointer: a tenant never changes, a change makes another.
	rendered map[*tenant.Tenant]*rendered
}

// rendered is the page of a tenant: join for links into meetings, home for all other addresses.
type rendered struct{ join, home version }

type version struct {
	header http.Header
	body   []byte
}

func joinVersion(r *rendered) version { return r.join }

func homeVersion(r *rendered) version { return r.home }

func newPage(dist fs.FS) (*page, error) {
	source, err := fs.ReadFile(dist, "index.html")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("web: the room page is not built into this binary: run `make web` and build again")
	}
	if err != nil {
		return nil, err
	}
	for placeholder, want := range placeholders {
		if n := bytes.Count(source, []byte(placeholder)); n != want {
			return nil, fmt.Errorf("web: the built index.html has %s %d times instead of %d: fix ui/index.html and run `make web`", placeholder, n, want)
		}
	}
	return &page{source: source, script: hashSource(source), rendered: map[*tenant.Tenant]*rendered{}}, nil
}

// hashSource names the page's inline script by its hash, as a Content-Security-Policy does.
func hashSource(page []byte) string {
	script := inlineScript.FindSubmatch(page)
	if script == nil {
		return ""
	}
	sum := sha256.Sum256(script[1])
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// boot is what the page knows from the start.
type boot struct {
	Brand        brand        `json:"brand"`
	Home         v1alpha1.URL `json:"home"`
	EmbedParents []string     `json:"embedParents"`
	// EndCountdown is in seconds.
	EndCountdown *float64 `json:"endCountdown,omitempty"`
}

type brand struct {
	Name string       `json:"name"`
	Logo v1alpha1.URL `json:"logo,omitempty"`
	// Color is #rrggbb.
	Color string `json:"color,omitempty"`
}

// of renders the page of a tenant. Tenants that are no longer served are forgotten when one is new.
func (p *page) of(t *tenant.Tenant, serving func() []*tenant.Tenant) (*rendered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.rendered[t]; r != nil {
		return r, nil
	}
	r, err := p.render(t)
	if err != nil {
		return nil, err
	}
	live := map[*tenant.Tenant]bool{}
	for _, t := range serving() {
		live[t] = true
	}
	maps.DeleteFunc(p.rendered, func(t *tenant.Tenant, _ *rendered) bool { return !live[t] })
	if live[t] {
		p.rendered[t] = r
	}
	return r, nil
}

func (p *page) render(t *tenant.Tenant) (*rendered, error) {
	var countdown *float64
	if t.Web.EndCountdown != nil {
		countdown = new(t.Web.EndCountdown.Seconds())
	}
	// Marshal escapes <, > and &, so that no value can end the script element.
	data, err := json.Marshal(boot{
		Brand:        brand{Name: t.Web.Brand.Name, Logo: t.Web.Brand.LogoURL, Color: t.Web.Brand.Color},
		Home:         t.Web.HomeURL,
		EmbedParents: append([]string{}, t.Web.EmbedOrigins...),
		EndCountdown: countdown,
	})
	if err != nil {
		return nil, err
	}
	body := []byte(strings.NewReplacer(
		basePlaceholder, html.EscapeString(httpserver.EscapedBasePath(t)+"/"),
		bootPlaceholder, string(data),
		brandPlaceholder, html.EscapeString(t.Web.Brand.Name),
	).Replace(string(p.source)))
	join, home := pageHeaders(t, strings.TrimSpace(p.script+" "+wasm)), pageHeaders(t, p.script)
	if len(t.Web.EmbedOrigins) == 0 {
		// Not for join links: a backend's page opens one in a window, and waits for the window to close.
		home.Set("Cross-Origin-Opener-Policy", "same-origin")
	}
	return &rendered{join: version{join, body}, home: version{home, meetingPreloads.ReplaceAll(body, nil)}}, nil
}

func (h *handler) serveHomePage(q *httpserver.Request) (httpserver.Answer, error) {
	return h.tenantPage(q, http.StatusOK, homeVersion)
}

func (h *handler) serveJoinPage(q *httpserver.Request) (httpserver.Answer, error) {
	if query, changed := madeUp(q); changed {
		return httpserver.Location{Path: "/join", Query: query}, nil
	}
	return h.tenantPage(q, http.StatusOK, joinVersion)
}

// serveRoomPage answers for every name that a room can have: whether there is one is for the session to say, which
// knows who asks.
func (h *handler) serveRoomPage(q *httpserver.Request) (httpserver.Answer, error) {
	if meeting.ValidateAskedRoom(q.HTTP.PathValue("room")) != nil {
		return nil, errNoSuchPage
	}
	return h.tenantPage(q, http.StatusOK, joinVersion)
}

// redirectToRoom leads from a room's name at the top level to its link, and from other services' pages to what there is of
// them here.
func (h *handler) redirectToRoom(q *httpserver.Request) (httpserver.Answer, error) {
	room := q.HTTP.PathValue("room")
	if !reserved[room] && strings.EqualFold(room, "join") {
		return httpserver.Redirect("/join"), nil
	}
	if place := compat.PlaceOf(room); place != compat.NoPlace {
		return redirectFrom(place, q)
	}
	if reserved[room] || meeting.ValidateAskedRoom(room) != nil {
		return nil, errNoSuchPage
	}
	return httpserver.Redirect("/join/" + url.PathEscape(room)), nil
}

func (h *handler) tenantPage(q *httpserver.Request, status int, of func(*rendered) version) (httpserver.Answer, error) {
	r, err := h.page.of(q.Tenant, h.Tenants.All)
	if err != nil {
		return nil, err
	}
	v := of(r)
	return httpserver.Bytes{Status: status, Header: v.header, Data: [][]byte{v.body}}, nil
}

// serveRobots keeps rooms out of search engines.
func (h *handler) serveRobots(*httpserver.Request) (httpserver.Answer, error) {
	return httpserver.Bytes{Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Data: [][]byte{[]byte("User-agent: *\nDisallow: /\n")}}, nil
}

// plainPage is a page that needs nothing but itself.
func plainPage(status int, message string) httpserver.Answer {
	return httpserver.Bytes{
		Status: status,
		Header: http.Header{
			"Content-Type":            {"text/html; charset=utf-8"},
			"Cache-Control":           {"no-store"},
			"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
			"X-Content-Type-Options":  {"nosniff"},
			"Referrer-Policy":         {"no-referrer"},
		},
		Data: [][]byte{fmt.Appendf(nil, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>%d %s</title><h1>%s</h1><p>%s.</p></html>\n",
			status, http.StatusText(status), http.StatusText(status), html.EscapeString(message))},
	}
}
