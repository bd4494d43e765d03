// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"

	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

// actRequest is what a presenter wants done.
type actRequest struct {
	Action   string          `json:"action"`
	Identity engine.Identity `json:"identity"`
	// Redirect is nil to leave the meeting's own.
	Redirect *string `json:"redirect"`
}

func (h *handler) act(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	p, err := h.peer(q)
	if err != nil {
		return nil, err
	}
	if !p.Presenter {
		return nil, fault.Denied("Only presenters may do this")
	}
	var request actRequest
	if err := decode(q, httpserver.MaxBody, &request); err != nil {
		return nil, err
	}
	switch request.Action {
	case "end":
		q.Record.Action = request.Action
		err = h.endForAll(ctx, q, p, request)
	case "mute", "letSpeak", "remove", "lowerHand":
		q.Record.Action = request.Action
		err = h.actOn(ctx, q, p, request)
	default:
		err = fault.Invalid("action", "action must be mute, letSpeak, remove, lowerHand or end")
	}
	return httpserver.NoContent, err
}

func (h *handler) endForAll(ctx context.Context, q *httpserver.Request, p peer, r actRequest) error {
	if r.Redirect != nil {
		if err := q.Tenant.Settings.ValidateRedirect(*r.Redirect); err != nil {
			return err
		}
	}
	_, err := h.Meetings.End(ctx, q.Tenant, conference.EndCommand{Room: p.view.Room, UID: p.view.UID, Redirect: r.Redirect})
	if fault.Is(err, fault.KindNotFound) {
		return nil // another request was faster
	}
	return err
}

// actOn does something to one participant.
func (h *handler) actOn(ctx context.Context, q *httpserver.Request, p peer, r actRequest) error {
	var action engine.Action
	switch r.Action {
	case "mute":
		action = engine.Mute{Who: r.Identity}
	case "letSpeak":
		action = engine.LetSpeak{Who: r.Identity}
	case "lowerHand":
		action = engine.Hand{Who: r.Identity}
	case "remove":
		action = engine.Remove{Who: r.Identity}
	}
	if r.Identity == "" {
		return fault.Invalid("identity", "identity is required; name the participant")
	}
	in, err := h.isIn(ctx, q, p.view.EngineRoom, r.Identity)
	if err != nil {
		return err
	}
	if !in {
		return errLeft
	}
	q.Record.To = r.Identity // Only now is it known to be one.
	// First the memory, then the act: the other way round they could come back between the two.
	if err := h.remember(ctx, q, p, r); err != nil {
		return err
	}
	err = q.Tenant.Media.Engine.Act(ctx, p.view.EngineRoom, action)
	if fault.Is(err, fault.KindNotFound) {
		return errLeft.Because(err)
	}
	return ofEngine(err)
}

// remember writes down what has to outlast the connection of the one it is done to.
func (h *handler) remember(ctx context.Context, q *httpserver.Request, p peer, r actRequest) error {
	switch r.Action {
	case "remove":
		if r.Identity == p.identity() {
			return fault.Invalid("identity", "You cannot remove yourself; leave instead")
		}
		return h.Meetings.MarkRemoved(ctx, q.Tenant, p.view.UID, r.Identity)
	case "mute":
		return h.Meetings.MarkMuted(ctx, q.Tenant, p.view.UID, r.Identity)
	case "letSpeak":
		// The other way round the controllers would mute the participant once more.
		return h.Meetings.MarkUnmuted(ctx, q.Tenant, p.view.UID, r.Identity)
	}
	return nil
}

var errLeft = fault.NotFound("That participant has left the meeting already")
