// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
)

// handRequest is the body of POST session/hand.
type handRequest struct {
	Raised *bool `json:"raised"`
}

func (h *handler) hand(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	p, err := h.participant(q)
	if err != nil {
		return nil, err
	}
	var request handRequest
	if err := body.DecodeStrictly(q, httpserver.MaxBody, &request); err != nil {
		return nil, err
	}
	switch {
	case p.Hide:
		return nil, fault.Denied("You watch this meeting unseen, so you cannot raise a hand in it")
	case request.Raised == nil:
		return nil, fault.Invalid("raised", "raised is required; send true or false")
	}
	err = p.media.Engine.Act(ctx, p.view.EngineRoom, engine.Hand{Who: p.identity(), Raised: *request.Raised})
	if fault.Is(err, fault.KindNotFound) {
		return nil, errNotIn.Because(err)
	}
	if err != nil {
		return nil, admission.OfEngine(err)
	}
	return httpserver.NoContent, nil
}
