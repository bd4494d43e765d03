// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"cmp"

	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// CreateCommand asks for a meeting, as POST meeting does.
type CreateCommand struct {
	// Room is the name; empty lets the service make one.
	Room string
	// Duration is empty for the tenant's default.
	Duration v1alpha1.Duration
	// Password is nil when the request names none, and empty for a room without one.
	Password *string
	// MaxParticipants is zero for the tenant's.
	MaxParticipants int
	// Redirect is nil when the request names none, and empty for the home page.
	Redirect *string
}

// Validate checks what a tenant with these settings may be asked for.
func (c CreateCommand) Validate(s meeting.Settings) error {
	return cmp.Or(s.ValidateDuration(c.Duration), validatePassword(c.Password), s.ValidateRedirect(ptr.Deref(c.Redirect, "")))
}

// JoinCommand asks that a room can be joined, as POST join does. It creates the meeting when there is none.
type JoinCommand struct {
	Room string
	// Duration is empty when the join names none. The first that is named before a participant has entered is the meeting's.
	Duration v1alpha1.Duration
	// Password is nil when the join names no password, and empty for a room without a password. If the live room has a password, Password must
	// match it. If it has none and no participant has entered, Password becomes the room's.
	Password *string
	// NeedsPassword refuses a join with a nil Password for a room that has a password, or whose last meeting had one (variant A).
	NeedsPassword bool
}

// Validate checks what a tenant with these settings may be asked for.
func (c JoinCommand) Validate(s meeting.Settings) error {
	return cmp.Or(s.ValidateDuration(c.Duration), validatePassword(c.Password))
}

// validatePassword refuses a hash: it would be stored as what it looks like, and open nothing.
func validatePassword(password *string) error {
	const field = "roomPassword"
	switch given := ptr.Deref(password, ""); {
	case len(given) > credential.MaxRoomPassword:
		return fault.Invalid(field, "%s must be at most %d bytes long", field, credential.MaxRoomPassword)
	case credential.IsPasswordHash(given):
		return fault.Invalid(field, "%s must be the password itself, not a hash of it", field)
	}
	return nil
}

// EndCommand asks for the end of the live meeting of a room.
type EndCommand struct {
	Room string
	// UID, where it is set, is of the meeting that is meant; another one of that room is left alone.
	UID string
	// Redirect nil leaves the meeting's own; empty means the home page.
	Redirect *string
}

// Validate checks what a tenant with these settings may be asked for.
func (c EndCommand) Validate(s meeting.Settings) error {
	return s.ValidateRedirect(ptr.Deref(c.Redirect, ""))
}

// EndResult says how far the end has come when the answer is due.
type EndResult struct {
	// Ended is true when the room is empty. Else participants are still being removed.
	Ended bool
}
