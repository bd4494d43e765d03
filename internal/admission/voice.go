// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"slices"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Mute turns off the microphone of a participant, who may switch it on again where the policy lets them: what they were granted of it is
// taken back. It counts for whom Decide counts. Late is as for Change.
func (s *Service) Mute(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity) (late, err error) {
	all, err := s.everyoneIn(ctx, t, v)
	if err != nil {
		return nil, err
	}
	concerned := all.concerned(who)
	granted := func(p engine.Participant) bool {
		return engine.OfSources(v.DecisionOn(p.Username, p.Identity).GrantedSources).Has(engine.Microphone)
	}
	switch {
	case slices.ContainsFunc(concerned, granted):
		late, err = s.decide(ctx, t, v, who, all, true, func(spec *v1alpha1.MeetingSpec, username string) {
			meeting.TakeWord(spec, who, username)
		})
		if err != nil || late != nil {
			return late, err
		}
	case len(concerned) == 0:
		return nil, s.errAbsent(v, who)
	}
	_, err = hush(ctx, t, v, concerned, func(engine.Participant) bool { return true })
	return nil, err
}

// LockMicrophone keeps a participant from being heard until LetSpeak. It counts for whom Decide counts. Late is as for Change.
func (s *Service) LockMicrophone(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity) (late, err error) {
	_, late, err = s.decideListed(ctx, t, v, who, func(spec *v1alpha1.MeetingSpec, username string) {
		meeting.TakeWord(spec, who, username)
		meeting.Decide(spec, who, func(d *v1alpha1.ParticipantDecision) { d.Muted = true })
	})
	return late, err
}

// LetSpeak gives a participant the word, whatever a decision or the policy says, and lowers the hand. It counts for whom Decide counts.
// Late is as for Change.
func (s *Service) LetSpeak(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity) (late, err error) {
	all, late, err := s.decideListed(ctx, t, v, who, func(spec *v1alpha1.MeetingSpec, username string) {
		meeting.GiveWord(spec, who, username, v.PresentersOnly)
	})
	if late != nil || err != nil {
		return late, err
	}
	var actions []engine.Action
	for _, p := range all.concerned(who) {
		if p.Hand {
			actions = append(actions, engine.Hand{Who: p.Identity})
		}
	}
	return nil, actAll(ctx, t, v, v.EngineRoom, actions)
}

// MuteAll turns off the microphones of all but presenters and one other. They may switch them on again.
func (s *Service) MuteAll(ctx context.Context, t *tenant.Tenant, v meeting.View, but engine.Identity) (count int, err error) {
	people, err := s.Participants(ctx, t, v)
	if err != nil {
		return 0, err
	}
	return hush(ctx, t, v, people, func(p engine.Participant) bool { return !p.Presenter && p.Identity != but })
}

// hush turns off the microphones that are on of some people, and counts them.
func hush(
	ctx context.Context, t *tenant.Tenant, v meeting.View, people []engine.Participant, of func(engine.Participant) bool,
) (count int, err error) {
	var actions []engine.Action
	for _, p := range people {
		if p.Audio && of(p) {
			actions = append(actions, engine.Hush{Who: p.Identity})
		}
	}
	return len(actions), actAll(ctx, t, v, v.EngineRoom, actions)
}
