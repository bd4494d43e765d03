// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

var errLeft = fault.NotFound("That participant has left the meeting already")

// errLeftUnnamed is for a ban of one whose username is not known any more.
var errLeftUnnamed = fault.NotFound("That participant has left the meeting already; to ban the user, use the identity \"user:<username>\"")

// actsAtOnce bounds how many participants of one room are changed at the same time.
const actsAtOnce = 16

// Change changes a live meeting, and then what its participants may do and what their pages are told. What is decided is written
// down first: the other way round the controllers would undo it. Late is why it is not true for all participants yet, or nil; the
// controllers see to it then.
func (s *Service) Change(ctx context.Context, t *tenant.Tenant, v meeting.View, change func(*v1alpha1.MeetingSpec)) (now meeting.View, late, err error) {
	now, err = s.meetings.Change(ctx, t, v.UID, change)
	if err != nil {
		return now, nil, err
	}
	if v.HasWaitingRoom() || now.HasWaitingRoom() {
		late = tellDoor(ctx, t, now)
	}
	if late != nil || !now.Opened {
		return now, late, nil
	}
	if late := act(ctx, t, now, now.EngineRoom, engine.Tell{State: now.State()}); late != nil {
		return now, late, nil
	}
	people, late := s.Participants(ctx, t, now)
	if late == nil {
		late = carryOut(ctx, t, now, people)
	}
	return now, late, nil
}

// Decide changes what is decided about one participant, who may be a user as meeting.UserIdentity has it, and carries it out for
// all devices that came with the same credential. Late is as for Change.
func (s *Service) Decide(
	ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity, change func(*v1alpha1.ParticipantDecision),
) (late, err error) {
	_, late, err = s.decideListed(ctx, t, v, who, func(spec *v1alpha1.MeetingSpec, _ string) { meeting.Decide(spec, who, change) })
	return late, err
}

// decideListed is decide for a participant whom the media server lists, or who is known. It returns whom the media server lists.
func (s *Service) decideListed(
	ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity, change func(spec *v1alpha1.MeetingSpec, username string),
) (all everyone, late, err error) {
	if all, err = s.everyoneIn(ctx, t, v); err != nil {
		return all, nil, err
	}
	late, err = s.decide(ctx, t, v, who, all, s.isKnown(v, who), change)
	return all, late, err
}

// Remove disconnects a participant, who cannot come back with the same link, token or login. A participant who is banned cannot come back with
// another one of the same user either.
func (s *Service) Remove(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity, ban bool) (late, err error) {
	known := s.isKnown(v, who)
	if _, user := meeting.UserOf(who); ban && !user {
		// Without the list nobody knows the username. The second call for one who was removed is no error.
		known = v.DecisionOn("", who).Removed
	}
	all, err := s.everyoneIn(ctx, t, v)
	if err != nil {
		return s.removeUnlisted(ctx, t, v, who, err)
	}
	late, err = s.decide(ctx, t, v, who, all, known, func(spec *v1alpha1.MeetingSpec, username string) {
		meeting.Decide(spec, who, removed)
		if ban && username != "" {
			meeting.Decide(spec, meeting.UserIdentity(username), removed)
		}
	})
	if ban && errors.Is(err, errLeft) {
		err = errLeftUnnamed
	}
	return late, err
}

func removed(d *v1alpha1.ParticipantDecision) { d.Removed = true }

// errUnlisted is for a removal while the media server does not list the participants.
var errUnlisted = fault.Unavailable("That participant is removed, but other sessions of the same link could not be checked; try again in a moment")

// removeUnlisted removes a participant by identity alone: others can have the media server keep so much about them that it gives no list.
func (s *Service) removeUnlisted(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity, why error) (late, err error) {
	now, err := s.meetings.Change(ctx, t, v.UID, func(spec *v1alpha1.MeetingSpec) {
		meeting.Decide(spec, who, removed)
	})
	if err != nil {
		return nil, err
	}
	rooms := []engine.RoomName{now.EngineRoom}
	if now.HasWaitingRoom() {
		rooms = append(rooms, meeting.WaitingRoom(now.EngineRoom))
	}
	for _, room := range rooms {
		if late := act(ctx, t, now, room, engine.Remove{Who: who}); late != nil {
			return late, nil
		}
	}
	return errUnlisted.Because(why), nil
}

