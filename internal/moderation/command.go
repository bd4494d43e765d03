// SPDX-License-Identifier: Apache-2.0

package moderation

import (
	"cmp"
	"slices"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// Command is something that presenters, backends or both have done to a meeting or to a participant.
type Command struct {
	// Name stands in the requests of pages, and is a member of requests to the REST API.
	Name string
	// Page reports whether presenters may give it in the room.
	Page bool
	// OnOne reports whether its subject is a participant, and not the meeting.
	OnOne bool
	// Alone reports whether it reaches the connection alone that it names, and not all devices that came with the same link, token or login.
	// Unless it is OnOne, such a command may name no participant, and then reaches all.
	Alone bool
	// Lasts reports whether what it decides stays in the Meeting. Such a command reaches a participant who is still connecting, too.
	Lasts bool
	// Ranked reports whether it is refused to a promoted presenter against a presenter who outranks them.
	Ranked bool
	// Removes reports whether it removes the participant. It is carried out also while the media server gives no list, unless it NeedsName.
	Removes bool
	// NeedsName reports whether it needs the username of a participant, and reaches all links of that user.
	NeedsName bool
	// NeedsPage reports whether a participant without a page cannot take it.
	NeedsPage bool
	// Lists and ListsDoor report whether it needs the participants in the meeting, and in its waiting room, although its subject is the meeting.
	Lists, ListsDoor bool
	// OnSelf is the refusal of a presenter who names themselves; empty where they may.
	OnSelf string
	// If reports whether Apply has anything to change; nil means that it always may.
	If func(Facts) bool
	// Apply writes down what is decided; nil where nothing is.
	Apply func(*v1alpha1.MeetingSpec, Facts)
	// Act returns what the media server does then, beside giving all concerned the rights that they should have; nil means nothing.
	Act func(Facts) []engine.Action
}

// Values hold the arguments of commands. Each command reads its own.
type Values struct {
	// Spec and Decision have the fields that commands set.
	Spec     v1alpha1.MeetingSpec
	Decision v1alpha1.ParticipantDecision
	// Policy has what changes; an empty audience takes back what the Meeting says.
	Policy map[engine.Abilities]v1alpha1.Audience
	// Raised is the new state of a hand.
	Raised bool
	Notice Notice
}

// Facts hold all that a command depends on: the order, the decisions in force, and the participants.
type Facts struct {
	Order
	meeting.Control
	// These are the participants in the meeting, and the participants who wait to be let in.
	People, Door []engine.Participant
	// One is the participant whom the order names. Where the order needs no list, One may have the identity alone. Found reports whether the media server lists them.
	One   engine.Participant
	Found bool
}

// Order is for several commands in one write.
type Order struct {
	Commands []string
	// To is the participant to whom the commands are done; empty for the meeting.
	To engine.Identity
	// By is nil for a backend, which stands above all in the room.
	By *Actor
	Values
}

// Actor is a presenter in the room.
type Actor struct {
	Identity engine.Identity
	// Username is empty for a guest. Granted reports whether the actor came as a presenter.
	Username string
	Granted  bool
}

// Find is the command of a name.
func Find(name string) (Command, bool) {
	at := slices.IndexFunc(table, func(c Command) bool { return c.Name == name })
	if at < 0 {
		return Command{}, false
	}
	return table[at], true
}

// All returns the table of commands.
func All() []Command { return slices.Clone(table) }

// commands returns the commands of an order, in the order of the table, and their sum: the sum needs what any of them needs, and can do what all of
// them can.
func (o Order) commands() (list []Command, sum Command, err error) {
	sum = Command{Alone: true, Lasts: true, Removes: true}
	for _, c := range table {
		if !slices.Contains(o.Commands, c.Name) {
			continue
		}
		list = append(list, c)
		sum.OnOne, sum.Ranked = sum.OnOne || c.OnOne, sum.Ranked || c.Ranked
		sum.NeedsName, sum.NeedsPage = sum.NeedsName || c.NeedsName, sum.NeedsPage || c.NeedsPage
		sum.Lists, sum.ListsDoor = sum.Lists || c.Lists, sum.ListsDoor || c.ListsDoor
		sum.Alone, sum.Lasts, sum.Removes = sum.Alone && c.Alone, sum.Lasts && c.Lasts, sum.Removes && c.Removes
		sum.OnSelf = cmp.Or(sum.OnSelf, c.OnSelf)
	}
	if len(list) < len(o.Commands) || len(list) == 0 {
		return nil, sum, fault.Invalid("action", "%q names a command that there is not", o.Commands)
	}
	return list, sum, nil
}

// concerned are the participants in the meeting whom a decision about one reaches: all who came with the same credential, or as the same user.
func (f Facts) concerned() []engine.Participant {
	return slices.DeleteFunc(slices.Clone(f.People), func(p engine.Participant) bool {
		sameUser := p.Username != "" && (p.Username == f.One.Username || meeting.UserIdentity(p.Username) == f.To)
		return meeting.Origin(p.Identity) != meeting.Origin(f.To) && !sameUser
	})
}

// subjects are the participant whom the order names, and one participant of every other credential that the order reaches. So a link with a
// thousand participants is one subject.
func (f Facts) subjects() []engine.Participant {
	list := []engine.Participant{{Identity: f.To, Traits: engine.Traits{Username: f.One.Username}}}
	for _, p := range f.concerned() {
		same := func(q engine.Participant) bool {
			return meeting.Origin(p.Identity) == meeting.Origin(q.Identity) && p.Username == q.Username
		}
		if !slices.ContainsFunc(list, same) {
			list = append(list, p)
		}
	}
	return list
}

// waiting are the participants who have still to be let in.
func (f Facts) waiting() []engine.Participant {
	return f.WhoWaits(f.Door, meeting.HasPresenter(f.People))
}

// isBy reports whether a participant is the presenter who acts.
func (f Facts) isBy(p engine.Participant) bool { return f.By != nil && p.Identity == f.By.Identity }
