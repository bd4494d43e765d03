// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"maps"
	"strings"

	"convene.dev/convene/internal/engine"
)

// A participant's attributes, which all in the room can read and only Convene can set. An absent flag means no, and
// LiveKit takes an attribute off when it is set to nothing.
const (
	attributePresenter = "presenter"
	attributePromoted  = "promoted"
	attributeChat      = "chat"
	attributeNotify    = "notify"
	attributeAvatar    = "avatar"
	// attributeHeld names what a decision about the participant forbids: pages give the reason.
	attributeHeld = "held"
	attributeHand = "hand"
	// attributeHandSince is when the hand was raised, in milliseconds since 1970: those who ask first speak first.
	attributeHandSince = "handSince"
	// attributeMutedAt follows the name of an ability: when a presenter last turned that off, in milliseconds since 1970. A page whose connection was
	// broken then reads it here.
	attributeMutedAt = "MutedAt"
	// attributeDisguises are sources as which a participant sent sound who was forbidden to.
	attributeDisguises = "disguises"
	// attributeForbidden names what a participant without a page may not send. They keep LiveKit's permission: a telephone would not send again
	// what LiveKit once has ended.
	attributeForbidden = "forbidden"
	// attributeAdmitted tells one who waits to come in.
	attributeAdmitted = "admitted"
	// attributeClient is sealed.
	attributeClient = "client"

	yes = "true"
)

func attributesOf(t engine.Traits) map[string]string {
	attributes := map[string]string{
		attributePresenter: flag(t.Presenter),
		attributePromoted:  flag(t.Promoted),
		attributeChat:      flag(t.Chat),
		attributeNotify:    flag(t.Notify),
		attributeAvatar:    t.Avatar,
		attributeHeld:      strings.Join(t.Held.Names(), ","),
	}
	maps.DeleteFunc(attributes, func(_, value string) bool { return value == "" })
	return attributes
}

// flag is an attribute that says yes or no.
func flag(on bool) string {
	if on {
		return yes
	}
	return ""
}

// namedIn is the set of the abilities that an attribute names.
func namedIn(attributes map[string]string, attribute string) engine.Abilities {
	return engine.NamedAbilities(strings.Split(attributes[attribute], ",")...)
}

// traitsOf reads what attributesOf wrote: all but Hidden, which is a permission, and what is sealed.
func traitsOf(attributes map[string]string) engine.Traits {
	return engine.Traits{
		Presenter: attributes[attributePresenter] == yes,
		Promoted:  attributes[attributePromoted] == yes,
		Chat:      attributes[attributeChat] == yes,
		Notify:    attributes[attributeNotify] == yes,
		Avatar:    attributes[attributeAvatar],
		Held:      namedIn(attributes, attributeHeld),
	}
}
