// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"net/http"
	"time"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
)

// call is one request on its way through the checks to its handler. What later steps need is filled in by earlier ones.
type call struct {
	*api
	w     http.ResponseWriter
	r     *http.Request
	ctx   context.Context
	start time.Time
	id    string

	tenant *tenant.Tenant
	route  *route
	// parameter of the path, decoded once.
	parameter string
	// key is the fingerprint of the API key that was presented.
	key string
	// room is what the call is about once its name is known to be valid: for the audit log.
	room string

	// status is zero until the answer has begun.
	status int
	failed error
}

// handle runs the checks in the order of the contract, then the handler.
func (c *call) handle() (answer, error) {
	var ok bool
	if c.tenant, ok = c.tenants.ForHost(c.r.Host); !ok {
		return nil, errUnknownHost
	}
	allowOrigin(c.w.Header(), c.tenant, c.r.Header)
	var err error
	if c.route, err = c.find(); err != nil {
		return nil, err
	}
	if c.r.Method == http.MethodOptions {
		return c.options(), nil
	}
	if c.route.endpoint != tenant.Docs {
		if err := c.authenticate(); err != nil {
			return nil, err
		}
	}
	if !c.tenant.Enabled(c.route.endpoint) {
		return nil, disabled(c.route.endpoint)
	}
	ctx, cancel := context.WithTimeout(c.r.Context(), c.timeout)
	defer cancel()
	c.ctx = ctx
	return c.route.handler(c)
}

var errUnknownHost = fault.NotFound("No conference service answers for this host; use the host of its base URL, or ask the operator to add this one to spec.hostnames")

func disabled(e tenant.Endpoint) error {
	return fault.Denied("The endpoint %s is disabled; ask the operator of this service to enable it", e).WithReason("Disabled")
}
