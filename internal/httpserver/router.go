// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/tenant"
)

// Tenants finds the Tenant that answers for a host.
type Tenants interface {
	// ForHost takes a request's Host, with or without a port. It is denied where another ConferenceConfig asks for the host and does not
	// have it.
	ForHost(host string) (t *tenant.Tenant, denied bool)
}

// Route is a path, one method that it takes, and what serves it.
type Route struct {
	Method string
	// Path is a pattern of net/http behind the tenant's base path, for example /api/v1/meeting/{room}.
	Path string
	// Endpoint switches the route; empty for routes that every tenant has.
	Endpoint tenant.Endpoint
	// Action names the route in the audit log.
	Action string
	// Changes says that requests that go well are in the audit log too.
	Changes bool
	// Page says that people see the answer in the browser: an error is a page, and only the server's own failures are logged.
	Page  bool
	Serve func(*Request) (Answer, error)
}

// Surface is a group of routes whose errors look alike.
type Surface struct {
	// Name begins the lines of the audit log.
	Name   string
	Routes []Route
	// AnyHost says that the routes are at the same paths on every host, whatever its tenant. They are found by their whole path,
	// and no Prefix counts.
	AnyHost bool
	// Prefix is of the paths for which this surface answers that there is no such route; the longest one counts.
	Prefix string
	// TrimSlash says that a path means the same with a slash at its end.
	TrimSlash bool
	// Canonical leads from a path that means a page to the page's own: with fixed parts in another case, empty segments or a slash
	// at the end.
	Canonical bool
	// Begin sets headers that every answer has, errors included; nil for none.
	Begin func(*Request)
	// Admit is asked before a route is served; nil admits all.
	Admit func(*Request) error
	// Refuse makes an error an answer.
	Refuse func(*Request, Error) Answer
	// Done is called when a request has been answered; nil for nothing.
	Done func(*Request)
	// UnknownHost and UnknownPath are the errors for those.
	UnknownHost, UnknownPath error
	// Statuses are instead of those of the table where they do not fit this surface.
	Statuses map[fault.Kind]int
	// Options sets the headers of answers to OPTIONS; nil where the paths do not take it. Admit is not asked for them.
	Options func(q *Request, allow string)
}

// RouterOptions are what a Router needs.
type RouterOptions struct {
	Tenants Tenants
	// Now is this machine's clock, by which rates and durations are measured; nil means time.Now.
	Now func() time.Time
	// Log gets a line for each request that changes something or is refused.
	Log logr.Logger
	// TrustedProxies are the addresses whose X-Forwarded-For is believed.
	TrustedProxies clientip.Proxies
}

// Router answers requests.
type Router struct {
	RouterOptions
	mux *http.ServeMux
	// surfaces under a base path, those with the longest prefixes first, and those of any host by the paths of their routes.
	surfaces []*Surface
	anyHost  map[string]*Surface
	guesses  *limit.Guesses
	// refusals bounds the lines about refusals, and keyed those about calls with an API key.
	refusals *limit.Refusals
	keyed    *limit.Keyed
}

// NewRouter makes a Router of surfaces.
func NewRouter(o RouterOptions, surfaces ...*Surface) *Router {
	if o.Now == nil {
		o.Now = time.Now
	}
	rt := &Router{
		RouterOptions: o, mux: http.NewServeMux(), anyHost: map[string]*Surface{},
		guesses: limit.NewGuesses(), refusals: limit.NewRefusals(o.Log), keyed: limit.NewKeyed(o.Log),
	}
	for _, s := range surfaces {
		if !s.AnyHost {
			rt.surfaces = append(rt.surfaces, s)
		}
		paths := map[string]*routesOfPath{}
		for i := range s.Routes {
			r := &s.Routes[i]
			if s.AnyHost {
				rt.anyHost[r.Path] = s
			}
			if paths[r.Path] == nil {
				paths[r.Path] = &routesOfPath{surface: s}
				rt.mux.Handle(r.Path, paths[r.Path])
			}
			paths[r.Path].routes = append(paths[r.Path].routes, r)
		}
	}
	slices.SortFunc(rt.surfaces, func(a, b *Surface) int { return len(b.Prefix) - len(a.Prefix) })
	return rt
}

// NewRequest is a request as its route gets it, but for the route and its path.
func (rt *Router) NewRequest(w http.ResponseWriter, r *http.Request) *Request {
	q := &Request{ResponseWriter: w, HTTP: r, ID: requestID(r), Start: rt.Now(), router: rt}
	q.Tenant, q.HostDenied = rt.Tenants.ForHost(r.Host)
	return q
}

