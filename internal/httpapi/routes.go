// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
)

// route is one line of the API. A path may end in one {parameter}.
type route struct {
	method   string
	path     string
	endpoint tenant.Endpoint
	handler  func(*call) (answer, error)
}

// routes is the whole API, under <baseURL>/api/v1/. The endpoint switches the route, and only docs needs no secret.
var routes = []route{
	{http.MethodGet, "stats", tenant.Stats, (*call).stats},
	{http.MethodGet, "meetings", tenant.Meetings, (*call).meetings},
	{http.MethodPost, "meeting", tenant.Meeting, (*call).create},
	{http.MethodDelete, "meeting/{room}", tenant.MeetingEnd, (*call).end},
	{http.MethodPost, "join", tenant.Join, (*call).join},
	{http.MethodPost, "token", tenant.Token, (*call).token},
	{http.MethodGet, "docs", tenant.Docs, (*call).docsPage},
	{http.MethodGet, "docs/openapi.json", tenant.Docs, (*call).docsJSON},
	{http.MethodGet, "docs/openapi.yaml", tenant.Docs, (*call).docsYAML},
	{http.MethodGet, "docs/assets/{file}", tenant.Docs, (*call).docsAsset},
}

// prefix of all routes behind a tenant's base path.
const prefix = "/api/v1/"

// match reports whether a path, still escaped, is the route's, and what stands for its parameter.
func (r *route) match(path string) (parameter string, ok bool) {
	fixed, _, parametrized := strings.Cut(r.path, "{")
	if !parametrized {
		return "", path == r.path
	}
	parameter, ok = strings.CutPrefix(path, fixed)
	return parameter, ok && parameter != "" && !strings.Contains(parameter, "/")
}

// find looks for the route of a request in the variant of its tenant. For OPTIONS it is any route of the path.
func (c *call) find() (*route, error) {
	path, ok := c.path()
	if !ok {
		return nil, errUnknownPath
	}
	for i := range routes {
		r := &routes[i]
		parameter, ok := r.match(path)
		if !ok || !r.takes(c.r.Method) || !c.tenant.Has(r.endpoint) {
			continue
		}
		var err error
		if c.parameter, err = url.PathUnescape(parameter); err != nil {
			return nil, errUnknownPath.Because(err)
		}
		return r, nil
	}
	if allow := methods(c.tenant, path); allow != nil {
		return nil, methodNotAllowed(allow)
	}
	return nil, errUnknownPath
}

// takes reports whether the route answers a method itself, or lends its path to OPTIONS.
func (r *route) takes(method string) bool {
	return method == r.method || method == http.MethodOptions || method == http.MethodHead && r.method == http.MethodGet
}

// path is the request's path behind the prefix, still escaped, without a trailing slash.
func (c *call) path() (string, bool) {
	path, ok := strings.CutPrefix(c.r.URL.EscapedPath(), c.tenant.BasePath)
	if !ok {
		return "", false
	}
	path, ok = strings.CutPrefix(path, prefix)
	return strings.TrimSuffix(path, "/"), ok
}

// methods that a path takes in the tenant's variant; none when there is no such path.
func methods(t *tenant.Tenant, path string) []string {
	var allow []string
	for i := range routes {
		r := &routes[i]
		if _, ok := r.match(path); !ok || !t.Has(r.endpoint) {
			continue
		}
		allow = append(allow, r.method, http.MethodOptions)
		if r.method == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
	}
	slices.Sort(allow)
	return slices.Compact(allow)
}

var errUnknownPath = fault.NotFound("There is no such endpoint here; GET /api/v1/docs shows those that there are")
