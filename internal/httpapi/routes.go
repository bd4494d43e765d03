// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/tenant"
)

// prefix of all routes behind a tenant's base path.
const prefix = "/api/v1/"

// surface is the whole API. The endpoint switches a route, and only docs needs no key.
func (a *api) surface() *httpserver.Surface {
	const get, post, patch, del = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete
	const one, participants = "meeting/{room}", "meeting/{room}/participants"
	return &httpserver.Surface{
		Name: "API call", Prefix: "/api", TrimSlash: true,
		Routes: []httpserver.Route{
			route(get, "stats", tenant.Stats, a.stats),
			route(get, "meetings", tenant.Meetings, a.list),
			route(post, "meeting", tenant.Meeting, a.create),
			route(del, one, tenant.MeetingEnd, a.end),
			control(get, one, "showMeeting", a.showMeeting),
			control(patch, one, "changeMeeting", a.changeMeeting),
			control(get, participants, "listParticipants", a.listParticipants),
			control(patch, participants+"/{identity}", "changeParticipant", a.changeParticipant),
			control(del, participants+"/{identity}", "removeParticipant", a.removeParticipant),
			control(post, one+"/announcements", "announce", a.announce),
			route(post, "join", tenant.Join, a.join),
			route(post, "token", tenant.Token, a.token),
			route(get, "docs", tenant.Docs, a.docsPage),
			route(get, "docs/openapi.json", tenant.Docs, a.docsJSON),
			route(get, "docs/openapi.yaml", tenant.Docs, a.docsYAML),
			route(get, "docs/assets/{file}", tenant.Docs, a.docsAsset),
		},
		Begin: begin, Admit: a.admit, Options: allowMethods, Refuse: refuse, Done: a.metrics.observe,
		UnknownHost: errUnknownHost, UnknownPath: errUnknownPath,
		Statuses: map[fault.Kind]int{
			fault.KindUnauthenticated: http.StatusForbidden, // 401 asks browsers for a login.
			fault.KindGone:            http.StatusNotFound,  // An ended room is as unknown as one that never was.
		},
	}
}

// route is one line of the API. Every call that asks for a change is in the audit log.
func route(method, path string, endpoint tenant.Endpoint, serve func(*httpserver.Request) (httpserver.Answer, error)) httpserver.Route {
	return httpserver.Route{
		Method: method, Path: prefix + path, Endpoint: endpoint, Action: string(endpoint), Changes: method != http.MethodGet, Serve: serve,
	}
}

// control is a line of the extension of that name, with an action of its own for the audit log.
func control(method, path, action string, serve func(*httpserver.Request) (httpserver.Answer, error)) httpserver.Route {
	r := route(method, path, tenant.Control, serve)
	r.Action = action
	return r
}

var (
	errUnknownPath = fault.NotFound("There is no such endpoint here; GET /api/v1/docs shows those that there are")
	errUnknownHost = fault.NotFound("No conference service answers for this host; use the host of its base URL, or ask the operator to add this one to spec.hostnames")
)

// admit checks the API key, and whether the endpoint is enabled.
func (a *api) admit(q *httpserver.Request) error {
	endpoint := q.Route.Endpoint
	if endpoint != tenant.Docs {
		if err := a.authenticate(q); err != nil {
			return err
		}
	}
	if !q.Tenant.Enabled(endpoint) {
		return disabled(endpoint)
	}
	return nil
}

func disabled(e tenant.Endpoint) error {
	return fault.Denied("The endpoint %s is disabled; ask the operator of this service to enable it", e).WithReason("Disabled")
}

var (
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}
)

// begin sets what every answer carries. Keys are in canonical form and values shared, to spare allocations.
func begin(q *httpserver.Request) {
	q.Record.Action = string(unknownEndpoint)
	h := q.Header()
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
	h["Vary"] = varyOrigin
	if q.Tenant != nil {
		allowOrigin(h, q.Tenant, q.HTTP.Header)
	}
}

// errorBody is the body of every error.
type errorBody struct {
	Error string `json:"error"`
}

func refuse(_ *httpserver.Request, e httpserver.Error) httpserver.Answer {
	return httpserver.JSON{Status: e.Status, Value: errorBody{e.Fault.Message}}
}

func ok(value any) httpserver.Answer { return httpserver.JSON{Status: http.StatusOK, Value: value} }
