// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// IdentitySeparator stands between the two halves of an identity: its origin, which is the same for all who come
// with one ticket or token or as one user, and what is used once.
const IdentitySeparator = "-"

// identityForm is the pattern of the custom resource. LiveKit makes identities from the number of a caller, or from the request of a backend.
var identityForm = regexp.MustCompile(`^([!-+.-9;-~][!-+.-9;-~-]*|user:[^\x00-\x1f\x7f]+)$`)

// maxIdentity is the greatest length of an identity, in characters.
const maxIdentity = 260

// ValidateIdentity refuses, by the name of a field, an identity about which nothing can be decided.
func ValidateIdentity(field string, who engine.Identity) error {
	if !identityForm.MatchString(string(who)) || utf8.RuneCountInString(string(who)) > maxIdentity {
		return fault.Invalid(field, "%s must be a participant's identity or \"user:<username>\"; GET participants lists the identities", field)
	}
	return nil
}

// UserIdentity is the identity of decisions about a username.
func UserIdentity(username string) engine.Identity {
	return engine.Identity(v1alpha1.UserPrefix + username)
}

// UserOf is the username that decisions under an identity are about; false where they are about what a participant came with.
func UserOf(who engine.Identity) (username string, ok bool) {
	return strings.CutPrefix(string(who), v1alpha1.UserPrefix)
}

// DecisionOn is all that is decided about a participant, under any of their identities and others of the same origin, or under
// the username, which is empty for a guest. Of two roles, and of two lists of sources, what is decided about an identity counts.
func (c Control) DecisionOn(username string, identities ...engine.Identity) v1alpha1.ParticipantDecision {
	var all, byUser v1alpha1.ParticipantDecision
	for i := range c.Decisions {
		switch d := &c.Decisions[i]; {
		case slices.ContainsFunc(identities, func(who engine.Identity) bool { return isAbout(d, who) }):
			add(&all, d)
		case username != "" && engine.Identity(d.Identity) == UserIdentity(username):
			add(&byUser, d)
		}
	}
	add(&all, &byUser)
	return all
}

// add adds what is decided in one place to what is decided in another.
func add(to, d *v1alpha1.ParticipantDecision) {
	to.Removed = to.Removed || d.Removed
	to.Muted = to.Muted || d.Muted
	to.Admitted = to.Admitted || d.Admitted
	if to.Role == "" {
		to.Role, to.Promoted = d.Role, d.Promoted
	}
	if to.Sources == nil {
		to.Sources = d.Sources
	}
	SetGranted(to, engine.OfSources(to.GrantedSources)|engine.OfSources(d.GrantedSources))
}

// isAbout reports whether a decision is about an identity, or about another of the same origin: a participant who was removed or
// muted is so on every device and after every return.
func isAbout(d *v1alpha1.ParticipantDecision, who engine.Identity) bool {
	return Origin(engine.Identity(d.Identity)) == Origin(who)
}

// Decide changes what is decided about a participant, under all identities of the same origin, and adds the participant where none
// is listed. One about whom nothing is decided any more goes.
func Decide(spec *v1alpha1.MeetingSpec, who engine.Identity, change func(*v1alpha1.ParticipantDecision)) {
	var list []v1alpha1.ParticipantDecision
	known := false
	keep := func(d v1alpha1.ParticipantDecision) {
		if !decidesNothing(d) {
			list = append(list, d)
		}
	}
	for _, d := range spec.Participants {
		if isAbout(&d, who) {
			known = true
			change(&d)
		}
		keep(d)
	}
	if !known {
		d := v1alpha1.ParticipantDecision{Identity: string(who)}
		change(&d)
		keep(d)
	}
	spec.Participants = list
}

func decidesNothing(d v1alpha1.ParticipantDecision) bool {
	return reflect.DeepEqual(d, v1alpha1.ParticipantDecision{Identity: d.Identity})
}

const lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// Origin is the half of an identity that is the same for all who come with one credential. The origin of a username is the whole, and so is the
// origin of a telephone such as sip_anna-b@example.com: Convene makes identities of letters and digits.
func Origin(who engine.Identity) string {
	origin, _, _ := strings.Cut(string(who), IdentitySeparator)
	if strings.Trim(origin, lettersAndDigits) != "" {
		return string(who)
	}
	return origin
}

// IsDecided says that something is decided about an identity, or about a username in the form of one.
func (c Control) IsDecided(who engine.Identity) bool {
	return slices.ContainsFunc(c.Decisions, func(d v1alpha1.ParticipantDecision) bool { return isAbout(&d, who) })
}

// Correction is what has to be done to a participant who is in, so that what is decided is so; nil where it is so. Whatever is
// forbidden to a hidden participant, they publish nothing.
func (c Control) Correction(p engine.Participant) engine.Action {
	if c.DecisionOn(p.Username, p.Identity).Removed {
		return engine.Remove{Who: p.Identity}
	}
	wanted := c.RightsOf(p)
	wanted.Forbidden &= engine.Media
	if p.Hidden {
		wanted.Forbidden = 0
	}
	if p.Rights() == wanted && p.Sends()&wanted.Forbidden == 0 {
		return nil
	}
	return engine.SetRights{Who: p.Identity, Rights: wanted}
}
