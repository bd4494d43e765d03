// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"net/http"
	"strings"

	"convene.dev/convene/internal/hostname"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/tenant"
)

var varyOrigin = []string{"Origin"}

// allowOrigin lets scripts of the tenant's CORS origins read the answer, errors too. Credentials are never allowed: the
// secret is a header that the script sets itself.
func allowOrigin(to http.Header, t *tenant.Tenant, from http.Header) {
	origin := from.Get("Origin")
	if origin == "" {
		return
	}
	normal := hostname.Origin(origin)
	for _, allowed := range t.Web.CORSOrigins {
		if allowed == "*" {
			origin = allowed
		} else if allowed != normal {
			continue
		}
		to.Set("Access-Control-Allow-Origin", origin)
		to.Set("Access-Control-Expose-Headers", "Retry-After, X-Request-Id")
		return
	}
}

// preflightSeconds is how long browsers may remember an answer to a preflight: a change of the origins should not wait
// long for them.
const preflightSeconds = "60"

// usualHeaders are listed when the request asks for no headers.
const usualHeaders = "authorization, content-type, x-request-id"

// allowMethods answers OPTIONS, a preflight or not. It needs no secret, because browsers send none with a preflight. An allowed
// origin gets every header that it asks for: clients and tracing add headers of their own, and the API ignores them.
func allowMethods(q *httpserver.Request, allow string) {
	h := q.Header()
	h.Set("Allow", allow)
	if h.Get("Access-Control-Allow-Origin") != "" {
		h.Set("Access-Control-Allow-Methods", allow)
		h.Set("Access-Control-Allow-Headers", cmp.Or(strings.Join(q.HTTP.Header["Access-Control-Request-Headers"], ", "), usualHeaders))
		h.Add("Vary", "Access-Control-Request-Headers")
		h.Set("Access-Control-Max-Age", preflightSeconds)
	}
}
