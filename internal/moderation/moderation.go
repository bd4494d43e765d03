// SPDX-License-Identifier: Apache-2.0

// Package moderation carries out what presenters and backends decide in a meeting. One table has all commands; the page's acts and the REST API
// are readers of it.
package moderation

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Meetings writes down what is decided. Its errors are faults.
type Meetings interface {
	// Change changes a live meeting, in one write, and shows the meeting as it is then. Change returns the error of the function, and then has
	// written nothing.
	Change(ctx context.Context, t *tenant.Tenant, uid string, change func(*v1alpha1.MeetingSpec) error) (meeting.View, error)
}

// Service carries out commands.
type Service struct {
	meetings Meetings
	entry    *admission.Service
}

// New makes a Service. Entry has the participants who are connected through this replica.
func New(meetings Meetings, entry *admission.Service) *Service { return &Service{meetings, entry} }

// Outcome is the result of an order.
type Outcome struct {
	// View is the meeting as it is then.
	View meeting.View
	// Late is the error that kept what was written down from taking effect for all participants, or nil. The controllers carry it out then.
	Late error
	// Acts is the number of further actions of the media server.
	Acts int
}

// Participants lists the participants in a meeting, oldest first, as the media server has them.
func (*Service) Participants(ctx context.Context, t *tenant.Tenant, v meeting.View) ([]engine.Participant, error) {
	return admission.Participants(ctx, t, v)
}

// Waiting lists the participants who wait to be let into a meeting, the longest wait first.
func (s *Service) Waiting(ctx context.Context, t *tenant.Tenant, v meeting.View) ([]engine.Participant, error) {
	return s.entry.Waiting(ctx, t, v)
}

// job is one order on its way.
type job struct {
	*Service
	tenant   *tenant.Tenant
	view     meeting.View
	commands []Command
	sum      Command
	facts    Facts
	// unlisted is the error for which the media server gave no list of participants, where the job goes on without a list.
	unlisted error
}

// Do carries out an order. What lasts is written down first: the other way round the controllers would undo it.
func (s *Service) Do(ctx context.Context, t *tenant.Tenant, v meeting.View, o Order) (done Outcome, err error) {
	j := &job{Service: s, tenant: t, view: v, facts: Facts{Order: o, Control: v.Control}}
	if j.commands, j.sum, err = o.commands(); err != nil {
		return done, err
	}
	if !j.sum.OnOne && !j.sum.Alone {
		j.facts.To = ""
	}
	if err := j.validate(); err != nil {
		return done, err
	}
	if err := j.prepare(ctx); err != nil {
		return done, err
	}
	written := slices.ContainsFunc(j.commands, j.writes)
	if written {
		if j.view, err = s.meetings.Change(ctx, t, v.UID, j.apply); err != nil {
			return done, err
		}
		done.Late = j.carryOut(ctx, v.HasWaitingRoom())
	}
	done.View = j.view
	if done.Late == nil {
		done.Acts, err = j.act(ctx)
		if written {
			done.Late = err
		}
	}
	if !j.sum.Lasts || !written || fault.Is(done.Late, fault.KindConflict) {
		return done, cmp.Or(err, done.Late) // The controllers carry out only what lasts, and what the media server does not refuse.
	}
	return done, nil
}

// writes reports whether a command has something to write down.
func (j *job) writes(c Command) bool { return c.Apply != nil && (c.If == nil || c.If(j.facts)) }

// validate refuses an order that lacks a participant, names the actor, or names what is no identity.
func (j *job) validate() error {
	f := &j.facts
	switch {
	case j.sum.OnOne && f.To == "":
		return fault.Invalid("identity", "identity is required; name the participant")
	case j.sum.OnSelf != "" && f.By != nil && f.To == f.By.Identity:
		return fault.Invalid("identity", "%s", j.sum.OnSelf)
	case f.To != "":
		return meeting.ValidateIdentity("identity", f.To)
	}
	return nil
}

// prepare lists the participants, and refuses what cannot be done.
func (j *job) prepare(ctx context.Context) error {
	f := &j.facts
	switch {
	case j.sum.Alone:
		return j.checkIn(ctx)
	case f.To == "" && !j.sum.Lists && !j.sum.ListsDoor:
		return nil
	}
	_, user := meeting.UserOf(f.To)
	j.unlisted = j.list(ctx)
	switch {
	case j.unlisted != nil && (!j.sum.Removes || j.sum.NeedsName && !user):
		return j.unlisted
	case f.To == "":
		return nil
	}
	if err := j.checkUser(); err != nil || j.unlisted != nil {
		return err
	}
	return j.checkThere()
}

// list reads from the media server the participants in the meeting and in its waiting room.
func (j *job) list(ctx context.Context) (err error) {
	f := &j.facts
	if f.To != "" || j.sum.Lists || j.view.Admission == v1alpha1.AdmissionWithPresenter {
		if f.People, err = j.Participants(ctx, j.tenant, j.view); err != nil {
			return err
		}
	}
	if j.view.HasWaitingRoom() && (f.To != "" || j.sum.ListsDoor) {
		if f.Door, err = admission.PeopleIn(ctx, j.tenant, j.view, meeting.WaitingRoom(j.view.EngineRoom)); err != nil {
			return err
		}
	}
	all := slices.Concat(f.People, f.Door)
	if at := slices.IndexFunc(all, func(p engine.Participant) bool { return p.Identity == f.To }); at >= 0 {
		f.One, f.Found = all[at], true
	}
	return nil
}

