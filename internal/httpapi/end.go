// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
)

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
	command, err := readEnd(q)
	if err != nil {
		return nil, err
	}
	q.Record.Room = command.Room
	ctx, cancel := a.within(q)
	defer cancel()
	result, err := a.meetings.End(ctx, q.Tenant, command)
	switch {
	case fault.Is(err, fault.KindNotFound) || fault.Is(err, fault.KindGone):
		q.Failed = err
		return httpserver.JSON{Status: http.StatusNotFound, Value: noMeetingBody{Error: fault.As(err).Message}}, nil
	case err != nil:
		return nil, err
	case !result.Ended:
		return httpserver.JSON{Status: http.StatusAccepted, Value: endBody{Success: true, Message: "Meeting ending", Room: command.Room}}, nil
	}
	return ok(endBody{Success: true, Message: "Meeting ended", Room: command.Room}), nil
}

func readEnd(q *httpserver.Request) (conference.EndCommand, error) {
	command := conference.EndCommand{Room: q.HTTP.PathValue("room")}
	if err := meeting.ValidateAskedRoom(command.Room); err != nil {
		return command, err
	}
	f, err := readFields(q)
	if err != nil {
		return command, err
	}
	if redirect, named := f.text("redirect"); named {
		f.check(q.Tenant.Settings.ValidateRedirect(redirect))
		command.Redirect = &redirect
	}
	return command, f.err
}
