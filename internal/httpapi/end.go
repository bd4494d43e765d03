// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// end is DELETE meeting/{room}.
func (c *call) end() (answer, error) {
	command, err := c.endCommand()
	if err != nil {
		return nil, err
	}
	c.room = command.Room
	ctx, cancel := c.within()
	defer cancel()
	result, err := c.api.meetings.End(ctx, c.tenant, command)
	switch {
	case fault.Is(err, fault.KindNotFound) || fault.Is(err, fault.KindGone):
		return noMeeting{c.refuse(err)}, nil
	case err != nil:
		return nil, err
	}
	return endAnswer{room: command.Room, ended: result.Ended}, nil
}

func (c *call) endCommand() (meeting.EndCommand, error) {
	command := meeting.EndCommand{Room: c.parameter}
	if err := meeting.ValidateRoom(command.Room); err != nil {
		return command, err
	}
	body, err := c.object()
	if err != nil {
		return command, err
	}
	f := &fields{object: body}
	if redirect, named := f.text("redirect"); named {
		f.check(c.tenant.Settings.ValidateRedirect(redirect))
		command.Redirect = &redirect
	}
	return command, f.err
}

// endAnswer says whether the room is empty.
type endAnswer struct {
	success
	room  string
	ended bool
}

func (a endAnswer) head(h http.Header) int {
	status := a.success.head(h)
	if !a.ended {
		status = http.StatusAccepted
	}
	return status
}

func (a endAnswer) body(e *encoder) {
	message := "Meeting ended"
	if !a.ended {
		message = "Meeting ending"
	}
	e.raw(`{"success":true,"message":`)
	e.string(message)
	e.raw(`,"room":`)
	e.string(a.room)
	e.raw(`}`)
}

// noMeeting is the error of a room without a live meeting, for clients that read success first.
type noMeeting struct{ errorAnswer }

func (a noMeeting) body(e *encoder) {
	e.raw(`{"success":false,"error":`)
	e.string(a.message)
	e.raw(`}`)
}
