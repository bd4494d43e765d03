// SPDX-License-Identifier: Apache-2.0

package engine

// Abilities are what participants can be kept from, as a set.
type Abilities uint8

// What participants can be kept from.
const (
	// Microphone is all sound that a participant publishes, that of a shared screen too: the engine cannot tell a voice from it.
	Microphone Abilities = 1 << iota
	Camera
	Screen
	// Chat is to write messages. The gateway holds it; the engine carries no participant's data.
	Chat

	// Media is what the engine itself holds.
	Media = Microphone | Camera | Screen
)

// Has reports whether a set has all of another.
func (a Abilities) Has(other Abilities) bool { return a&other == other }

// Rights are what a participant may do in a room.
type Rights struct {
	Presenter bool
	// Promoted says that a presenter in the room made the participant one. All other presenters outrank those.
	Promoted bool
	// Forbidden is what the participant may not do.
	Forbidden Abilities
	// Held is what of it a decision about the participant forbids, whatever the meeting's policy.
	Held Abilities
}

// OutrankPromoted reports whether the rights are those of a presenter whom a promoted presenter cannot remove, silence or demote.
func (r Rights) OutrankPromoted() bool { return r.Presenter && !r.Promoted }

// Bearer is whom an access token lets in where.
type Bearer struct {
	Room     RoomName
	Identity Identity
	// Username, Granted and In are as in Traits. In is true also for who has a token that the engine renewed, which it does only for those
	// who are in.
	Username    string
	Granted, In bool
}
