// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Find is the live meeting of a room, as the API server has it.
func (s *Service) Find(ctx context.Context, t *tenant.Tenant, room string) (meeting.View, error) {
	live, err := s.Holder(ctx, t, s.named(t, room))
	if err != nil {
		return meeting.View{}, asFault(err)
	}
	if live == nil || meeting.IsLeaving(live) {
		return meeting.View{}, errNoMeeting
	}
	return directory.View(t, live), nil
}

var errNoMeeting = fault.NotFound("There is no live meeting of this room; look at GET meetings for those that are")

// errManyDecisions is for a list that is full of decisions that must not be forgotten for a new one.
var errManyDecisions = fault.Conflict("This meeting has no room for more decisions about participants; end it and make another")

// Change changes the spec of a live meeting in one write, unless it changes nothing, and shows the meeting as it is then. Where the list of
// decisions about participants is full, older and lighter ones give way. What is answered stays true on every replica. Where
// the function fails on what the cluster has, Change writes nothing and returns its error.
func (s *Service) Change(ctx context.Context, t *tenant.Tenant, uid string, change func(*v1alpha1.MeetingSpec) error) (meeting.View, error) {
	m, err := s.change(ctx, t, uid, func(m *v1alpha1.Meeting) error {
		was := m.Spec.DeepCopy()
		if err := change(&m.Spec); err != nil {
			return err
		}
		if !meeting.MakeRoom(was.Participants, &m.Spec) {
			return errManyDecisions
		}
		return t.Settings.ValidateChange(was, &m.Spec)
	})
	if err != nil {
		return meeting.View{}, err
	}
	return directory.View(t, m), nil
}

// change is Update of the tenant's live Meeting with a UID.
func (s *Service) change(ctx context.Context, t *tenant.Tenant, uid string, change func(*v1alpha1.Meeting) error) (*v1alpha1.Meeting, error) {
	m, err := s.current(t, uid)
	if err != nil {
		return nil, err
	}
	if meeting.IsLeaving(m) {
		return nil, errEnded
	}
	m, err = s.Update(ctx, m, change)
	if errors.Is(err, errStale) {
		return nil, errEnded
	}
	return m, asFault(err)
}
