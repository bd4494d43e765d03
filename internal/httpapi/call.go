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

	status int
	// begun says that a part of the answer is on its way.
	begun  bool
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
		c.allowMethods()
		return empty{}, nil
	}
	if c.route.endpoint != tenant.Docs {
		if err := c.authenticate(); err != nil {
			return nil, err
		}
	}
	if !c.tenant.Enabled(c.route.endpoint) {
		return nil, disabled(c.route.endpoint)
	}
	return c.route.handler(c)
}

// within bounds what is asked of Meetings.
func (c *call) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.r.Context(), c.timeout)
}

var errUnknownHost = fault.NotFound("No conference service answers for this host; use the host of its base URL, or ask the operator to add this one to spec.hostnames")

func disabled(e tenant.Endpoint) error {
	return fault.Denied("The endpoint %s is disabled; ask the operator of this service to enable it", e).WithReason("Disabled")
}
