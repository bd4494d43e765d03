// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// control says what is in force for those who are in or want to enter, and has their pages told.
func (p *plan) control() {
	c := p.inForce()
	p.status.Locked, p.status.Policy = c.Locked, PolicyOf(c.PresentersOnly)
	p.status.Admission = ""
	if c.HasWaitingRoom() {
		p.status.Admission = c.Admission
	}
	wanted := c.State()
	wanted.ExpiresAt = timeOf(p.status.ExpiryTime)
	if p.Seen.Known && p.Seen.RoomExists && !p.Seen.State.Equal(wanted) {
		p.Refresh = &wanted
	}
}

// inForce is what is decided about those who are in or want to enter.
func (p *plan) inForce() Control { return ControlOf(p.settings, &p.Meeting.Spec) }

// tellControl makes an Event of each change of what is in force.
func (p *plan) tellControl() {
	was, is := p.Meeting.Status, p.status
	switch {
	case is.Locked && !was.Locked:
		p.event(false, v1alpha1.ReasonLocked, "The meeting is locked: no new participants are let in but presenters")
	case was.Locked && !is.Locked:
		p.event(false, v1alpha1.ReasonUnlocked, "The meeting is not locked any more")
	}
	if before, now := presentersOnly(nil, was.Policy), presentersOnly(nil, is.Policy); before != now {
		p.event(false, v1alpha1.ReasonPolicyChanged, "%s", describePolicy(now))
	}
	if was.Admission != is.Admission {
		p.event(false, v1alpha1.ReasonAdmissionChanged, "%s", describeAdmission(is.Admission))
	}
}

// describeAdmission says in words who has to wait.
func describeAdmission(a v1alpha1.Admission) string {
	switch a {
	case v1alpha1.AdmissionWithPresenter:
		return "Participants wait until a presenter is in"
	case v1alpha1.AdmissionAsk:
		return "Participants wait until a presenter or the API lets each of them in"
	case v1alpha1.AdmissionOpen, "":
	}
	return "Nobody has to wait to come in"
}

// describePolicy is what a policy means, in words.
func describePolicy(only engine.Abilities) string {
	var words []string
	for _, a := range engine.AllAbilities() {
		if only.Has(a.Abilities) {
			words = append(words, a.Words)
		}
	}
	if len(words) == 0 {
		return "All participants may use microphone, camera, screen and chat"
	}
	return "Only presenters may " + strings.Join(words, ", ")
}
