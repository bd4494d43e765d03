// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	// attempts bounds how often a command that lost a race decides again: about six seconds, for a Meeting that many write to.
	attempts = 30
	// freeTimeout bounds the wait for a room whose meeting is just being ended. After freeAsk without news the cluster's API is asked.
	freeTimeout = 8 * time.Second
	freeAsk     = time.Second
)

var errManyMeetings = fault.TooMany(
	"This service has as many meetings as it may; end some, wait until ended ones are deleted, or ask the operator to raise spec.meetings.maxMeetings")

// Create makes a meeting. For a room that has a live one it answers that one where the values are the same, and a
// Conflict where they are not.
func (s *Service) Create(ctx context.Context, t *tenant.Tenant, c CreateCommand) (meeting.View, error) {
	if c.Room = s.named(t, c.Room); c.Room == "" {
		c.Room = uuid.NewString()
	}
	d := draftOf(t, c)
	return s.withRoom(ctx, t, c.Room, func(ctx context.Context, live *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
		if live == nil {
			return s.createFrom(ctx, t, &d)
		}
		now, err := s.refresh(ctx, live)
		if err != nil {
			return nil, err
		}
		return now, s.sameValues(ctx, now, c, &d.password)
	})
}

// refresh reads a live Meeting past the cache: another replica may have ended it a moment ago.
func (s *Service) refresh(ctx context.Context, cached *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
	now, err := s.relearn(ctx, client.ObjectKeyFromObject(cached), cached)
	if err != nil {
		return nil, err
	}
	if now == nil || now.UID != cached.UID || meeting.IsLeaving(now) {
		return nil, errStale
	}
	return now, nil
}

// withRoom finds the live Meeting of a room, nil when there is none, and hands it to act; again when act lost a race.
// A room whose meeting is being ended is waited for.
func (s *Service) withRoom(ctx context.Context, t *tenant.Tenant, room string, act func(context.Context, *v1alpha1.Meeting) (*v1alpha1.Meeting, error)) (meeting.View, error) {
	for attempt := 1; ; attempt++ {
		live := s.directory.Holder(t, room)
		if live != nil && meeting.IsLeaving(live) {
			if err := s.awaitOver(ctx, live); err != nil {
				return meeting.View{}, err
			}
			continue
		}
		got, err := act(ctx, live)
		if err == nil {
			return directory.View(t, got), nil
		}
		name, known := client.ObjectKey{Namespace: t.Namespace, Name: meeting.ObjectName(t.Name, room)}, live
		if live != nil {
			name = client.ObjectKeyFromObject(live)
		} else { // An ended Meeting may have the name.
			known = s.directory.Named(name.Namespace, name.Name)
		}
		if err := s.again(ctx, attempt, err, name, known); err != nil {
			return meeting.View{}, err
		}
	}
}

// awaitOver waits until a Meeting that is being ended has ended.
func (s *Service) awaitOver(ctx context.Context, m *v1alpha1.Meeting) error {
	ctx, cancel := context.WithTimeout(ctx, freeTimeout)
	defer cancel()
	var failed error
	for s.awaitNews(ctx, m) != nil {
		if ctx.Err() != nil {
			return fault.Unavailable("The room's last meeting is still being ended; try again in a moment").Because(errors.Join(ctx.Err(), failed))
		}
		_, failed = s.relearn(ctx, client.ObjectKeyFromObject(m), m)
	}
	return nil
}

// awaitNews is awaitOver for as long as nothing has to be asked.
func (s *Service) awaitNews(ctx context.Context, m *v1alpha1.Meeting) error {
	ctx, cancel := context.WithTimeout(ctx, freeAsk)
	defer cancel()
	return s.directory.Wait(ctx, m.UID, func(now *v1alpha1.Meeting) bool { return now == nil || meeting.IsOver(now) })
}

// draft is a Meeting to be created.
type draft struct {
	spec     v1alpha1.MeetingSpec
	password presented
	// after is the ended Meeting of the room, or nil, and continues is the same one if this Meeting continues it. Both outlast the
	// attempts to make this Meeting: the first of them deletes the ended one.
	after, continues *v1alpha1.Meeting
	// byLink says that a link starts the room again, with all that the ended Meeting had.
	byLink bool
	// opening is of a person who opens the room by entering it, or nil.
	opening *meeting.Opening
}

// isByPerson reports whether a person makes the Meeting by entering its room, and no backend.
func (d *draft) isByPerson() bool { return d.byLink || d.opening != nil }

func draftOf(t *tenant.Tenant, c CreateCommand) draft {
	d := draft{password: passwordOf(t, c.Password), spec: v1alpha1.MeetingSpec{
		Room: c.Room, Duration: c.Duration, Redirect: v1alpha1.URL(ptr.Deref(c.Redirect, "")),
	}}
	if c.MaxParticipants > 0 {
		d.spec.MaxParticipants = ptr.To(int32(c.MaxParticipants))
	}
	return d
}

