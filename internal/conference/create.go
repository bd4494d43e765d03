// SPDX-License-Identifier: Apache-2.0

package conference

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
	// freeTimeout bounds the wait for a room whose meeting is just being ended. After freeAsk without news the API server is asked.
	freeTimeout = 8 * time.Second
	freeAsk     = time.Second
	// makeTimeout bounds the writes that make a Meeting, when nobody waits for them any more.
	makeTimeout = meeting.PasswordWithin - 10*time.Second
	// knownWithin bounds how far the directory may be behind: a room that it does not have counts as new then. Another replica would have to make
	// a Meeting of the room, end it and make the next one in that time, each after the answer to the one before.
	knownWithin = 50 * time.Millisecond
)

var errManyMeetings = fault.TooMany(
	"This service has as many meetings as it may; end some, wait until ended ones are deleted, or ask the operator to raise spec.meetings.maxMeetings")

// Create makes a meeting. For a room that has a live one it answers that one where the values are the same, and a
// Conflict where they are not.
func (s *Service) Create(ctx context.Context, t *tenant.Tenant, c CreateCommand) (meeting.View, error) {
	if err := c.Validate(t.Settings); err != nil {
		return meeting.View{}, err
	}
	d := draftOf(t, c)
	if d.isNewRoom = c.Room == ""; d.isNewRoom {
		c.Room = uuid.NewString()
	}
	c.Room = s.named(t, c.Room)
	d.spec.Room = c.Room
	return s.withRoom(ctx, t, c.Room, func(ctx context.Context, live *v1alpha1.Meeting) (*v1alpha1.Meeting, error) {
		if live == nil {
			return s.createFrom(ctx, t, &d)
		}
		now, err := s.refresh(ctx, live)
		if err != nil {
			return nil, err
		}
		return now, s.sameValues(ctx, t, now, c, &d.password)
	})
}

// withRoom is inRoom for commands that need a room with a live Meeting or none: a room whose meeting is being ended is waited for.
func (s *Service) withRoom(ctx context.Context, t *tenant.Tenant, room string, act func(context.Context, *v1alpha1.Meeting) (*v1alpha1.Meeting, error)) (meeting.View, error) {
	got, err := s.inRoom(ctx, t, room, func(live *v1alpha1.Meeting, _ bool) (*v1alpha1.Meeting, error) {
		for live != nil && meeting.IsLeaving(live) {
			if err := s.awaitOver(ctx, live); err != nil {
				return nil, err
			}
			live = s.directory.Holder(t, room)
		}
		return act(ctx, live)
	})
	if err != nil {
		return meeting.View{}, err
	}
	return directory.View(t, got), nil
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
		_, failed = s.read(ctx, client.ObjectKeyFromObject(m), m)
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
	// needsPassword is that of a JoinCommand.
	needsPassword bool
	// restarts is the ended Meeting that a link starts again, with all that it had, or nil.
	restarts *v1alpha1.Meeting
	// isNewRoom says that the room's name was made up for this Meeting, so that nobody else can have made one.
	isNewRoom bool
	// opening is of a person who opens the room by entering it, or nil.
	opening *meeting.Opening
}

// isByPerson reports whether a person makes the Meeting by entering its room, and no backend.
func (d *draft) isByPerson() bool { return d.restarts != nil || d.opening != nil }

func draftOf(t *tenant.Tenant, c CreateCommand) draft {
	d := draft{password: passwordOf(t, c.Password), spec: v1alpha1.MeetingSpec{
		Room: c.Room, Duration: c.Duration, Redirect: v1alpha1.URL(ptr.Deref(c.Redirect, "")),
	}}
	if c.MaxParticipants > 0 {
		d.spec.MaxParticipants = ptr.To(int32(c.MaxParticipants))
	}
	return d
}

// createFrom makes the Meeting of a draft under one of the room's own object names, in place of the ended one that the room may have. Links
// of one that ended by itself work for the new one too, if the room's password stays the same: with another password they would let
// people in who do not know it.
func (s *Service) createFrom(ctx context.Context, t *tenant.Tenant, d *draft) (*v1alpha1.Meeting, error) {
	if err := s.forbidNew(t, d); err != nil {
		return nil, err
	}
	last := s.directory.LastEnded(t, d.spec.Room)
	free, other, err := s.freeName(ctx, t, d, last)
	if err != nil {
		return nil, err
	}
	continues, password, err := s.continued(ctx, t, d, last)
	if err != nil {
		return nil, err
	}
	m := &v1alpha1.Meeting{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: t.Namespace,
			Name:      free,
			Labels:    map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByAPI},
		},
		Spec: d.spec,
	}
	m.Spec.ConfigRef.Name = t.Name
	switch {
	case continues != nil:
		d.takeOver(t, m, continues)
	case d.opening != nil:
		markOpening(m, d.opening)
	default:
		m.Annotations = map[string]string{v1alpha1.AnnotationLineage: uuid.NewString()}
		if last != nil && t.Settings.AdHoc != v1alpha1.AdHocNever {
			m.Annotations[v1alpha1.AnnotationEndedLineages] = meeting.WithEndedLineage(last)
		}
	}
	if most := m.Spec.MaxParticipants; most != nil { // What an older object or ticket has may be more than a new object can have.
		m.Spec.MaxParticipants = new(min(*most, v1alpha1.MaxParticipants))
	}
	s.placeFirst(t, m)
	if !password.isEmpty() {
		m.Spec.PasswordSecretRef = newPasswordRef(m.Name)
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1alpha1.AnnotationPasswordRequested, s.now().UTC().Format(time.RFC3339))
		// Now, so that no Meeting waits for its Secret.
		if _, err := password.hashed(ctx); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), makeTimeout)
	defer cancel()
	return m, s.replace(ctx, m, password, other)
}

