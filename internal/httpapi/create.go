// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"fmt"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// createBody is the answer of POST meeting.
type createBody struct {
	Meeting string `json:"meeting"`
}

// create is POST meeting.
func (a *api) create(q *httpserver.Request) (httpserver.Answer, error) {
	command, err := readCreate(q)
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

func readCreate(q *httpserver.Request) (conference.CreateCommand, error) {
	f, err := readFields(q)
	if err != nil {
		return conference.CreateCommand{}, err
	}
	rules := q.Tenant.Settings
	command := conference.CreateCommand{
		Room:            readNewRoom(f),
		Duration:        readDuration(q.Tenant, f),
		Password:        readRoomPassword(f),
		MaxParticipants: f.count("maxParticipants", rules.MaxParticipants),
	}
	if redirect, named := f.text("redirect"); named {
		f.check(rules.ValidateRedirect(redirect))
		command.Redirect = &redirect
	}
	return command, f.err
}

// readNewRoom reads the name of a room. Without one, it is empty: the room then gets a name that cannot be guessed.
func readNewRoom(f *fields) string {
	room, named := f.text("room")
	if named {
		f.check(meeting.ValidateAskedRoom(room))
	}
	return room
}

// readDuration reads a length that the tenant allows, and nothing for none.
func readDuration(t *tenant.Tenant, f *fields) v1alpha1.Duration {
	text := f.textUnlessNone("duration")
	if text == "" {
		return ""
	}
	length, err := meeting.ParseClock(text)
	if err == nil {
		_, err = t.Settings.Limit(length)
	}
	f.check(err)
	return length.Duration()
}

// readRoomPassword reads the password of a room: nil where the request names none, and empty for a room without one.
func readRoomPassword(f *fields) *string {
	if f.get("roomPassword") == nil {
		return nil
	}
	password := f.textUnlessNone("roomPassword")
	switch {
	case len(password) > credential.MaxRoomPassword:
		f.fail("roomPassword", fmt.Sprintf("must be at most %d bytes long", credential.MaxRoomPassword))
	case credential.IsPasswordHash(password): // It would be stored as what it looks like, and open nothing.
		f.fail("roomPassword", "must be the password itself, not a hash of it")
	}
	return &password
}
