// SPDX-License-Identifier: Apache-2.0

package moderation

import (
	"slices"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// table has every command. Several commands of one order are done in this order.
var table = []Command{
	{
		Name: "mute", Page: true, OnOne: true, If: mayHaveTheWord,
		Apply: takeWord,
		Act: func(f Facts) []engine.Action {
			return hush(f.concerned(), func(engine.Participant) bool { return true })
		},
	}, {
		Name: "lockMicrophone", Page: true, OnOne: true, Lasts: true, Ranked: true,
		Apply: func(s *v1alpha1.MeetingSpec, f Facts) {
			takeWord(s, f)
			meeting.Decide(s, f.To, func(d *v1alpha1.ParticipantDecision) { d.Muted = true })
		},
	}, {
		Name: "allowToSpeak", Page: true, OnOne: true, Lasts: true, Act: lowerHands,
		Apply: func(s *v1alpha1.MeetingSpec, f Facts) { meeting.GiveWord(s, f.To, f.One.Username, f.PresentersOnly) },
	}, {
		Name: "muteAll", Page: true, Lists: true,
		Act: func(f Facts) []engine.Action {
			return hush(f.People, func(p engine.Participant) bool { return !p.Presenter && !f.isBy(p) })
		},
	},
	{Name: "remove", Page: true, OnOne: true, Lasts: true, Ranked: true, Removes: true, OnSelf: notYourself, Apply: remove},
	{
		Name: "ban", OnOne: true, Lasts: true, Ranked: true, Removes: true, NeedsName: true, OnSelf: notYourself,
		Apply: func(s *v1alpha1.MeetingSpec, f Facts) {
			remove(s, f)
			if f.One.Username != "" {
				meeting.Decide(s, meeting.UserIdentity(f.One.Username), removed)
			}
		},
	},
	{
		Name: "lowerHand", Page: true, OnOne: true, Alone: true,
		Act: func(f Facts) []engine.Action { return []engine.Action{engine.Hand{Who: f.To}} },
	},
	{Name: "promote", Page: true, OnOne: true, Lasts: true, Ranked: true, Apply: decide(func(d, _ *v1alpha1.ParticipantDecision) { meeting.Promote(d) })},
	{
		Name: "demote", Page: true, OnOne: true, Lasts: true, Ranked: true, OnSelf: "You cannot take your own role; ask another presenter to",
		Apply: decide(func(d, _ *v1alpha1.ParticipantDecision) { meeting.Demote(d) }),
	},
	{Name: "admit", Page: true, OnOne: true, Lasts: true, Apply: decide(func(d, _ *v1alpha1.ParticipantDecision) { d.Admitted = true })},
	{Name: "refuse", Page: true, OnOne: true, Lasts: true, Ranked: true, Removes: true, OnSelf: notYourself, Apply: remove},
	{Name: "policy", Page: true, Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, f Facts) { meeting.SetPolicy(s, f.Policy) }},
	{Name: "lock", Page: true, Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, _ Facts) { s.Locked = new(true) }},
	{Name: "unlock", Page: true, Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, _ Facts) { s.Locked = new(false) }},
	{Name: "admission", Page: true, Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, f Facts) { s.Admission = f.Spec.Admission }},
	{
		Name: "admitAll", Page: true, Lasts: true, Lists: true,
		Apply: func(s *v1alpha1.MeetingSpec, f Facts) {
			if waiting := f.waiting(); len(waiting) > 0 {
				meeting.AdmitAll(s, waiting)
			}
		},
	},
	{Name: "announce", Page: true, Alone: true, Act: func(f Facts) []engine.Action { return []engine.Action{f.Notice.to(f.To)} }},
	{Name: "end", Page: true, Lasts: true},

	// What the REST API has beside these are the fields of a Meeting and of its decisions, as kubectl has them.
	{Name: "locked", Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, f Facts) { s.Locked = f.Spec.Locked }},
	{Name: "duration", Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, f Facts) { s.Duration = f.Spec.Duration }},
	{Name: "maxParticipants", Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, f Facts) { s.MaxParticipants = f.Spec.MaxParticipants }},
	{Name: "redirect", Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, f Facts) { s.Redirect = f.Spec.Redirect }},
	{Name: "role", OnOne: true, Lasts: true, Apply: decide(func(d, to *v1alpha1.ParticipantDecision) { meeting.SetRole(d, to.Role) })},
	{Name: "muted", OnOne: true, Lasts: true, Apply: decide(func(d, to *v1alpha1.ParticipantDecision) { d.Muted = to.Muted })},
	{Name: "sources", OnOne: true, Lasts: true, Apply: decide(func(d, to *v1alpha1.ParticipantDecision) { d.Sources = to.Sources })},
	{
		Name: "grantedSources", OnOne: true, Lasts: true,
		Apply: decide(func(d, to *v1alpha1.ParticipantDecision) { meeting.SetGranted(d, engine.OfSources(to.GrantedSources)) }),
	},
	{Name: "admitted", OnOne: true, Lasts: true, Apply: decide(func(d, to *v1alpha1.ParticipantDecision) { d.Admitted = to.Admitted })},
	{
		Name: "hand", OnOne: true, Alone: true,
		Act: func(f Facts) []engine.Action { return []engine.Action{engine.Hand{Who: f.To, Raised: f.Raised}} },
	},
}

const notYourself = "You cannot remove yourself; leave instead"

// decide changes what is decided about the participant, by what the request says.
func decide(change func(d, to *v1alpha1.ParticipantDecision)) func(*v1alpha1.MeetingSpec, Facts) {
	return func(s *v1alpha1.MeetingSpec, f Facts) {
		meeting.Decide(s, f.To, func(d *v1alpha1.ParticipantDecision) { change(d, &f.Decision) })
	}
}

// remove keeps the participant out, who cannot come back with the same link, token or login.
func remove(s *v1alpha1.MeetingSpec, f Facts) { meeting.Decide(s, f.To, removed) }

func removed(d *v1alpha1.ParticipantDecision) { d.Removed = true }

// takeWord takes back what was granted of the microphone, under whatever identity.
func takeWord(s *v1alpha1.MeetingSpec, f Facts) {
	meeting.TakeWord(s, f.To, f.One.Username)
	for _, p := range f.concerned() {
		meeting.TakeWord(s, p.Identity, p.Username)
	}
}

// mayHaveTheWord reports whether the microphone was granted to one of the participants.
func mayHaveTheWord(f Facts) bool {
	return slices.ContainsFunc(f.concerned(), func(p engine.Participant) bool {
		return engine.OfSources(f.DecisionOn(p.Username, p.Identity).GrantedSources).Has(engine.Microphone)
	})
}

// hush turns off the microphones of participants, where they are on.
func hush(people []engine.Participant, of func(engine.Participant) bool) (actions []engine.Action) {
	for _, p := range people {
		if p.Audio && of(p) {
			actions = append(actions, engine.Hush{Who: p.Identity})
		}
	}
	return actions
}

func lowerHands(f Facts) (actions []engine.Action) {
	for _, p := range f.concerned() {
		if p.Hand {
			actions = append(actions, engine.Hand{Who: p.Identity})
		}
	}
	return actions
}
