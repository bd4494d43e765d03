// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/google/uuid"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/meeting"
)

// create is POST meeting.
func (c *call) create() (answer, error) {
	command, err := c.createCommand()
	if err != nil {
		return nil, err
	}
	c.room = command.Room
	ctx, cancel := c.within()
	defer cancel()
	view, err := c.api.meetings.Create(ctx, c.tenant, command)
	if err != nil {
		return nil, err
	}
	return single{name: "meeting", value: c.tenant.MeetingURL(view.Room)}, nil
}

func (c *call) createCommand() (meeting.CreateCommand, error) {
	body, err := c.object()
	if err != nil {
		return meeting.CreateCommand{}, err
	}
	f := &fields{object: body}
	rules := c.tenant.Settings
	command := meeting.CreateCommand{
		Room:            c.roomOrNew(f),
		Duration:        c.duration(f),
		MaxParticipants: f.count("maxParticipants", rules.MaxParticipants),
	}
	if f.get("roomPassword") != nil {
		password := roomPassword(f)
		command.Password = &password
	}
	if redirect, named := f.text("redirect"); named {
		f.check(rules.ValidateRedirect(redirect))
		command.Redirect = &redirect
	}
	return command, f.err
}

// roomOrNew reads the room's name, and makes one that cannot be guessed where there is none.
func (c *call) roomOrNew(f *fields) string {
	room, named := f.text("room")
	if !named {
		return uuid.NewString()
	}
	f.check(meeting.ValidateRoom(room))
	return room
}

// duration reads a length that the tenant allows, as it was asked for, and nothing for none.
func (c *call) duration(f *fields) v1alpha1.Duration {
	text, named := f.text("duration")
	if !named {
		return ""
	}
	asked := v1alpha1.Duration(text)
	if _, err := meeting.ParseLength(asked); err != nil {
		f.check(err)
		return ""
	}
	_, err := c.tenant.Settings.Length(asked)
	f.check(err)
	return asked
}

// maxRoomPassword in bytes, as the credentials have it.
const maxRoomPassword = 1024

func roomPassword(f *fields) string {
	password := f.textUnlessNone("roomPassword")
	switch {
	case len(password) > maxRoomPassword:
		f.fail("roomPassword", "must be at most 1024 bytes long")
	case credential.IsPasswordHash(password): // It would be stored as what it looks like, and open nothing.
		f.fail("roomPassword", "must be the password itself, not a hash of it")
	}
	return password
}
