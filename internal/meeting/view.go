// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// View is a meeting as the API and the pages see it.
type View struct {
	// UID and Lineage bind tickets and sessions; links of one lineage open every meeting of it.
	UID, Lineage string
	Room         string
	URL          string
	Length       Length
	// Started is when the first participant joined; zero before.
	Started time.Time
	Created time.Time
	// Expires is when the length will be over; zero when it is without limit.
	Expires time.Time
	// Peers are the first 100 participants.
	Peers           []v1alpha1.Participant
	MaxParticipants int
	// HasPassword says that the room asks for one.
	HasPassword bool
	// Pending is why the meeting cannot be entered, or empty.
	Pending string
	// Ended says that the meeting ends or has ended, and Redirect where its participants go.
	Ended    bool
	Redirect string
	// MediaServer is where the meeting is placed; empty where that is not known yet.
	MediaServer types.NamespacedName
	// EngineRoom is the engine's name of the room.
	EngineRoom engine.RoomName
	// Opened says that the room may exist in the engine.
	Opened bool
	// Control is what is decided about its participants.
	Control
	// Status is what the controllers wrote, which nobody changes here; nil where there is no Meeting. See Counted.
	Status *v1alpha1.MeetingStatus
}

var notCounted v1alpha1.MeetingStatus

// Counted has the counts of the controllers: of participants, and of those who wait. All are zero until they have looked.
func (v *View) Counted() *v1alpha1.MeetingStatus { return cmp.Or(v.Status, &notCounted) }

// State is what the pages of the meeting are told.
func (v View) State() engine.RoomState {
	state := v.Control.State()
	state.ExpiresAt = v.Expires
	return state
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
	// AdHoc are the rooms that were opened by entering them.
	AdHoc int
}
