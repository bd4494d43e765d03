// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"

	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
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
	p, err := h.participant(q)
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
	if request.Action == "end" {
		q.Record.Action = request.Action
		err = h.endForAll(ctx, q, p, request)
	} else {
		err = h.actOn(ctx, q, p, request)
	}
	return httpserver.NoContent, err
}

func (h *handler) endForAll(ctx context.Context, q *httpserver.Request, p participant, r actRequest) error {
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
func (h *handler) actOn(ctx context.Context, q *httpserver.Request, p participant, r actRequest) error {
	actions := map[string]func(context.Context, *tenant.Tenant, meeting.View, engine.Identity) error{
		"mute": h.admission.Mute, "letSpeak": h.admission.LetSpeak, "lowerHand": h.admission.LowerHand, "remove": h.admission.Remove,
	}
	do, known := actions[r.Action]
	if !known {
		return fault.Invalid("action", "action must be mute, letSpeak, remove, lowerHand or end")
	}
	q.Record.Action = r.Action
	switch {
	case r.Identity == "":
		return fault.Invalid("identity", "identity is required; name the participant")
	case r.Action == "remove" && r.Identity == p.identity():
		return fault.Invalid("identity", "You cannot remove yourself; leave instead")
	}
	err := do(ctx, q.Tenant, p.view, r.Identity)
	if err == nil {
		q.Record.To = r.Identity // Only now is it known to be a participant's.
	}
	return err
}
