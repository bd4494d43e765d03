// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

// signallingPaths lead to LiveKit's signalling. Pages that were opened before an update use the second one, the name of before.
var signallingPaths = []string{"/media-server", "/engine"}

// pages lists everything under a tenant's base path but for the API. Errors are JSON for scripts and pages for people.
func (h *handler) pages() *httpserver.Surface {
	const get, post = http.MethodGet, http.MethodPost
	routes := []httpserver.Route{
		pageRoute("/{$}", h.serveHomePage),
		pageRoute("/join", h.serveJoinPage),
		pageRoute("/join/{$}", h.serveJoinPage),
		pageRoute("/join/{room}", h.serveRoomPage),
		pageRoute("/assets/{file...}", h.serveAsset),
		pageRoute("/js/{file}", h.serveScript),
		pageRoute("/robots.txt", h.serveRobots),
		pageRoute("/{room}", h.redirectToRoom),
		pageRoute("/whoAreYou/{room}", h.redirectFromWaiting),
		{Method: post, Path: "/session", Action: "enter", Changes: true, Serve: h.openSession},
		{Method: get, Path: "/session", Action: "state", Serve: h.serveState},
		{Method: post, Path: "/session/test", Action: "testConnection", Serve: h.openTest},
		{Method: post, Path: "/session/message", Action: "message", Serve: h.message},
		{Method: post, Path: "/session/chat", Action: "chat", Serve: h.chat},
		{Method: post, Path: "/session/history", Action: "askForHistory", Serve: h.askForHistory},
		{Method: post, Path: "/session/history/messages", Action: "passHistoryOn", Serve: h.passHistoryOn},
		{Method: post, Path: "/session/hand", Action: "hand", Serve: h.hand},
		{Method: post, Path: "/session/reaction", Action: "react", Serve: h.react},
		{Method: post, Path: "/session/act", Action: "act", Changes: true, Serve: h.act},
	}
	for _, path := range signallingPaths {
		routes = append(routes,
			httpserver.Route{Method: get, Path: path, Serve: h.reachable},
			httpserver.Route{Method: get, Path: path + "/{path...}", Action: "connect", Serve: h.signal})
	}
	return &httpserver.Surface{
		Name: "Page call", Prefix: "/", Routes: routes, Canonical: true, Begin: begin, Refuse: h.refuse,
		UnknownPath: errNoSuchPage,
		UnknownHost: fault.NotFound("Nothing is served at this address; check the link, or ask the operator to add this host"),
	}
}

// pageRoute is a route whose answer people see in the browser.
func pageRoute(path string, serve func(*httpserver.Request) (httpserver.Answer, error)) httpserver.Route {
	return httpserver.Route{Method: http.MethodGet, Path: path, Page: true, Serve: serve}
}

// begin sets what every answer has unless it says otherwise.
func begin(q *httpserver.Request) {
	h := q.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
}

// reserved names are no room at the top level: they, and what browsers ask for by themselves, would be taken for
// room links. Such rooms are reached under join/.
var reserved = map[string]bool{"api": true, "assets": true, "engine": true, "join": true, "media-server": true, "session": true, "favicon.ico": true, "robots.txt": true}
