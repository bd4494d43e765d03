// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"cmp"
	"context"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Join answers the live meeting of a room, and creates it when there is none. Before a participant has entered, the first duration
// that is named is the meeting's, and a password becomes the room's. Afterwards a password must match, and a duration
// changes nothing: it could be over already.
func (s *Service) Join(ctx context.Context, t *tenant.Tenant, c JoinCommand) (meeting.View, error) {
	if err := c.Validate(t.Settings); err != nil {
		return meeting.View{}, err
	}
	c.Room = s.named(t, c.Room)
	d := draft{spec: v1alpha1.MeetingSpec{Room: c.Room, Duration: c.Duration}, password: passwordOf(t, c.Password), needsPassword: c.NeedsPassword}
	return s.withRoom(ctx, t, c.Room, func(ctx context.Context, live *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
		if live == nil {
			return s.createFrom(ctx, t, &d)
		}
		live, err := s.fresh(live)
		if err != nil {
			return nil, err
		}
		return s.applyJoin(ctx, t, live, c, &d.password)
	})
}

// applyJoin changes a live Meeting as a join asks, or refuses the join.
func (s *Service) applyJoin(ctx context.Context, t *tenant.Tenant, live *v1alpha1.Meeting, c JoinCommand, password *presented) (*v1alpha1.Meeting, error) {
	timed, secured := c.Duration != "" && live.Spec.Duration == "" && !meeting.Entered(live), false
	switch {
	case c.Password == nil && !c.NeedsPassword:
	case live.Spec.PasswordSecretRef != nil:
		if ok, err := s.provePassword(ctx, t, live, password); !ok {
			return nil, cmp.Or[error](err, errWrongPassword)
		}
	case !password.isEmpty():
		if meeting.Entered(live) {
			return nil, fault.Conflict("roomPassword cannot be set any more, because a participant has entered this room; leave it out, or end the meeting first")
		}
		secured = true
	}
	if !timed && !secured {
		return live, nil
	}
	joined := live.DeepCopy()
	if timed {
		joined.Spec.Duration = c.Duration
	}
	if secured {
		// The Secret first: a Meeting that names one which never comes would let no guest in. One that is not named goes with
		// its owner.
		if err := s.setPassword(ctx, t, joined, password); err != nil {
			return nil, err
		}
	}
	if err := s.patch(ctx, live, joined); err != nil {
		return nil, err
	}
	return joined, nil
}

var errWrongPassword = fault.Denied("roomPassword is not the password of this room; send the right one").WithReason(fault.ReasonWrongPassword)
