// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
	"convene.dev/convene/internal/meeting"
)

// createRequest is the body of POST meeting.
type createRequest struct {
	// Room is empty for a room whose name the service makes.
	Room     string            `json:"room"`
	Duration v1alpha1.Duration `json:"duration"`
	// RoomPassword is empty for a room without a password, and nil where the request names none.
	RoomPassword    *body.OrNone              `json:"roomPassword"`
	MaxParticipants body.Optional[body.Count] `json:"maxParticipants"`
	// Redirect is empty for the home page.
	Redirect *string `json:"redirect"`
}

// createBody is the answer of POST meeting.
type createBody struct {
	Meeting string `json:"meeting"`
}

// create is POST meeting.
func (a *api) create(q *httpserver.Request) (httpserver.Answer, error) {
	var asked createRequest
	if err := requests.Decode(q, &asked); err != nil {
		return nil, err
	}
	command, err := asked.command(q.Tenant.Settings)
	if err != nil {
		return nil, err
	}
	q.Record.Room = command.Room
	ctx, cancel := a.within(q)
	defer cancel()
	view, err := a.meetings.Create(ctx, q.Tenant, command)
	if err != nil {
		return nil, err
	}
	q.Record.Room = view.Room
	return ok(createBody{q.Tenant.MeetingURL(view.Room)}), nil
}

// command returns the command of a request. It checks the room and the limit of participants.
func (r *createRequest) command(rules meeting.Settings) (c conference.CreateCommand, err error) {
	if r.Room != "" {
		err = meeting.ValidateAskedRoom(r.Room)
	}
	return conference.CreateCommand{
		Room: r.Room, Duration: r.Duration, Password: (*string)(r.RoomPassword), MaxParticipants: int(r.MaxParticipants.Value), Redirect: r.Redirect,
	}, cmp.Or(err, validateCount("maxParticipants", r.MaxParticipants, rules.MaxParticipants))
}

func validateCount(name string, n body.Optional[body.Count], greatest int) error {
	if given := n.Pointer(); given != nil && (*given < 1 || int(*given) > greatest) {
		return body.Invalid(name, "must be a whole number from 1 to %d", greatest)
	}
	return nil
}
