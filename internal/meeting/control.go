// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"cmp"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// Control is what is decided about those who are in a meeting or want to enter it.
type Control struct {
	// PresentersOnly is what presenters alone may do.
	PresentersOnly engine.Abilities
	// Locked says that no new participant is let in.
	Locked bool
	// Admission is who has to wait, and AdmittedUntil lets in those who have waited since then or longer.
	Admission     v1alpha1.Admission
	AdmittedUntil time.Time
	// Decisions are about single participants.
	Decisions []v1alpha1.ParticipantDecision
}

// ControlOf is what a Meeting decides, and where it does not, its tenant.
func ControlOf(s Settings, spec *v1alpha1.MeetingSpec) Control {
	c := Control{
		PresentersOnly: presentersOnly(s.Policy, spec.Policy), Locked: s.Locked, Decisions: spec.Participants,
		Admission: cmp.Or(spec.Admission, s.Admission), AdmittedUntil: timeOf(spec.AdmittedUntil),
	}
	if spec.Locked != nil {
		c.Locked = *spec.Locked
	}
	return c
}

// State is what the pages of a meeting are told, but for when it ends.
func (c Control) State() engine.RoomState {
	state := engine.RoomState{PresentersOnly: c.PresentersOnly, Locked: c.Locked}
	if c.HasWaitingRoom() {
		state.Admission = string(c.Admission)
	}
	return state
}

// presentersOnly is what presenters alone may do by the policies of a tenant and of one of its Meetings. Nil says nothing.
func presentersOnly(tenants, own *v1alpha1.MeetingPolicy) (only engine.Abilities) {
	if tenants == nil {
		tenants = &v1alpha1.MeetingPolicy{}
	}
	if own == nil {
		own = &v1alpha1.MeetingPolicy{}
	}
	for _, a := range engine.AllAbilities() {
		if cmp.Or(*a.Audience(own), *a.Audience(tenants)) == v1alpha1.Presenters {
			only |= a.Abilities
		}
	}
	return only
}

// PolicyOf is a policy that says no more than what presenters alone may do; nil where that is nothing.
func PolicyOf(only engine.Abilities) *v1alpha1.MeetingPolicy {
	if only == 0 {
		return nil
	}
	var p v1alpha1.MeetingPolicy
	for _, a := range engine.AllAbilities() {
		if only.Has(a.Abilities) {
			*a.Audience(&p) = v1alpha1.Presenters
		}
	}
	return &p
}

// ValidatePolicy checks a change of a policy: something has to be named.
func ValidatePolicy(named v1alpha1.MeetingPolicy) error {
	if named == (v1alpha1.MeetingPolicy{}) {
		return fault.Invalid("policy", "policy is required; name microphone, camera, screen or chat")
	}
	for _, a := range engine.AllAbilities() {
		switch *a.Audience(&named) {
		case "", v1alpha1.Everyone, v1alpha1.Presenters:
		default:
			return fault.Invalid("policy", "each value of policy must be Everyone or Presenters")
		}
	}
	return nil
}

// PolicyChanges are the fields that a policy names, for SetPolicy.
func PolicyChanges(named v1alpha1.MeetingPolicy) map[engine.Abilities]v1alpha1.Audience {
	changes := map[engine.Abilities]v1alpha1.Audience{}
	for _, a := range engine.AllAbilities() {
		if audience := *a.Audience(&named); audience != "" {
			changes[a.Abilities] = audience
		}
	}
	return changes
}

// SetPolicy changes some fields of a Meeting's policy. An empty audience takes back what the Meeting says, so that its tenant's
// counts. What single participants were granted of the fields is taken back: who sets a rule means everyone.
func SetPolicy(spec *v1alpha1.MeetingSpec, changes map[engine.Abilities]v1alpha1.Audience) {
	var policy v1alpha1.MeetingPolicy
	if spec.Policy != nil {
		policy = *spec.Policy
	}
	var named engine.Abilities
	for _, a := range engine.AllAbilities() {
		if audience, ok := changes[a.Abilities]; ok {
			*a.Audience(&policy) = audience
			named |= a.Abilities
		}
	}
	spec.Policy = &policy
	if policy == (v1alpha1.MeetingPolicy{}) {
		spec.Policy = nil
	}
	takeBack(spec, named)
}

// WholePolicy is a policy that says of everything who may do it.
func WholePolicy(only engine.Abilities) (p v1alpha1.MeetingPolicy) {
	for _, a := range engine.AllAbilities() {
		*a.Audience(&p) = v1alpha1.Everyone
		if only.Has(a.Abilities) {
			*a.Audience(&p) = v1alpha1.Presenters
		}
	}
	return p
}