// ServeHTTP answers a request.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := rt.NewRequest(w, r)
	w.Header()[requestIDHeader] = []string{q.ID}
	inside := true
	if q.surface = rt.anyHost[r.URL.Path]; q.surface == nil {
		q.surface = rt.surfaceOf(q.meantPath())
		inside = q.cutBasePath()
	}
	if q.surface.TrimSlash {
		q.trimSlash()
	}
	defer rt.finish(q)
	if q.surface.Begin != nil {
		q.surface.Begin(q)
	}
	answer, err := rt.serve(q, inside)
	if err != nil {
		answer = q.refuse(err)
	}
	if answer != nil {
		answer.write(q)
	}
}

// serve finds the route of a request and serves it.
func (rt *Router) serve(q *Request, inside bool) (Answer, error) {
	switch {
	case q.surface.AnyHost:
	case q.Tenant == nil:
		return nil, q.surface.UnknownHost
	case !inside:
		return nil, q.surface.UnknownPath
	case q.HTTP.URL.Path == "" && q.Tenant.BasePath != "":
		return q.addSlash()
	}
	found := &lookup{}
	if escaped := q.HTTP.URL.EscapedPath(); escaped == cleaned(escaped) { // The mux redirects all others.
		rt.mux.ServeHTTP(found, q.HTTP)
	}
	routes := found.offered(q)
	if len(routes) > 0 {
		return q.serve(routes)
	}
	if q.surface.Canonical && (q.HTTP.Method == http.MethodGet || q.HTTP.Method == http.MethodHead) {
		if path, ok := q.surface.canonical(q.HTTP.URL.EscapedPath()); ok {
			return Redirect(path), nil
		}
	}
	return nil, q.surface.UnknownPath
}

// serve serves the one of a path's routes that takes the method.
func (q *Request) serve(routes []*Route) (Answer, error) {
	method := q.HTTP.Method
	options := q.surface.Options != nil && method == http.MethodOptions
	at := slices.IndexFunc(routes, func(r *Route) bool {
		return r.Method == method || options || method == http.MethodHead && r.Method == http.MethodGet
	})
	q.Route = routes[max(at, 0)]
	q.Record.Action, q.Record.Changes = q.Route.Action, q.Route.Changes
	switch {
	case at < 0:
		return nil, methodNotAllowed(q.allow(routes))
	case options:
		q.Record.Changes = false
		q.surface.Options(q, q.allow(routes))
		return NoContent, nil
	}
	if q.surface.Admit != nil {
		if err := q.surface.Admit(q); err != nil {
			return nil, err
		}
	}
	ctx, end := limit.Holding(q.HTTP.Context())
	defer end()
	q.HTTP = q.HTTP.WithContext(ctx)
	return q.Route.Serve(q)
}

// allow lists the methods that a path takes.
func (q *Request) allow(routes []*Route) string {
	var allow []string
	for _, r := range routes {
		allow = append(allow, r.Method)
		if r.Method == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
	}
	if q.surface.Options != nil {
		allow = append(allow, http.MethodOptions)
	}
	slices.Sort(allow)
	return strings.Join(slices.Compact(allow), ", ")
}

// surfaceOf is the surface that answers for a path.
func (rt *Router) surfaceOf(path string) *Surface {
	for _, s := range rt.surfaces {
		if rest, ok := strings.CutPrefix(path, s.Prefix); ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(s.Prefix, "/")) {
			return s
		}
	}
	return rt.surfaces[len(rt.surfaces)-1]
}

// routesOfPath are the routes of one path, for as many methods.
type routesOfPath struct {
	surface *Surface
	routes  []*Route
}

// lookup is given to the mux as the writer of an answer, and keeps the routes that the mux finds. What the mux itself answers
// counts for nothing.
type lookup struct {
	*routesOfPath
	header http.Header
}

// offered are the routes that were found, as far as the tenant has them. What one surface answers for is not another's.
func (l *lookup) offered(q *Request) []*Route {
	if l.routesOfPath == nil || l.surface != q.surface {
		return nil
	}
	lacks := func(r *Route) bool { return r.Endpoint != "" && !q.Tenant.Has(r.Endpoint) }
	if !slices.ContainsFunc(l.routes, lacks) {
		return l.routes
	}
	return slices.DeleteFunc(slices.Clone(l.routes), lacks)
}

// Header is not for any client.
func (l *lookup) Header() http.Header {
	if l.header == nil {
		l.header = http.Header{}
	}
	return l.header
}

// Write writes nothing.
func (*lookup) Write(data []byte) (int, error) { return len(data), nil }

// WriteHeader writes nothing.
func (*lookup) WriteHeader(int) {}

// ServeHTTP notes what the mux has found.
func (p *routesOfPath) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.(*lookup).routesOfPath = p
}
