// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// View is a meeting as the API and the pages see it.
type View struct {
	// UID and Lineage bind tickets and sessions; links of one lineage open every meeting of it.
	UID, Lineage string
	// PasswordOf tells passwords of a room apart: tickets and sessions that name it need no password.
	PasswordOf string
	Room       string
	URL        string
	Length     Length
	// Started is when the first participant joined; zero before.
	Started time.Time
	Created time.Time
	// Expires is when the length will be over; zero when it is without limit.
	Expires time.Time
	// Participants is the exact count, Peers are the first 100.
	Participants    int
	Peers           []v1alpha1.Participant
	MaxParticipants int
	// HasPassword says that the room asks for one.
	HasPassword bool
	// Pending is why the meeting cannot be entered, or empty.
	Pending string
	// Ended says that the meeting ends or has ended, and Redirect where its participants go.
	Ended    bool
	Redirect string
	// EngineRoom is the engine's name of the room.
	EngineRoom engine.RoomName
	// Opened says that the room may exist in the engine.
	Opened bool
	// Removed are identities that a presenter removed.
	Removed []engine.Identity
	// Muted are identities that a presenter muted.
	Muted []engine.Identity
}

// Begin is when the meeting began for listings: the first arrival, and before that its creation.
func (v View) Begin() time.Time {
	if v.Started.IsZero() {
		return v.Created
	}
	return v.Started
}

// Totals are what GET stats counts.
type Totals struct {
	Rooms int
	Users int
}

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

// JoinCommand asks that a room can be joined, as POST join does. It creates the meeting when there is none.
type JoinCommand struct {
	Room string
	// Duration is empty when the join names none. The first that is named before a participant has entered is the meeting's.
	Duration v1alpha1.Duration
	// Password is nil where it is not read (variant B). Else it must match the password of a room that has one; for
	// a room without one that no participant has entered, a password that is not empty becomes the room's.
	Password *string
}

// EndCommand asks for the end of the live meeting of a room.
type EndCommand struct {
	Room string
	// UID, where it is set, is of the meeting that is meant; another one of that room is left alone.
	UID string
	// Redirect nil leaves the meeting's own; empty means the home page.
	Redirect *string
}

// EndResult says how far the end has come when the answer is due.
type EndResult struct {
	// Ended is true when the room is empty. Else participants are still being removed.
	Ended bool
}
