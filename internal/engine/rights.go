// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"convene.dev/convene/api/v1alpha1"
)

// Abilities are what participants can be kept from, as a set.
type Abilities uint8

// What participants can be kept from. The table below has each.
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

// Ability is a single thing that participants can be kept from.
type Ability struct {
	Abilities
	// Name stands in policies, in what pages read, and in the REST API.
	Name string
	// Source stands in decisions about single participants. It is empty for what the engine does not hold.
	Source v1alpha1.ParticipantSource
	// Audience returns the field of a policy for this ability.
	Audience func(*v1alpha1.MeetingPolicy) *v1alpha1.Audience
	// Words follow "may" in a sentence.
	Words string
}

// abilities are in the order in which they are listed.
var abilities = []Ability{
	{Microphone, "microphone", v1alpha1.SourceMicrophone, func(p *v1alpha1.MeetingPolicy) *v1alpha1.Audience { return &p.Microphone }, "use the microphone"},
	{Camera, "camera", v1alpha1.SourceCamera, func(p *v1alpha1.MeetingPolicy) *v1alpha1.Audience { return &p.Camera }, "show a camera"},
	{Screen, "screen", v1alpha1.SourceScreen, func(p *v1alpha1.MeetingPolicy) *v1alpha1.Audience { return &p.Screen }, "share a screen"},
	{Chat, "chat", "", func(p *v1alpha1.MeetingPolicy) *v1alpha1.Audience { return &p.Chat }, "write chat messages"},
}

// AllAbilities returns the table of abilities, for reading.
func AllAbilities() []Ability { return abilities }

// Names lists a set by the names of its abilities.
func (a Abilities) Names() (names []string) {
	for _, one := range abilities {
		if a.Has(one.Abilities) {
			names = append(names, one.Name)
		}
	}
	return names
}

// NamedAbilities is the set of the abilities that names list. It leaves out unknown names.
func NamedAbilities(names ...string) (a Abilities) {
	for _, one := range abilities {
		if slices.Contains(names, one.Name) {
			a |= one.Abilities
		}
	}
	return a
}

// Sources lists what of a set participants publish. The list is not nil.
func (a Abilities) Sources() []v1alpha1.ParticipantSource {
	list := []v1alpha1.ParticipantSource{}
	for _, one := range abilities {
		if one.Source != "" && a.Has(one.Abilities) {
			list = append(list, one.Source)
		}
	}
	return list
}

// OfSources is the set of the abilities that a list of sources names.
func OfSources(list []v1alpha1.ParticipantSource) (a Abilities) {
	for _, one := range abilities {
		if one.Source != "" && slices.Contains(list, one.Source) {
			a |= one.Abilities
		}
	}
	return a
}

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
