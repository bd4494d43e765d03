// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"cmp"
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	view, old, err := s.find(ctx, t, room, lineage)
	if old == nil {
		return view, err
	}
	return s.restart(ctx, t, old.Spec.Room, func(m *v1alpha1.Meeting) error {
		if isOfLink(m, lineage) || s.gaveBack(t, m, lineage) {
			return nil
		}
		return errEnded
	})
}

// Preview finds what Enter does, and changes nothing: a meeting that Enter would start again is shown as it would be. Opens says that the
// person may open rooms: a room without a meeting that Open would make is then shown without a UID.
func (s *Service) Preview(ctx context.Context, t *tenant.Tenant, room, lineage string, opens bool) (meeting.View, error) {
	view, old, err := s.find(ctx, t, room, lineage)
	switch {
	case old != nil:
		next := old.DeepCopy()
		meeting.Carry(&next.Spec, meeting.Lasting(t.Settings, old))
		view = directory.View(t, next)
		view.Ended, view.MediaServer = false, s.firstPlace(t)
		err = s.allowRestart(t, old)
	case opens && fault.Is(err, fault.KindNotFound):
		view.Room, view.MediaServer = s.named(t, room), s.firstPlace(t)
		err = s.forbidOpening(t, meeting.Opening{Room: view.Room, Lineage: lineage}, nil)
	}
	return view, err
}

// find finds the live meeting of a room, as the API server has it: removals, a lock and a password hold on every replica. Without one, old
// is the last meeting of the room, if the link starts that meeting again.
func (s *Service) find(ctx context.Context, t *tenant.Tenant, room, lineage string) (view meeting.View, old *v1alpha1.Meeting, err error) {
	room = s.named(t, room)
	live, err := s.Holder(ctx, t, room)
	if err != nil {
		return view, nil, asFault(err)
	}
	switch {
	case live == nil:
		return s.findEnded(t, room, lineage)
	case meeting.IsLeaving(live):
		return startedAgain(t, live, lineage)
	case !isOfLink(live, lineage) && !s.gaveBack(t, live, lineage):
		return meeting.View{Ended: true}, nil, errEnded
	}
	return directory.View(t, live), nil, nil
}

// isOfLink reports whether a link opens a Meeting: one of the ticket's lineage, or any for a room link, which has none.
func isOfLink(m *v1alpha1.Meeting, lineage string) bool {
	return lineage == "" || lineage == meeting.Lineage(m)
}

// gaveBack says that a link is of a Meeting that the API made, and that gave the room back to a standing one. It would have
// started the room again. A password that it does not stand for is asked for.
func (s *Service) gaveBack(t *tenant.Tenant, live *v1alpha1.Meeting, lineage string) bool {
	last := s.directory.LastEnded(t, live.Spec.Room)
	return last != nil && meeting.Stands(live) && !meeting.Stands(last) && meeting.Restartable(last) && lineage == meeting.Lineage(last)
}

var errEnded = fault.Gone("This meeting has ended; ask for a new link")

// findEnded finds the ended meeting of a room whose links still work.
func (s *Service) findEnded(t *tenant.Tenant, room, lineage string) (view meeting.View, old *v1alpha1.Meeting, err error) {
	old = s.directory.LastEnded(t, room)
	switch {
	case old == nil && lineage != "":
		return meeting.View{Ended: true}, nil, errEnded
	case old == nil:
		return view, nil, fault.NotFound("There is no meeting of this name; check the link, or ask for a new one")
	}
	return startedAgain(t, old, lineage)
}

// startedAgain returns a meeting that has ended or is being ended, if the link starts it again. Otherwise, it returns its view and
// errEnded.
func startedAgain(t *tenant.Tenant, m *v1alpha1.Meeting, lineage string) (view meeting.View, old *v1alpha1.Meeting, err error) {
	if !meeting.Restartable(m) || !isOfLink(m, lineage) {
		return directory.View(t, m), nil, errEnded
	}
	return view, m, nil
}

// restart makes a meeting with the settings of the last one of a room, where its links still work. MayEnter is asked about that one, and about
// a live one that another has made meanwhile.
func (s *Service) restart(ctx context.Context, t *tenant.Tenant, room string, mayEnter func(*v1alpha1.Meeting) error) (meeting.View, error) {
	return s.withRoom(ctx, t, room, func(ctx context.Context, live *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
		if live != nil {
			return live, mayEnter(live)
		}
		old := s.directory.LastEnded(t, room)
		if old == nil || !meeting.Restartable(old) {
			return nil, errEnded
		}
		if err := cmp.Or(mayEnter(old), s.allowRestart(t, old)); err != nil {
			return nil, err
		}
		d := draft{spec: *old.Spec.DeepCopy(), password: passwordOf(t, nil), restarts: old}
		d.spec.End, d.spec.PasswordSecretRef = nil, nil
		return s.createFrom(ctx, t, &d)
	})
}

// MarkOpened writes down that a room may exist in the engine, before it is made there. Gone when the meeting is
// being ended meanwhile.
func (s *Service) MarkOpened(ctx context.Context, t *tenant.Tenant, v meeting.View, leader engine.Identity, username string) (meeting.View, error) {
	if v.Opened {
		return v, nil
	}
	m, err := s.change(ctx, t, v.UID, func(m *v1alpha1.Meeting) error {
		if m.Annotations[v1alpha1.AnnotationRoomOpened] == "" {
			metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1alpha1.AnnotationRoomOpened, s.now().UTC().Format(time.RFC3339))
			meeting.Lead(m, leader, username)
		}
		return nil
	})
	if err != nil {
		return v, err
	}
	return directory.View(t, m), nil
}
