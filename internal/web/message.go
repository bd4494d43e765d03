// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/http"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
)

// renewedAnswer is a session in place of the one before.
type renewedAnswer struct {
	Session string `json:"session"`
}

// messageRequest is the body of POST session/message.
type messageRequest struct {
	Text string `json:"text"`
}

// message takes what one who waits writes to the presenters. The session keeps it over a reload.
func (h *handler) message(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	p, err := h.holder(q)
	if err != nil {
		return nil, err
	}
	if !p.Waits() {
		return nil, errNotWaiting
	}
	var request messageRequest
	if err := body.DecodeStrictly(q, maxEntryBody, &request); err != nil {
		return nil, err
	}
	if err := admission.ValidateMessage(request.Text); err != nil {
		return nil, err
	}
	if err := h.admission.Write(ctx, q.Tenant, p.view, p.shown, request.Text); err != nil {
		return nil, err
	}
	p.shown.Message = request.Text
	now := h.ClusterTime()
	session, err := q.Tenant.Signer.IssueSession(p.shown, q.Tenant.Users, p.Expires.Sub(now), now)
	if err != nil {
		return nil, err
	}
	return httpserver.JSON{Status: http.StatusOK, Value: renewedAnswer{session}}, nil
}