// continued is the ended Meeting that the Meeting of a draft continues, or nil, and the password of the new one. Where the draft names no
// password, the room keeps its own.
func (s *Service) continued(ctx context.Context, t *tenant.Tenant, d *draft, last *v1alpha1.Meeting) (*v1alpha1.Meeting, *presented, error) {
	from, same, err := d.restarts, true, error(nil)
	if from == nil && last != nil && meeting.Restartable(last) {
		from = last
	}
	password := &d.password
	switch {
	case from == nil:
	case d.password.given:
		same, err = s.hasPassword(ctx, t, from, password)
	case from.Spec.PasswordSecretRef != nil:
		password = &presented{turn: d.password.turn}
		password.plain, err = s.readPassword(ctx, t, from)
	}
	switch {
	case d.restarts == nil && kube.AnswerOf(err) == kube.Gone: // Somebody has deleted the Secret: nobody knows the password.
		return nil, &d.password, nil
	case err == nil && password != &d.password && d.needsPassword:
		return nil, nil, errWrongPassword
	case err != nil || !same:
		return nil, &d.password, err
	}
	return from, password, nil
}

// freeName is the object name for the next Meeting of a room, and the ended Meeting that has the other one of the room's two names, or nil. That
// one stays until the next is there: it alone has who was removed, the lock, the password and the lineage of the room's links. errStale says that
// the API server has another last Meeting than this replica knew. For a new room nothing is read. Whether the name is free, the create tells.
func (s *Service) freeName(ctx context.Context, t *tenant.Tenant, d *draft, last *v1alpha1.Meeting) (free string, other *v1alpha1.Meeting, err error) {
	room := d.spec.Room
	names := meeting.ObjectNames(t.Name, room)
	if d.isNewRoom || last == nil && s.directory.Lag() < knownWithin {
		return names[0], nil, nil
	}
	if last != nil && last.Name == names[0] {
		slices.Reverse(names[:])
	}
	key := client.ObjectKey{Namespace: t.Namespace, Name: names[1]}
	if other, err = s.read(ctx, key, s.directory.Named(key.Namespace, key.Name)); err != nil {
		return "", nil, err
	}
	if now := s.directory.LastEnded(t, room); s.directory.Holder(t, room) != nil || (now == nil) != (last == nil) || now != nil && now.UID != last.UID {
		return "", nil, errStale
	}
	return names[0], other, nil
}

// replace makes a Meeting and its password, and deletes the ended Meeting that has the other name, or nil. Whatever fails, the room has the new
// one with all that was asked for, or the ended one: a Meeting without its password is finished by the next command that needs it, or else deleted
// by the controllers. Another command may have been answered that the Meeting is there. The context must not end with a request, which may be
// given up between two writes.
func (s *Service) replace(ctx context.Context, m *v1alpha1.Meeting, password *presented, other *v1alpha1.Meeting) error {
	if before := s.directory.Named(m.Namespace, m.Name); before != nil && meeting.IsOver(before) { // Another has followed it already.
		if err := s.delete(ctx, before); err != nil {
			return err
		}
	}
	begun := time.Now()
	if err := s.client.Create(ctx, m); err != nil {
		return err
	}
	s.directory.Made(m, begun)
	if err := s.writePassword(ctx, m, password); err != nil {
		return err
	}
	// One that cannot be deleted is deleted by the controllers.
	if other != nil && kube.AnswerOf(s.delete(ctx, other)) == kube.Conflict { // Others have made two more since it was read.
		return cmp.Or(s.delete(ctx, m), errStale)
	}
	s.directory.Learn(m)
	return nil
}

// forbidNew says why a tenant may have no new meeting.
func (s *Service) forbidNew(t *tenant.Tenant, d *draft) error {
	switch {
	case t.Deleting:
		return fault.Unavailable("The ConferenceConfig of this service is being deleted; it opens no new meetings")
	case s.directory.HasRoomFor(t, t.Settings.MaxMeetings):
		return nil
	case d.isByPerson():
		return errManyRooms
	}
	return errManyMeetings
}

// takeOver gives a Meeting what goes on from the Meeting that it continues.
func (d *draft) takeOver(t *tenant.Tenant, m, continues *v1alpha1.Meeting) {
	m.Annotations = continuing(continues)
	meeting.Carry(&m.Spec, meeting.Lasting(t.Settings, continues))
	if by := meeting.OpenedBy(continues); by != "" && d.isByPerson() {
		m.Labels[v1alpha1.LabelAdHoc] = by // The room still counts among those that people opened.
	}
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
	if lineages := ended.Annotations[v1alpha1.AnnotationEndedLineages]; lineages != "" {
		annotations[v1alpha1.AnnotationEndedLineages] = lineages
	}
	return annotations
}

// sameValues compares what the request names with what there is. What it does not name may be anything: a join may have
// set a duration or a password since.
func (s *Service) sameValues(ctx context.Context, t *tenant.Tenant, live *v1alpha1.Meeting, c CreateCommand, password *presented) error {
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
	case c.Password == nil && live.Annotations[v1alpha1.AnnotationPasswordRequested] != "" && !meeting.Entered(live):
		_, err := s.readPassword(ctx, t, live) // It is answered that the Meeting is there: it must be complete.
		return err
	case c.Password == nil:
		return nil
	case (*c.Password != "") != (live.Spec.PasswordSecretRef != nil):
		return differs("roomPassword")
	case *c.Password == "":
		return nil
	}
	same, err := s.provePassword(ctx, t, live, password)
	if err == nil && !same {
		return differs("roomPassword")
	}
	return err
}
