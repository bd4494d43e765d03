// SPDX-License-Identifier: Apache-2.0

package gateway

import (
	"net/http"
	"strings"

	"convene.dev/convene/internal/tenant"
)

// Tenants finds the Tenant that answers a host.
type Tenants interface {
	ForHost(host string) (*tenant.Tenant, bool)
}

// Route sends requests under a tenant's /api to api, and all others to pages.
func Route(tenants Tenants, api, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := ""
		if t, ok := tenants.ForHost(r.Host); ok {
			base = t.BasePath
		}
		if rest, ok := strings.CutPrefix(r.URL.Path, base+"/api"); ok && (rest == "" || rest[0] == '/') {
			api.ServeHTTP(w, r)
			return
		}
		pages.ServeHTTP(w, r)
	})
}
