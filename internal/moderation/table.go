// SPDX-License-Identifier: Apache-2.0

package moderation

import (
	"slices"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// table has every command. Several commands of one order are done in this order.
var table = slices.Concat(
	fields, ofSource(engine.Microphone, "mute", "lockMicrophone", "allowToSpeak"), toMeeting, toParticipant,
	ofSource(engine.Camera, "stopCamera", "lockCamera", "allowCamera"), ofSource(engine.Screen, "stopScreen", "lockScreen", "allowScreen"),
)

// ofSource returns the commands about a source of one participant: to turn it off for now, to keep it off until it is allowed, and to allow it.
func ofSource(what engine.Abilities, off, lock, allow string) []Command {
	takeGrant := func(s *v1alpha1.MeetingSpec, f Facts) {
		for _, p := range f.subjects() {
			meeting.TakeGrant(s, p.Identity, p.Username, what)
		}
	}
	isGranted := func(f Facts) bool {
		return slices.ContainsFunc(f.subjects(), func(p engine.Participant) bool {
			return engine.OfSources(f.DecisionOn(p.Username, p.Identity).GrantedSources).Has(what)
		})
	}
	return []Command{
		{
			Name: off, Page: true, OnOne: true, If: isGranted, Apply: takeGrant,
			Act: func(f Facts) []engine.Action { return mute(f.concerned(), what) },
		}, {
			Name: lock, Page: true, OnOne: true, Lasts: true, Ranked: true,
			Apply: func(s *v1alpha1.MeetingSpec, f Facts) {
				takeGrant(s, f)
				left := f.DecisionOn(f.One.Username, f.To).Sources
				meeting.Decide(s, f.To, func(d *v1alpha1.ParticipantDecision) { meeting.Lock(d, left, what) })
			},
		}, {
			Name: allow, Page: true, OnOne: true, Lasts: true,
			Act: func(f Facts) []engine.Action { return append(lowerHands(f), unmute(f.concerned(), what)...) },
			Apply: func(s *v1alpha1.MeetingSpec, f Facts) {
				meeting.Grant(s, f.To, f.PresentersOnly&what)
				for _, p := range f.subjects() {
					meeting.Unlock(s, p.Identity, p.Username, what)
				}
			},
		},
	}
}

// toMeeting has the commands to the meeting.
var toMeeting = []Command{
	{
		Name: "muteAll", Page: true, Lists: true,
		Act: func(f Facts) []engine.Action {
			others := slices.DeleteFunc(slices.Clone(f.People), func(p engine.Participant) bool { return p.Presenter || f.isBy(p) })
			return mute(others, engine.Microphone)
		},
	},
	{Name: "policy", Page: true, Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, f Facts) { meeting.SetPolicy(s, f.Policy) }},
	{Name: "lock", Page: true, Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, _ Facts) { s.Locked = new(true) }},
	{Name: "unlock", Page: true, Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, _ Facts) { s.Locked = new(false) }},
	{Name: "admission", Page: true, Lasts: true, Apply: func(s *v1alpha1.MeetingSpec, f Facts) { s.Admission = f.Spec.Admission }},
	{
		Name: "admitAll", Page: true, Lasts: true, ListsDoor: true,
		Apply: func(s *v1alpha1.MeetingSpec, f Facts) {
			if waiting := f.waiting(); len(waiting) > 0 {
				meeting.AdmitAll(s, waiting)
			}
		},
	},
	{Name: "announce", Page: true, Alone: true, NeedsPage: true, Act: func(f Facts) []engine.Action { return []engine.Action{f.Notice.to(f.To)} }},
	{Name: "end", Page: true, Lasts: true},
}

// toParticipant has the commands to a participant.
var toParticipant = []Command{
	{Name: "remove", Page: true, OnOne: true, Lasts: true, Ranked: true, Removes: true, OnSelf: notYourself, Apply: remove},
	{
		Name: "ban", Page: true, OnOne: true, Lasts: true, Ranked: true, Removes: true, NeedsName: true, OnSelf: notYourself,
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
	{
		Name: "askToUnmute", Page: true, OnOne: true, Alone: true,
		Act: func(f Facts) []engine.Action {
			if f.One.Kind != "" {
				return unmute([]engine.Participant{f.One}, engine.Media)
			}
			return []engine.Action{f.Notice.asking(engine.Microphone).to(f.To)}
		},
	},
	{Name: "promote", Page: true, OnOne: true, Lasts: true, Ranked: true, Apply: decide(func(d, _ *v1alpha1.ParticipantDecision) { meeting.Promote(d) })},
	{
		Name: "demote", Page: true, OnOne: true, Lasts: true, Ranked: true, OnSelf: "You cannot take your own role; ask another presenter to",
		Apply: decide(func(d, _ *v1alpha1.ParticipantDecision) { meeting.Demote(d) }),
	},
	{Name: "admit", Page: true, OnOne: true, Lasts: true, Apply: decide(func(d, _ *v1alpha1.ParticipantDecision) { d.Admitted = true })},
	{Name: "refuse", Page: true, OnOne: true, Lasts: true, Ranked: true, Removes: true, OnSelf: notYourself, Apply: remove},
}

// fields has the commands that set a field of a Meeting or of a decision, as kubectl does.
var fields = []Command{
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

// mute turns off what participants send of something.
func mute(people []engine.Participant, what engine.Abilities) (actions []engine.Action) {
	for _, p := range people {
		if p.Sends()&what != 0 {
			actions = append(actions, engine.Mute{Who: p.Identity, What: what})
		}
	}
	return actions
}

// unmute turns on what participants without a page send of something: these participants cannot be asked to.
func unmute(people []engine.Participant, what engine.Abilities) (actions []engine.Action) {
	for _, p := range people {
		if p.Kind != "" {
			actions = append(actions, engine.Unmute{Who: p.Identity, What: what})
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