// everyone holds the participants who are in a meeting, and those who wait at its door.
type everyone struct{ people, door []engine.Participant }

func (s *Service) everyoneIn(ctx context.Context, t *tenant.Tenant, v meeting.View) (all everyone, err error) {
	if all.people, err = s.Participants(ctx, t, v); err != nil {
		return all, err
	}
	all.door, err = inWaitingRoom(ctx, t, v, peopleIn)
	return all, err
}

// find reports false for one who is not listed.
func (e everyone) find(who engine.Identity) (p engine.Participant, found bool) {
	all := slices.Concat(e.people, e.door)
	at := slices.IndexFunc(all, func(p engine.Participant) bool { return p.Identity == who })
	if at < 0 {
		return p, false
	}
	return all[at], true
}

// concerned are those in the meeting about whom a decision about one is: who came with the same credential, or as the same user.
func (e everyone) concerned(who engine.Identity) []engine.Participant {
	one, _ := e.find(who)
	return slices.DeleteFunc(slices.Clone(e.people), func(p engine.Participant) bool {
		sameUser := p.Username != "" && (p.Username == one.Username || meeting.UserIdentity(p.Username) == who)
		return meeting.Origin(p.Identity) != meeting.Origin(who) && !sameUser
	})
}

// decide has a change told the username of the participant; it is empty for a guest, and for one who is not listed. Known says that
// something can be decided about one who is not listed.
func (s *Service) decide(
	ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity, listed everyone, known bool,
	change func(spec *v1alpha1.MeetingSpec, username string),
) (late, err error) {
	people, door := listed.people, listed.door
	one, found := listed.find(who)
	if !found && !known {
		return nil, s.errAbsent(v, who)
	}
	now, err := s.meetings.Change(ctx, t, v.UID, func(spec *v1alpha1.MeetingSpec) { change(spec, one.Username) })
	if err != nil {
		return nil, err
	}
	if err := carryOut(ctx, t, now, listed.concerned(who)); err != nil {
		return err, nil
	}
	if len(door) > 0 {
		actions := now.AtTheDoor(engine.RoomState{}, door, meeting.HasPresenter(people))
		if err := actAll(ctx, t, now, meeting.WaitingRoom(now.EngineRoom), actions); err != nil {
			return err, nil
		}
	}
	if !found && s.isComing(v, who) {
		return errNotListed, nil
	}
	return nil, nil
}

// isComing says that a participant is connected through this replica, in the meeting or waiting for it.
func (s *Service) isComing(v meeting.View, who engine.Identity) bool {
	return s.places.has(v.EngineRoom, who) || s.places.has(meeting.WaitingRoom(v.EngineRoom), who)
}

// errNotListed is for what was decided about a participant who is on the way in: the media server does not list them yet.
var errNotListed = fault.Unavailable("Saved; it applies once that participant has connected")

// errComing is for an act that did nothing, about a participant who is on the way in.
var errComing = fault.Unavailable("That participant is still connecting; try again in a moment")

// errAbsent is for an act that did nothing because the participant is not listed.
func (s *Service) errAbsent(v meeting.View, who engine.Identity) error {
	if s.isComing(v, who) {
		return errComing
	}
	return errLeft
}

// isKnown says that something can be decided about a participant whom the engine does not list: a user, one who is just coming in,
// and one about whom something was decided before.
func (s *Service) isKnown(v meeting.View, who engine.Identity) bool {
	_, user := meeting.UserOf(who)
	return user || s.isComing(v, who) || v.IsDecided(who)
}

// errNoUser is for a decision about a username that is nobody's here.
var errNoUser = fault.NotFound("There is no such user in this meeting; name a participant")