// RightsOf is what a participant may do who is in.
func (c Control) RightsOf(p engine.Participant) engine.Rights {
	return c.Rights(c.DecisionOn(p.Username, p.Identity), p.Granted)
}

// Rights are what a participant may do about whom something was decided. Granted says that they are a presenter by what they
// came with. What a decision takes counts first, then the role, then what a decision grants, and last the policy: docs/moderate.md has
// the table.
func (c Control) Rights(d v1alpha1.ParticipantDecision, granted bool) engine.Rights {
	rights := engine.Rights{Presenter: granted}
	if d.Role != "" {
		rights.Presenter = d.Role == v1alpha1.RolePresenter
		rights.Promoted = rights.Presenter && d.Promoted && !granted
	}
	if d.Muted {
		rights.Held |= engine.Microphone
	}
	if d.Sources != nil {
		rights.Held |= engine.Media &^ engine.OfSources(d.Sources)
	}
	rights.Forbidden = rights.Held
	if !rights.Presenter {
		rights.Forbidden |= c.PresentersOnly &^ engine.OfSources(d.GrantedSources)
	}
	return rights
}

// Promote gives the role of a presenter as a presenter in the room does. One who has the role by a decision keeps the rank that goes with it.
func Promote(d *v1alpha1.ParticipantDecision) {
	if d.Role != v1alpha1.RolePresenter {
		SetRole(d, v1alpha1.RolePresenter)
		d.Promoted = true
	}
}

// Demote takes the role of a presenter.
func Demote(d *v1alpha1.ParticipantDecision) { SetRole(d, v1alpha1.RoleParticipant) }

// SetRole gives a role as one does who is above all in the room. Empty is the role that the participant came with.
func SetRole(d *v1alpha1.ParticipantDecision, role v1alpha1.ParticipantRole) {
	d.Role, d.Promoted = role, false
}

// SetGranted sets what a participant may publish even where the policy leaves it to presenters.
func SetGranted(d *v1alpha1.ParticipantDecision, sources engine.Abilities) {
	d.GrantedSources = nil
	if sources&engine.Media != 0 {
		d.GrantedSources = sources.Sources()
	}
}

// Grant adds to what a participant may publish even where the policy leaves it to presenters.
func Grant(spec *v1alpha1.MeetingSpec, who engine.Identity, what engine.Abilities) {
	Decide(spec, who, func(d *v1alpha1.ParticipantDecision) { SetGranted(d, engine.OfSources(d.GrantedSources)|what) })
}

// Lock keeps a participant from publishing something until it is unlocked. Left is what other decisions leave to the participant; nil is all.
func Lock(d *v1alpha1.ParticipantDecision, left []v1alpha1.ParticipantSource, what engine.Abilities) {
	if what.Has(engine.Microphone) {
		d.Muted = true
	}
	if others := what &^ engine.Microphone; others != 0 {
		sources := engine.Media
		if left != nil {
			sources = engine.OfSources(left)
		}
		d.Sources = (sources &^ others).Sources()
	}
}

// Unlock undoes what decisions take of some abilities. Username is empty for a guest; what was decided about the user is undone, too.
func Unlock(spec *v1alpha1.MeetingSpec, who engine.Identity, username string, what engine.Abilities) {
	decideOnBoth(spec, who, username, func(d *v1alpha1.ParticipantDecision) {
		d.Muted = d.Muted && !what.Has(engine.Microphone)
		if d.Sources != nil {
			d.Sources = (engine.OfSources(d.Sources) | what).Sources()
		}
	})
}

// TakeGrant takes back what a participant was granted of some abilities.
func TakeGrant(spec *v1alpha1.MeetingSpec, who engine.Identity, username string, what engine.Abilities) {
	decideOnBoth(spec, who, username, func(d *v1alpha1.ParticipantDecision) {
		SetGranted(d, engine.OfSources(d.GrantedSources)&^what)
	})
}

// decideOnBoth changes what is decided about a participant and about the user who they are.
func decideOnBoth(spec *v1alpha1.MeetingSpec, who engine.Identity, username string, change func(*v1alpha1.ParticipantDecision)) {
	Decide(spec, who, change)
	if username != "" {
		Decide(spec, UserIdentity(username), change)
	}
}

// takeBack takes back what single participants were granted of some sources.
func takeBack(spec *v1alpha1.MeetingSpec, sources engine.Abilities) {
	var list []v1alpha1.ParticipantDecision
	for _, d := range spec.Participants {
		if granted := engine.OfSources(d.GrantedSources); granted&sources != 0 {
			SetGranted(&d, granted&^sources)
			if decidesNothing(d) {
				continue
			}
		}
		list = append(list, d)
	}
	spec.Participants = list
}
