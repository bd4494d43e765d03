// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"time"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
)

// Each act that changes a Meeting writes all of it. actRate is for all sessions of one origin, and writeRate for all presenters of one Meeting
// together: no single link takes all of it.
var (
	actRate   = limit.Every(500*time.Millisecond, 30)
	writeRate = limit.Every(250*time.Millisecond, 60)
)

// actor is a presenter who acts, and is in. Where the media server does not say who is in, the rates alone hold: a meeting can be locked then
// too.
func (h *handler) actor(ctx context.Context, q *httpserver.Request) (participant, error) {
	p, err := h.holderWithin(q, h.acts, actRate, byOrigin)
	switch {
	case err != nil:
		return p, err
	case p.Waits():
		return p, admission.ErrWaiting
	case !p.Presenter:
		return p, fault.Denied("Only presenters may do this")
	}
	if in, err := h.admission.IsIn(ctx, q.Tenant, p.view, p.identity()); err == nil && !in {
		return p, errNotIn
	}
	return p, nil
}