// CheckUser refuses the usernames about which presenters decide nothing: they are of no user of the tenant, nobody with such a name is listed, and
// nothing is decided about it. A presenter could fill the list of decisions with invented names.
func (s *Service) CheckUser(ctx context.Context, t *tenant.Tenant, v meeting.View, username string) error {
	_, known := t.Users.Fingerprint(username)
	if known || t.Presenters[username] || v.IsDecided(meeting.UserIdentity(username)) {
		return nil
	}
	all, err := s.everyoneIn(ctx, t, v)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(slices.Concat(all.people, all.door), func(p engine.Participant) bool { return p.Username == username }) {
		return errNoUser
	}
	return nil
}

// Refusals of a promoted presenter.
var (
	errOutranked  = fault.Denied("You were made a presenter in this meeting; you cannot do that to one who came as a presenter")
	errRankOfUser = fault.Denied("You were made a presenter in this meeting; name a participant, not a user")
)

// CheckRank refuses an act of a promoted presenter on a presenter who outranks them. It also refuses to promote a participant who came as a
// presenter and was demoted: the participant would outrank them again. It refuses every act on a participant who is not listed, and on a user:
// the participant may be on the way back, and the user may hold other links, and nobody can say whether these make a presenter. What counts is
// what is decided on the cluster: another replica may have written it a moment ago.
func (s *Service) CheckRank(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity, promotes bool) error {
	if _, user := meeting.UserOf(who); user {
		return errRankOfUser
	}
	v, err := s.meetings.Change(ctx, t, v.UID, func(*v1alpha1.MeetingSpec) {})
	if err != nil {
		return err
	}
	all, err := s.everyoneIn(ctx, t, v)
	if err != nil {
		return err
	}
	p, found := all.find(who)
	switch {
	case !found:
		return s.errAbsent(v, who)
	case v.RightsOf(p).OutrankPromoted(), promotes && p.Granted:
		return errOutranked
	}
	return nil
}

// carryOut removes those who were removed, and gives all others the rights that they should have. One who has left needs nothing.
func carryOut(ctx context.Context, t *tenant.Tenant, v meeting.View, people []engine.Participant) error {
	var actions []engine.Action
	for _, p := range people {
		if action := v.Correction(p); action != nil {
			actions = append(actions, action)
		}
	}
	return actAll(ctx, t, v, v.EngineRoom, actions)
}

// actAll does something for many people in one of the rooms of a meeting. For one who has left there is nothing to do.
func actAll(ctx context.Context, t *tenant.Tenant, v meeting.View, room engine.RoomName, actions []engine.Action) error {
	acts, ctx := errgroup.WithContext(ctx)
	acts.SetLimit(actsAtOnce)
	for _, action := range actions {
		acts.Go(func() error {
			err := act(ctx, t, v, room, action)
			if fault.Is(err, fault.KindNotFound) {
				return nil
			}
			return err
		})
	}
	return acts.Wait()
}

// SetHand raises or lowers a participant's hand.
func (s *Service) SetHand(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity, raised bool) error {
	return s.actOn(ctx, t, v, who, engine.Hand{Who: who, Raised: raised})
}

// Participants are all who are in a meeting, oldest first, as the media server lists them.
func (s *Service) Participants(ctx context.Context, t *tenant.Tenant, v meeting.View) ([]engine.Participant, error) {
	if !v.Opened {
		_, err := mediaOf(t, v)
		return nil, err
	}
	return peopleIn(ctx, t, v, v.EngineRoom)
}

// actOn does something for a participant who is in.
func (s *Service) actOn(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity, action engine.Action) error {
	in, err := s.IsIn(ctx, t, v, who)
	if err != nil {
		return err
	}
	if !in {
		return errLeft
	}
	err = act(ctx, t, v, v.EngineRoom, action)
	if fault.Is(err, fault.KindNotFound) {
		return errLeft.Because(err)
	}
	return err
}
