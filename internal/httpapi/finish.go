// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
)

// finish runs last, panic or not: it makes a panic an error, counts the call, and logs it where it matters.
func (c *call) finish() {
	if p := recover(); p != nil {
		c.failed = fault.As(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		if err, ok := p.(error); c.begun || ok && errors.Is(err, http.ErrAbortHandler) {
			// Half an answer cannot be taken back: cut the connection, so that the client sees that it is half.
			c.status = http.StatusInternalServerError
			c.account()
			panic(http.ErrAbortHandler)
		}
		c.send(c.refuse(c.failed))
	}
	c.account()
}

func (c *call) account() {
	endpoint := unknownEndpoint
	if c.route != nil {
		endpoint = c.route.endpoint
	}
	c.metrics.observe(endpoint, c.status, c.now().Sub(c.start))
	c.audit(endpoint)
}

// audit logs a call that asked for a change or was refused: one line, and never a secret.
func (c *call) audit(action tenant.Endpoint) {
	refused := c.status >= http.StatusBadRequest
	asksChange := c.r.Method == http.MethodPost || c.r.Method == http.MethodDelete
	if !refused && !asksChange || !c.log.Enabled() {
		return
	}
	// What a caller with a key is refused is always logged: the key says who it is.
	if refused && c.key == "" && !c.refusals.Allow(c.proxies.Of(c.r)) {
		return
	}
	name := ""
	if c.tenant != nil {
		name = c.tenant.String()
	}
	line := []any{
		"time", c.start.UTC().Format(time.RFC3339Nano), "tenant", name, "key", c.key, "action", action,
		"room", c.room, "status", c.status, "requestID", c.id,
	}
	if c.failed == nil {
		c.log.Info("API call", append(line, "result", "done")...)
		return
	}
	f := fault.As(c.failed)
	line = append(line, "result", f.Message)
	// The cause of an error of the client's may repeat what the client sent; one who has gone away is no error at all.
	if c.status >= http.StatusInternalServerError && f.Cause != nil && c.r.Context().Err() == nil {
		c.log.Error(f.Cause, "API call failed", line...)
		return
	}
	c.log.Info("API call refused", line...)
}
