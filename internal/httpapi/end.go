// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

// endRequest is the body of DELETE meeting/{room}.
type endRequest struct {
	// Redirect is empty for the home page, and nil for the meeting's own.
	Redirect *string `json:"redirect"`
}

// endBody is the answer of DELETE meeting/{room}.
type endBody struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	Room    string `json:"room"`
}

// noMeetingBody is the error of a room without a live meeting, for clients that read success first.
type noMeetingBody struct {
	Success bool   `json:"success"`
	Error   string `json:"error"`
}

// end is DELETE meeting/{room}.
func (a *api) end(q *httpserver.Request) (httpserver.Answer, error) {
	room, err := roomOf(q)
	if err != nil {
		return nil, err
	}
	var asked endRequest
	if err := requests.Decode(q, &asked); err != nil {
		return nil, err
	}
	ctx, cancel := a.within(q)
	defer cancel()
	result, err := a.meetings.End(ctx, q.Tenant, conference.EndCommand{Room: room, Redirect: asked.Redirect})
	switch {
	case fault.Is(err, fault.KindNotFound) || fault.Is(err, fault.KindGone):
		q.Failed = err
		return httpserver.JSON{Status: http.StatusNotFound, Value: noMeetingBody{Error: fault.As(err).Message}}, nil
	case err != nil:
		return nil, err
	case !result.Ended:
		return httpserver.JSON{Status: http.StatusAccepted, Value: endBody{Success: true, Message: "Meeting ending", Room: room}}, nil
	}
	return ok(endBody{Success: true, Message: "Meeting ended", Room: room}), nil
}
