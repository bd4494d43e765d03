// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/requestid"
	"convene.dev/convene/internal/tenant"
)

// WebhookPath is the same on every host: the engine knows of no tenants.
const WebhookPath = "/engine/webhook"

// visit is one request to one tenant.
type visit struct {
	w http.ResponseWriter
	r *http.Request
	t *tenant.Tenant
	// rest is the path behind the route's own, still escaped.
	rest  string
	start time.Time
	// id of the request.
	id   string
	deed deed
}

// route is one line of what is served. Errors are written as JSON for scripts and as pages for people.
type route struct {
	method string
	// path behind the tenant's base path; one that ends in / stands for everything under it.
	path   string
	script bool
	// action is the word for it in the audit log.
	action string
	serve  func(*handler, *visit) error
}

// routes are everything under a tenant's base path, but for api/, which never comes here. A path of one segment that
// is not among them is a room's name.
var routes = []route{
	{http.MethodGet, "", false, "", (*handler).serveHomePage},
	{http.MethodGet, "join", false, "", (*handler).serveJoinPage},
	{http.MethodGet, "join/", false, "", (*handler).serveRoomPage},
	{http.MethodGet, "assets/", false, "", (*handler).serveAsset},
	{http.MethodGet, "robots.txt", false, "", (*handler).serveRobots},
	{http.MethodPost, "session", true, "enter", (*handler).openSession},
	{http.MethodGet, "session", true, "state", (*handler).sessionState},
	{http.MethodPost, "session/chat", true, "chat", (*handler).chat},
	{http.MethodPost, "session/hand", true, "hand", (*handler).hand},
	{http.MethodPost, "session/act", true, "act", (*handler).act},
	{http.MethodGet, "engine", true, "", (*handler).reachable},
	{http.MethodGet, "engine/", true, "connect", (*handler).signal},
}

// reserved names are no room at the top level: they, and what browsers ask for by themselves, would be taken for
// room links. Such rooms are reached under join/.
var reserved = []string{"api", "assets", "engine", "join", "session", "favicon.ico", "robots.txt"}

var errNoSuchPage = fault.NotFound("There is no such page; check the link")

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := requestid.Of(r)
	w.Header().Set(requestid.Header, id)
	if r.URL.Path == WebhookPath {
		h.webhook(w, r)
		return
	}
	t, ok := h.Tenants.ForHost(r.Host)
	if !ok {
		writeNobody(w)
		return
	}
	v := &visit{w: w, r: r, t: t, start: h.Now(), id: id}
	defer h.survive(v)
	route, err := h.find(v)
	v.deed.action = route.action
	if err == nil {
		err = route.serve(h, v)
	}
	switch {
	case err == nil:
		h.audit(v, nil)
	case route.script:
		h.refuse(v, err)
	default:
		h.refuseWithPage(v, err)
	}
}

// find looks for the route of a request, and returns what it can of it beside an error.
func (h *handler) find(v *visit) (route, error) {
	path, base := v.r.URL.EscapedPath(), basePath(v.t)
	if base != "" && path == base {
		return route{serve: (*handler).redirectHome}, nil
	}
	path, ok := strings.CutPrefix(path, base+"/")
	if !ok {
		return route{}, errNoSuchPage
	}
	var wrongMethod []route
	for _, candidate := range routes {
		if v.rest, ok = candidate.match(path); !ok {
			continue
		}
		if candidate.method == v.r.Method || candidate.method == http.MethodGet && v.r.Method == http.MethodHead {
			return candidate, nil
		}
		wrongMethod = append(wrongMethod, candidate)
	}
	if wrongMethod != nil {
		return wrongMethod[0], methodNotAllowed(v.w, wrongMethod)
	}
	if first, _, _ := strings.Cut(path, "/"); first != path || slices.Contains(reserved, first) {
		return route{}, errNoSuchPage
	}
	v.rest = path
	return route{serve: (*handler).redirectToRoom}, nil
}

func (r route) match(path string) (rest string, ok bool) {
	if strings.HasSuffix(r.path, "/") {
		return strings.CutPrefix(path, r.path)
	}
	return "", path == r.path
}

func methodNotAllowed(w http.ResponseWriter, routes []route) error {
	var allow []string
	for _, r := range routes {
		if r.method == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
		allow = append(allow, r.method)
	}
	slices.Sort(allow)
	list := strings.Join(slices.Compact(allow), ", ")
	w.Header().Set("Allow", list)
	return &refusal{fault: fault.Invalid("", "This address takes %s only", list), status: http.StatusMethodNotAllowed}
}

// redirectHome adds the slash against which the page's links are resolved.
func (h *handler) redirectHome(v *visit) error { return v.redirect(basePath(v.t) + "/") }

func (h *handler) redirectToRoom(v *visit) error {
	room, err := roomOf(v.rest)
	if err != nil {
		return err
	}
	return v.redirect(basePath(v.t) + "/join/" + url.PathEscape(room))
}

// redirect leads to a path of ours, with the same query.
func (v *visit) redirect(path string) error {
	if v.r.Method != http.MethodGet && v.r.Method != http.MethodHead {
		return methodNotAllowed(v.w, []route{{method: http.MethodGet}})
	}
	if v.r.URL.RawQuery != "" {
		path += "?" + v.r.URL.RawQuery
	}
	v.w.Header().Set("Location", path)
	v.w.WriteHeader(http.StatusFound)
	return nil
}

// basePath is the tenant's as it is written in URLs, "" or "/prefix".
func basePath(t *tenant.Tenant) string { return (&url.URL{Path: t.BasePath}).EscapedPath() }

// roomOf reads a room's name from the path of its link.
func roomOf(escaped string) (string, error) {
	room, err := url.PathUnescape(escaped)
	if err != nil {
		return "", errNoSuchPage.Because(err)
	}
	if err := meeting.ValidateRoom(room); err != nil {
		return "", errNoSuchPage.Because(err)
	}
	return room, nil
}
