// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"slices"
	"strings"

	"convene.dev/convene/internal/hostname"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/tenant"
)

// scriptHeader is of the scripts that pages of other sites load. Their names stay the same in every version.
var scriptHeader = http.Header{
	"Cache-Control":                {"public, max-age=300"},
	"Cross-Origin-Resource-Policy": {"cross-origin"},
}

// serveScript serves a script for pages of other sites, where the tenant lets any embed its rooms. Pages written for other
// services name them in capitals too.
func (h *handler) serveScript(q *httpserver.Request) (httpserver.Answer, error) {
	name := strings.ToLower(q.HTTP.PathValue("file"))
	if len(q.Tenant.Web.EmbedOrigins) == 0 || h.scripts[name] == nil {
		return plainPage(http.StatusNotFound, "There is no such script; ask the operator to list the site's origin in spec.web.embedOrigins"), nil
	}
	q.Header().Add("Vary", "Origin")
	if origin := q.HTTP.Header.Get("Origin"); mayEmbed(q.Tenant, origin) { // A module is loaded across sites only with leave.
		q.Header().Set("Access-Control-Allow-Origin", origin)
	}
	answer, _, err := h.scripts.Answer(q, name, scriptHeader)
	return answer, err
}

// mayEmbed reports whether pages of an origin may show the tenant's rooms, by the rules of frame-ancestors: an exact origin, or
// https://*.example.com for every host below example.com.
func mayEmbed(t *tenant.Tenant, origin string) bool {
	origin = hostname.Origin(origin)
	return slices.ContainsFunc(t.Web.EmbedOrigins, func(allowed string) bool { return hostname.Matches(allowed, origin) })
}