// createFrom makes the Meeting of a draft under the room's own object name. An ended one of that name is replaced. Links of one that
// ended by itself work for the new one too, if the room's password stays the same: with another password they would let people
// in who do not know it.
func (s *Service) createFrom(ctx context.Context, t *tenant.Tenant, d *draft) (*v1alpha1.Meeting, error) {
	if err := s.forbidNew(t, d); err != nil {
		return nil, err
	}
	if ended := s.directory.LastEnded(t, d.spec.Room); ended != nil && !d.byLink {
		d.after, d.continues = ended, nil
		if meeting.Restartable(ended) && s.hasPassword(ctx, ended, &d.password) {
			d.continues = ended
		}
	}
	m := &v1alpha1.Meeting{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: t.Namespace,
			Name:      meeting.ObjectName(t.Name, d.spec.Room),
			Labels:    map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByAPI},
		},
		Spec: d.spec,
	}
	m.Spec.ConfigRef.Name = t.Name
	switch {
	case d.continues != nil:
		d.takeOver(m)
	case d.opening != nil:
		markOpening(m, d.opening)
	default:
		m.Annotations = map[string]string{v1alpha1.AnnotationLineage: uuid.NewString()}
		if d.after != nil && t.Settings.AdHoc != v1alpha1.AdHocNever {
			m.Annotations[v1alpha1.AnnotationEndedLineages] = meeting.WithEndedLineage(d.after)
		}
	}
	if most := m.Spec.MaxParticipants; most != nil { // What an older object or ticket has may be more than a new object can have.
		m.Spec.MaxParticipants = new(min(*most, v1alpha1.MaxParticipants))
	}
	s.placeFirst(t, m)
	if !d.password.isEmpty() {
		m.Spec.PasswordSecretRef = newPasswordRef(m.Name)
		// Now, so that no Meeting waits for its Secret.
		if _, err := d.password.hashed(ctx); err != nil {
			return nil, err
		}
	}
	if err := s.deleteEnded(ctx, t, m.Name); err != nil {
		return nil, err
	}
	if err := s.create(ctx, "meetings", m); err != nil {
		return nil, err
	}
	s.directory.Learn(m)
	return m, s.writePassword(ctx, m, &d.password)
}

// forbidNew says why a tenant may have no new meeting.
func (s *Service) forbidNew(t *tenant.Tenant, d *draft) error {
	switch {
	case t.Deleting:
		return fault.Unavailable("This service is being shut down and opens no new meetings; use another one")
	case s.directory.HasRoomFor(t, t.Settings.MaxMeetings):
		return nil
	case d.isByPerson():
		return errManyRooms
	}
	return errManyMeetings
}

// takeOver gives a Meeting what goes on from the Meeting that it continues.
func (d *draft) takeOver(m *v1alpha1.Meeting) {
	m.Annotations = continuing(d.continues)
	meeting.Carry(&m.Spec, &d.continues.Spec)
	if by := meeting.OpenedBy(d.continues); by != "" && d.isByPerson() {
		m.Labels[v1alpha1.LabelAdHoc] = by // The room still counts among those that people opened.
	}
}

// create makes an object of a resource.
func (s *Service) create(ctx context.Context, resource string, o client.Object) error {
	return s.withRights(right{"create", resource, o.GetNamespace()}, s.client.Create(ctx, o))
}

// placeFirst says where a Meeting is to be placed, so that it can be entered at once. With one media server that is clear.
func (s *Service) placeFirst(t *tenant.Tenant, m *v1alpha1.Meeting) {
	if at := s.firstPlace(t); at != (types.NamespacedName{}) {
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1alpha1.AnnotationMediaServer, at.String())
	}
}

// firstPlace is the media server for a new Meeting; empty where there is only one, or none to choose.
func (s *Service) firstPlace(t *tenant.Tenant) (at types.NamespacedName) {
	if len(t.Media) > 1 {
		at, _ = meeting.ChoosePlace(t.Places(s.directory.LoadFor(t.Namespace), (*tenant.Media).IsUnreachable))
	}
	return at
}

// continuing are the annotations of a Meeting that continues one that has ended.
func continuing(ended *v1alpha1.Meeting) map[string]string {
	annotations := map[string]string{v1alpha1.AnnotationLineage: meeting.Lineage(ended)}
	if ended.Spec.PasswordSecretRef == nil {
		// A password that is set later is another one than those of the lineage before.
		annotations[v1alpha1.AnnotationPasswordOf] = uuid.NewString()
	} else if of := ended.Annotations[v1alpha1.AnnotationPasswordOf]; of != "" {
		annotations[v1alpha1.AnnotationPasswordOf] = of
	}
	if lineages := ended.Annotations[v1alpha1.AnnotationEndedLineages]; lineages != "" {
		annotations[v1alpha1.AnnotationEndedLineages] = lineages
	}
	return annotations
}

// deleteEnded deletes the ended Meeting that has the object name. The UID and version make sure that it is that one and
// that it is still ended.
func (s *Service) deleteEnded(ctx context.Context, t *tenant.Tenant, name string) error {
	old := s.directory.Named(t.Namespace, name)
	if old == nil || !meeting.IsOver(old) {
		return nil
	}
	err := s.client.Delete(ctx, old.DeepCopy(), client.Preconditions{UID: &old.UID, ResourceVersion: &old.ResourceVersion})
	return s.withRights(right{"delete", "meetings", old.Namespace}, kube.IgnoreGone(err))
}

// sameValues compares what the request names with what there is. What it does not name may be anything: a join may have
// set a duration or a password since.
func (s *Service) sameValues(ctx context.Context, live *v1alpha1.Meeting, c CreateCommand, password *presented) error {
	differs := func(field string) error {
		return fault.Conflict("A meeting of this room is live with another %s; end it first, or ask for the same values", field)
	}
	switch {
	case c.Duration != "" && !meeting.SameLength(c.Duration, live.Spec.Duration):
		return differs("duration")
	case c.Redirect != nil && *c.Redirect != string(live.Spec.Redirect):
		return differs("redirect")
	case c.MaxParticipants != 0 && c.MaxParticipants != int(ptr.Deref(live.Spec.MaxParticipants, 0)):
		return differs("maxParticipants")
	case c.Password == nil:
		return nil
	case (*c.Password != "") != (live.Spec.PasswordSecretRef != nil):
		return differs("roomPassword")
	case *c.Password == "":
		return nil
	}
	same, err := s.provePassword(ctx, live, password)
	if err == nil && !same {
		return differs("roomPassword")
	}
	return err
}