// apply writes down what is decided, unless a promoted presenter may not. What counts is what the cluster has: another replica may have
// written it a moment ago.
func (j *job) apply(spec *v1alpha1.MeetingSpec) error {
	now := meeting.ControlOf(j.tenant.Settings, spec)
	if err := j.checkActor(now); err != nil {
		return err
	}
	if err := j.checkRank(now); err != nil {
		return err
	}
	j.facts.Control = now
	for _, c := range j.commands {
		if j.writes(c) {
			c.Apply(spec, j.facts)
		}
	}
	// A promotion must not make a demoted presenter outrank the actor again.
	return j.checkRank(meeting.ControlOf(j.tenant.Settings, spec))
}

// carryOut has the media server bring about what was written down. WaitedBefore reports whether the meeting had a waiting room.
func (j *job) carryOut(ctx context.Context, waitedBefore bool) error {
	f, v := &j.facts, j.view
	f.Control = v.Control
	switch {
	case j.unlisted != nil:
		return j.removeUnlisted(ctx)
	case f.To == "":
		return j.tellAll(ctx, waitedBefore)
	}
	if err := j.correct(ctx, f.concerned()); err != nil {
		return err
	}
	if len(f.Door) > 0 {
		actions := v.AtTheDoor(engine.RoomState{}, f.Door, meeting.HasPresenter(f.People))
		if err := j.actAll(ctx, meeting.WaitingRoom(v.EngineRoom), actions); err != nil {
			return err
		}
	}
	if !f.Found && j.isComing() {
		return errNotListed
	}
	return nil
}

// tellAll tells all pages what is decided about the meeting, and gives all participants their rights.
func (j *job) tellAll(ctx context.Context, waitedBefore bool) error {
	v := j.view
	if waitedBefore || v.HasWaitingRoom() {
		if err := j.tellDoor(ctx); err != nil {
			return err
		}
	}
	if !v.Opened {
		return nil
	}
	if err := admission.Act(ctx, j.tenant, v, v.EngineRoom, engine.Tell{State: v.State()}); err != nil {
		return err
	}
	people, err := j.Participants(ctx, j.tenant, v)
	if err != nil {
		return err
	}
	return j.correct(ctx, people)
}

// tellDoor tells the pages in the waiting room what was decided.
func (j *job) tellDoor(ctx context.Context) error {
	v := j.view
	room := meeting.WaitingRoom(v.EngineRoom)
	door, err := admission.PeopleIn(ctx, j.tenant, v, room)
	if err != nil || len(door) == 0 {
		return err
	}
	isIn, err := admission.PresenterIsIn(ctx, j.tenant, v)
	if err != nil {
		return err
	}
	return j.actAll(ctx, room, v.AtTheDoor(engine.RoomState{}, door, isIn))
}

// correct removes the participants who are to be removed, and gives all others the rights that they should have.
func (j *job) correct(ctx context.Context, people []engine.Participant) error {
	var actions []engine.Action
	for _, p := range people {
		if action := j.view.Correction(p); action != nil {
			actions = append(actions, action)
		}
	}
	return j.actAll(ctx, j.view.EngineRoom, actions)
}

// errUnlisted is for a removal while the media server does not list the participants.
var errUnlisted = fault.Unavailable("That participant is removed, but other sessions of the same link could not be checked; try again in a moment")

// removeUnlisted removes a participant by identity alone: others can have the media server keep so much about them that it gives no list.
func (j *job) removeUnlisted(ctx context.Context) error {
	rooms := []engine.RoomName{j.view.EngineRoom}
	if j.view.HasWaitingRoom() {
		rooms = append(rooms, meeting.WaitingRoom(j.view.EngineRoom))
	}
	for _, room := range rooms {
		if err := admission.Act(ctx, j.tenant, j.view, room, engine.Remove{Who: j.facts.To}); err != nil {
			return err
		}
	}
	return errUnlisted.Because(j.unlisted)
}

// act has the media server do what commands want beside what was written down, and counts it.
func (j *job) act(ctx context.Context) (count int, err error) {
	if !j.view.Opened {
		return 0, nil
	}
	for _, c := range j.commands {
		if c.Act == nil {
			continue
		}
		actions := c.Act(j.facts)
		count += len(actions)
		if !c.Alone {
			if err := j.actAll(ctx, j.view.EngineRoom, actions); err != nil {
				return count, err
			}
			continue
		}
		for _, action := range actions {
			err := admission.Act(ctx, j.tenant, j.view, j.view.EngineRoom, action)
			if fault.Is(err, fault.KindNotFound) {
				return count, j.errAbsent().Because(err)
			}
			if err != nil {
				return count, err
			}
		}
	}
	return count, nil
}

// actsAtOnce bounds how many participants of one room are changed at the same time.
const actsAtOnce = 16

// actAll does something for many participants in one of the rooms of a meeting. It passes over a participant who has left.
func (j *job) actAll(ctx context.Context, room engine.RoomName, actions []engine.Action) error {
	var acts errgroup.Group // What is refused for one participant stops nothing for the others.
	acts.SetLimit(actsAtOnce)
	for _, action := range actions {
		acts.Go(func() error {
			err := admission.Act(ctx, j.tenant, j.view, room, action)
			if fault.Is(err, fault.KindNotFound) {
				return nil
			}
			return err
		})
	}
	return acts.Wait()
}
