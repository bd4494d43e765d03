// SPDX-License-Identifier: Apache-2.0

package web

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"convene.dev/convene/internal/engine"
)

// deed is what a visit is about, as far as it is known, for the audit log: nothing of it is secret, and nothing is a
// person's words.
type deed struct {
	// action is what was asked for; empty for pages and files.
	action string
	// by is what was presented to come in.
	by   way
	room string
	user string
	// who does it, and to whom.
	who, whom engine.Identity
}

// changes are the actions that are audited when they go well. What people say and raised hands are so only when they are
// refused.
var changes = map[string]bool{"enter": true, "end": true, "mute": true, "letSpeak": true, "remove": true, "lowerHand": true}

// audit writes one line about a call that changed something or was refused.
func (h *handler) audit(v *visit, r *refusal) {
	if r == nil && !changes[v.deed.action] || !h.Log.Enabled() {
		return
	}
	line := []any{
		"time", v.start.UTC().Format(time.RFC3339Nano), "tenant", v.t.String(), "action", v.deed.action,
		"room", v.deed.room, "user", v.deed.user, "identity", string(v.deed.who), "requestID", v.id,
	}
	if v.deed.by != "" {
		line = append(line, "by", string(v.deed.by))
	}
	if v.deed.whom != "" {
		line = append(line, "to", string(v.deed.whom))
	}
	if r == nil {
		h.Log.Info("Page call", append(line, "result", "done")...)
		return
	}
	if !h.refusals.Allow(h.TrustedProxies.Of(v.r)) {
		return
	}
	line = append(line, "status", r.status, "result", r.fault.Message)
	switch cause := r.fault.Cause; {
	case r.status == http.StatusInternalServerError:
		h.Log.Error(cause, "Page call failed", line...)
	case r.status > http.StatusInternalServerError:
		h.Log.Info("Page call refused", append(line, "cause", cause)...)
	default:
		// The cause of what a visitor did wrong may repeat what they sent.
		h.Log.Info("Page call refused", line...)
	}
}

// survive logs a panic, and cuts the connection, so that the client sees that there is no answer.
func (h *handler) survive(v *visit) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		h.Log.Error(fmt.Errorf("panic: %v\n%s", p, debug.Stack()), "Page call failed", "path", v.r.URL.Path, "requestID", v.id)
	}
	panic(http.ErrAbortHandler)
}
