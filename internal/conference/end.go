// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"time"

	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// endTimeout bounds how long an answer waits for the last person to be out.
const endTimeout = 5 * time.Second

// End asks for the end of the live meeting of a room, in one write, and waits until the room is empty, but no longer than
// five seconds.
//
// What is answered stays true: no replica gives a link into a meeting whose end was confirmed, or lets anyone in.
func (s *Service) End(ctx context.Context, t *tenant.Tenant, c EndCommand) (EndResult, error) {
	if err := c.Validate(t.Settings); err != nil {
		return EndResult{}, err
	}
	m, err := s.requestEnd(ctx, t, c)
	if err != nil {
		return EndResult{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	err = s.directory.Wait(ctx, m.UID, isDeserted)
	return EndResult{Ended: err == nil}, nil
}

// isDeserted says that a Meeting has no participant. The count of a live one may be a second behind one who has just
// come; that of one with a room counts once the controllers have looked into it for the end.
func isDeserted(m *v1alpha1.Meeting) bool {
	if m == nil || meeting.IsOver(m) {
		return true
	}
	looked := m.Status.Phase == v1alpha1.MeetingEnding || m.Annotations[v1alpha1.AnnotationRoomOpened] == ""
	return looked && m.Status.ParticipantCount == 0
}

// isDesertedEnd says that an end was confirmed already, or would be now.
func isDesertedEnd(m *v1alpha1.Meeting) bool { return meeting.IsLeaving(m) && isDeserted(m) }

// requestEnd writes down that a meeting is to end. A Meeting that the cache has as live is not read: if it is not as the cache has it, the
// write fails.
func (s *Service) requestEnd(ctx context.Context, t *tenant.Tenant, c EndCommand) (*v1alpha1.Meeting, error) {
	return s.inRoom(ctx, t, s.named(t, c.Room), func(live *v1alpha1.Meeting, first bool) (*v1alpha1.Meeting, error) {
		isAnother := live != nil && c.UID != "" && c.UID != string(live.UID)
		switch {
		case first && (live == nil || isAnother || meeting.IsLeaving(live)):
			return nil, errStale
		case live == nil, c.UID == "" && isDesertedEnd(live):
			return nil, errNoMeeting
		case isAnother:
			return nil, errEnded
		case meeting.IsLeaving(live):
			return live, nil
		}
		return s.Update(ctx, live, func(m *v1alpha1.Meeting) error {
			m.Spec.End = &v1alpha1.MeetingEnd{}
			if c.Redirect != nil {
				m.Spec.End.Redirect = ptr.To(v1alpha1.URL(*c.Redirect))
			}
			return nil
		})
	})
}
