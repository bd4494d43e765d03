// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"slices"
	"strings"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Enter finds the live meeting of a room for a guest who holds a link, and starts again one that ended unjoined or
// empty. lineage is that of a ticket, or empty for a room link. With a Gone error comes a view that says where the
// others went.
func (s *Service) Enter(ctx context.Context, t *tenant.Tenant, room, lineage string) (meeting.View, error) {
	s.directory.CatchUp(ctx)
	live := s.directory.Holder(t, room)
	if live == nil && lineage != "" {
		var err error
		if live, err = s.readLive(ctx, t, room); err != nil {
			return meeting.View{}, asFault(err)
		}
	}
	if live != nil && meeting.IsLeaving(live) {
		return directory.View(t, live), ended()
	}
	if live == nil {
		return s.restart(ctx, t, room, lineage)
	}
	if lineage != "" && lineage != meeting.Lineage(live) && !s.gaveBack(t, live, lineage) {
		return meeting.View{Ended: true}, ended()
	}
	return directory.View(t, live), nil
}

// gaveBack says that a link is of a Meeting that the API made, and that gave the room back to a standing one. It would have
// started the room again. A password that it does not stand for is asked for.
func (s *Service) gaveBack(t *tenant.Tenant, live *v1alpha1.Meeting, lineage string) bool {
	last := s.directory.LastEnded(t, live.Spec.Room)
	return last != nil && meeting.Stands(live) && !meeting.Stands(last) && meeting.Restartable(last) && lineage == meeting.Lineage(last)
}

func ended() error {
	return fault.Gone("This meeting has ended; ask for a new link")
}

// restart makes a meeting with the settings of one whose links still work.
func (s *Service) restart(ctx context.Context, t *tenant.Tenant, room, lineage string) (meeting.View, error) {
	old := s.directory.LastEnded(t, room)
	switch {
	case old == nil && lineage != "":
		return meeting.View{Ended: true}, ended()
	case old == nil:
		return meeting.View{}, fault.NotFound("There is no meeting of this name; check the link, or ask for a new one")
	case !meeting.Restartable(old), lineage != "" && lineage != meeting.Lineage(old):
		return directory.View(t, old), ended()
	}
	d := draft{spec: *old.Spec.DeepCopy(), continues: old, byLink: true}
	d.spec.End = nil
	if old.Spec.PasswordSecretRef != nil {
		// The Secret may go with the object that it belongs to.
		var err error
		if d.password, err = s.readPassword(ctx, old); err != nil {
			return meeting.View{}, err
		}
		d.spec.PasswordSecretRef = nil
	}
	return s.withRoom(ctx, t, room, func(ctx context.Context, live *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
		if live != nil {
			return live, nil
		}
		return s.createFrom(ctx, t, &d)
	})
}

// MarkOpened writes down that a room may exist in the engine, before it is made there. Gone when the meeting is
// being ended meanwhile.
func (s *Service) MarkOpened(ctx context.Context, t *tenant.Tenant, v meeting.View) error {
	if v.Opened {
		return nil
	}
	return s.annotate(ctx, t, v.UID, func(m *v1alpha1.Meeting) (string, string) {
		if at := m.Annotations[v1alpha1.AnnotationRoomOpened]; at != "" {
			return v1alpha1.AnnotationRoomOpened, at
		}
		return v1alpha1.AnnotationRoomOpened, s.now().UTC().Format(time.RFC3339)
	})
}

// MarkRemoved writes down that a presenter removed a participant, so that no replica lets that one in again.
func (s *Service) MarkRemoved(ctx context.Context, t *tenant.Tenant, uid string, who engine.Identity) error {
	return s.enlist(ctx, t, uid, v1alpha1.AnnotationRemoved, meeting.Removed, who)
}

// MarkMuted writes down that a presenter muted a participant, so that coming back does not undo it.
func (s *Service) MarkMuted(ctx context.Context, t *tenant.Tenant, uid string, who engine.Identity) error {
	return s.enlist(ctx, t, uid, v1alpha1.AnnotationMuted, meeting.Muted, who)
}

// MarkUnmuted writes down that a presenter lets a muted participant speak again, on every device that came with the same
// credential.
func (s *Service) MarkUnmuted(ctx context.Context, t *tenant.Tenant, uid string, who engine.Identity) error {
	return s.annotate(ctx, t, uid, func(m *v1alpha1.Meeting) (string, string) {
		left := slices.DeleteFunc(meeting.Muted(m), func(muted engine.Identity) bool {
			return meeting.Listed([]engine.Identity{muted}, who)
		})
		return v1alpha1.AnnotationMuted, listOf(left)
	})
}

// enlist adds an identity to a list that a Meeting carries.
func (s *Service) enlist(
	ctx context.Context, t *tenant.Tenant, uid, annotation string, list func(*v1alpha1.Meeting) []engine.Identity, who engine.Identity,
) error {
	return s.annotate(ctx, t, uid, func(m *v1alpha1.Meeting) (string, string) {
		all := list(m)
		if !slices.Contains(all, who) {
			all = append(all, who)
		}
		return annotation, listOf(all)
	})
}

// listOf is a list of identities as an annotation has it.
func listOf(all []engine.Identity) string {
	ids := make([]string, len(all))
	for i, id := range all {
		ids[i] = string(id)
	}
	return strings.Join(ids, ",")
}

// annotate writes one annotation of a live Meeting, unless it has that value.
func (s *Service) annotate(ctx context.Context, t *tenant.Tenant, uid string, value func(*v1alpha1.Meeting) (key, value string)) error {
	for attempt := 1; ; attempt++ {
		m, err := s.current(t, uid)
		if err != nil {
			return err
		}
		if meeting.IsLeaving(m) {
			return ended()
		}
		key, val := value(m)
		if m.Annotations[key] == val {
			return nil
		}
		noted := m.DeepCopy()
		if noted.Annotations == nil {
			noted.Annotations = map[string]string{}
		}
		noted.Annotations[key] = val
		write, cancel := context.WithTimeout(ctx, writeTimeout)
		err = s.patch(write, m, noted)
		cancel()
		if err == nil || !retriable(err) || attempt == attempts {
			return asFault(err)
		}
		pause(ctx, attempt)
	}
}
