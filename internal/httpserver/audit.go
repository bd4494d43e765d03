// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"convene.dev/convene/internal/fault"
)

// finish runs last, panic or not: it makes a panic an error, and logs the request where it matters.
func (rt *Router) finish(q *Request) {
	if p := recover(); p != nil {
		q.survive(p)
	}
	if q.surface.Done != nil {
		q.surface.Done(q)
	}
	rt.audit(q)
	if q.aborted {
		panic(http.ErrAbortHandler)
	}
}

// survive answers for a handler that panicked. Half an answer cannot be taken back: the connection is cut off, so that the
// client sees that it is half.
func (q *Request) survive(p any) {
	err, isError := p.(error)
	q.aborted = q.status != 0 || isError && errors.Is(err, http.ErrAbortHandler)
	failed := fault.As(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	if !q.aborted {
		q.refuse(failed).write(q)
	}
	q.Failed, q.status = failed, http.StatusInternalServerError
}

// audit logs a request that changed something or was refused: one line, and never a secret.
func (rt *Router) audit(q *Request) {
	if q.Failed == nil && !q.Record.Changes || !rt.Log.Enabled() || !rt.isWorthALine(q) {
		return
	}
	name := q.surface.Name
	if q.Failed == nil {
		rt.Log.Info(name, append(q.line(), "result", "done")...)
		return
	}
	f := fault.As(q.Failed)
	line := append(q.line(), "result", f.Message)
	switch {
	// A client that has gone away is no error.
	case q.status == http.StatusInternalServerError && q.HTTP.Context().Err() == nil:
		rt.Log.Error(f.Cause, name+" failed", line...)
	case (q.status > http.StatusInternalServerError || f.Kind == fault.KindTooMany) && f.Cause != nil:
		cause := f.Cause.Error()
		rt.Log.Info(name+" refused", append(line, "cause", strings.ToValidUTF8(cause[:min(len(cause), maxCause)], ""))...)
	default:
		// The cause of what a client did wrong may repeat what it sent.
		rt.Log.Info(name+" refused", line...)
	}
}

// maxCause bounds the text of a cause, in bytes: others than we may have written it.
const maxCause = 500

// isWorthALine reports whether a request is logged that changed something or was refused.
func (rt *Router) isWorthALine(q *Request) bool {
	switch {
	case q.Record.Key != "":
		return rt.keyed.Allow(q.Tenant.Namespace)
	case q.Failed == nil:
		return true
	case q.Route != nil && q.Route.Page && q.status < http.StatusInternalServerError:
		return false
	}
	return rt.refusals.Allow(q.From())
}

// line is what is known of a request.
func (q *Request) line() []any {
	r := q.Record
	name := ""
	if q.Tenant != nil {
		name = q.Tenant.String()
	}
	line := []any{"time", q.Start.UTC().Format(time.RFC3339Nano), "tenant", name, "action", r.Action, "room", r.Room, "status", q.status, "requestID", q.ID}
	for _, known := range []struct{ key, value string }{
		{"key", r.Key}, {"user", r.User}, {"identity", string(r.Identity)}, {"by", r.By}, {"to", string(r.To)},
	} {
		if known.value != "" {
			line = append(line, known.key, known.value)
		}
	}
	return line
}
