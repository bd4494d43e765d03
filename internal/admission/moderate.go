// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

var errLeft = fault.NotFound("That participant has left the meeting already")

// Mute turns a participant's microphone off, also after they come back.
func (s *Service) Mute(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity) error {
	return s.act(ctx, t, v, who, engine.Mute{Who: who}, s.meetings.MarkMuted)
}

// LetSpeak undoes Mute. That is written down first: the other way round the controllers would mute the participant again.
func (s *Service) LetSpeak(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity) error {
	return s.act(ctx, t, v, who, engine.LetSpeak{Who: who}, s.meetings.MarkUnmuted)
}

// Remove disconnects a participant, who cannot come back with the same credential.
func (s *Service) Remove(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity) error {
	return s.act(ctx, t, v, who, engine.Remove{Who: who}, s.meetings.MarkRemoved)
}

// LowerHand lowers a participant's hand.
func (s *Service) LowerHand(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity) error {
	return s.act(ctx, t, v, who, engine.Hand{Who: who}, nil)
}

// act does something to a participant. What has to outlast their connection is written down first: the other way round they
// could come back between the two.
func (s *Service) act(
	ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity, action engine.Action,
	remember func(ctx context.Context, t *tenant.Tenant, uid string, who engine.Identity) error,
) error {
	media, err := mediaOf(t, v)
	if err != nil {
		return err
	}
	in, err := s.IsIn(ctx, t, v, who)
	if err != nil {
		return err
	}
	if !in {
		return errLeft
	}
	if remember != nil {
		if err := remember(ctx, t, v.UID, who); err != nil {
			return err
		}
	}
	err = media.Engine.Act(ctx, v.EngineRoom, action)
	if fault.Is(err, fault.KindNotFound) {
		return errLeft.Because(err)
	}
	return OfEngine(err)
}
