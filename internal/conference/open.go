// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"cmp"
	"context"

	"github.com/google/uuid"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

var errManyRooms = fault.TooMany("As many rooms are open here as the operator allows; try again later")

// Open finds or makes the meeting of a room for a person whom the tenant lets open rooms, when Enter found none. It is Gone
// while it is known that the room's meeting, or the ticket's, was ended on request, was deleted, or expired with participants
// in it.
func (s *Service) Open(ctx context.Context, t *tenant.Tenant, o meeting.Opening) (meeting.View, error) {
	o.Room = s.named(t, o.Room)
	if old := s.directory.LastEnded(t, o.Room); old != nil && meeting.Restartable(old) && s.directory.Holder(t, o.Room) == nil {
		// With all that the last meeting had, its password above all.
		return s.restart(ctx, t, o.Room, func(m *v1alpha1.Meeting) error { return forbidEnded(m, o.Lineage) })
	}
	d := draft{opening: &o, spec: v1alpha1.MeetingSpec{Room: o.Room, Duration: o.Duration, Redirect: v1alpha1.URL(o.Redirect)}}
	if o.MaxParticipants > 0 {
		d.spec.MaxParticipants = ptr.To(int32(o.MaxParticipants))
	}
	allowed := false
	return s.withRoom(ctx, t, o.Room, func(ctx context.Context, live *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
		if err := s.forbidOpening(t, o, live); err != nil || live != nil {
			return live, err
		}
		if !allowed { // Asked once, however often the race for the room is lost.
			if err := o.Allow(); err != nil {
				return nil, err
			}
			allowed = true
		}
		return s.createFrom(ctx, t, &d)
	})
}

// forbidOpening says why a person may not open a room, or enter the live Meeting of it with a ticket of another lineage.
func (s *Service) forbidOpening(t *tenant.Tenant, o meeting.Opening, live *v1alpha1.Meeting) error {
	last := s.directory.LastEnded(t, o.Room)
	if err := cmp.Or(forbidEnded(live, o.Lineage), forbidEnded(last, o.Lineage)); err != nil {
		return err
	}
	switch {
	case live != nil:
		return nil
	case last != nil && !meeting.Restartable(last), s.directory.WasDeleted(t, o.Room):
		return errEnded
	}
	return s.allowOneMore(t)
}

// forbidEnded returns an error where a room's Meeting, which may be nil, knows that a ticket's lineage has ended.
func forbidEnded(m *v1alpha1.Meeting, lineage string) error {
	if m != nil && lineage != "" && meeting.HasEnded(m, lineage) {
		return errEnded
	}
	return nil
}

// allowOneMore returns an error where as many rooms are live as people may open.
func (s *Service) allowOneMore(t *tenant.Tenant) error {
	if s.directory.Totals(t).AdHoc >= t.Settings.MaxAdHoc {
		return errManyRooms
	}
	return nil
}

// allowRestart returns an error where a link must not start a room again: people opened it, and as many rooms are live as they may open.
func (s *Service) allowRestart(t *tenant.Tenant, old *v1alpha1.Meeting) error {
	if meeting.OpenedBy(old) == "" {
		return nil
	}
	return s.allowOneMore(t)
}

// markOpening says of a Meeting who opened its room. Links of the ticket's lineage open it too.
func markOpening(m *v1alpha1.Meeting, o *meeting.Opening) {
	m.Labels[v1alpha1.LabelAdHoc] = o.By
	m.Annotations = map[string]string{v1alpha1.AnnotationLineage: cmp.Or(o.Lineage, uuid.NewString())}
}
