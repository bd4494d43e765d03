// SPDX-License-Identifier: Apache-2.0

package moderation

import (
	"context"
	"slices"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// ReasonConnecting is of the refusal of what does not last, to a participant who is still connecting.
const ReasonConnecting = "Connecting"

var (
	errLeft = fault.NotFound("That participant has left the meeting already")
	// errLeftUnnamed refuses a ban of a participant who has left: the username is gone with the list.
	errLeftUnnamed = fault.NotFound("That participant has left the meeting already; to ban the user, use the identity \"user:<username>\"")
	// errNotListed is late: the participant is still connecting, and the media server does not list them yet.
	errNotListed = fault.Unavailable("Saved; it applies once that participant has connected")
	// errComing refuses a command that does not last, on a participant who is still connecting.
	errComing = fault.Unavailable("Still connecting; try again in a moment").WithReason(ReasonConnecting)
	// errNoPage refuses what a telephone or a stream could not show.
	errNoPage = fault.Conflict("That participant has no page, and reads nothing")
	// errNoUser refuses a decision about a username that no user has.
	errNoUser = fault.NotFound("There is no such user in this meeting; name a participant")
	// errDemoted refuses an order of a participant who is no presenter any more.
	errDemoted = fault.Denied("Only presenters may do this")
	// errOutranked and errRankOfUser refuse ranked commands of a promoted presenter.
	errOutranked  = fault.Denied("You were made a presenter in this meeting; you cannot do that to one who came as a presenter")
	errRankOfUser = fault.Denied("You were made a presenter in this meeting; decide about a participant, and not about a user, who may hold other links")
)

// checkIn refuses what is done to one connection that is not there.
func (j *job) checkIn(ctx context.Context) error {
	if j.facts.To == "" {
		return nil
	}
	one, in, err := j.entry.Find(ctx, j.tenant, j.view, j.facts.To)
	switch {
	case err != nil:
		return err
	case !in:
		return j.errAbsent()
	case j.sum.NeedsPage && one.Kind != "":
		return errNoPage
	}
	j.facts.One = one
	return nil
}

// checkUser refuses a presenter's decision about a username that no user of the tenant and no listed participant has, and about which nothing is
// decided. A presenter could fill the list of decisions with invented names.
func (j *job) checkUser() error {
	f := &j.facts
	username, user := meeting.UserOf(f.To)
	if f.By == nil || !user {
		return nil
	}
	_, known := j.tenant.Users.Fingerprint(username)
	listed := func(p engine.Participant) bool { return p.Username == username }
	switch {
	case known, j.tenant.Presenters[username], f.IsDecided(f.To), slices.ContainsFunc(slices.Concat(f.People, f.Door), listed):
		return nil
	case j.unlisted != nil:
		return j.unlisted
	}
	return errNoUser
}

// checkThere refuses what cannot be done to a participant whom the media server does not list. A lasting decision can be about a user, about a
// participant who is still connecting, and about a participant who has a decision already.
func (j *job) checkThere() error {
	f := &j.facts
	_, user := meeting.UserOf(f.To)
	isIn := slices.ContainsFunc(f.People, func(p engine.Participant) bool { return p.Identity == f.To })
	switch {
	case !isIn && slices.ContainsFunc(j.commands, func(c Command) bool { return c.Alone }):
		return j.errAbsent()
	case !j.sum.Lasts:
		if len(f.concerned()) == 0 {
			return j.errAbsent()
		}
		return nil
	case f.Found, user:
		return nil
	case j.sum.NeedsName:
		return j.checkNamed()
	case j.isComing(), f.IsDecided(f.To):
		return nil
	}
	return errLeft
}

// checkNamed refuses what needs the username of a participant who is not listed. The second removal of a participant is no error.
func (j *job) checkNamed() error {
	switch {
	case j.facts.DecisionOn("", j.facts.To).Removed:
		return nil
	case j.isComing():
		return errComing
	}
	return errLeftUnnamed
}

// checkActor refuses an order of a participant who is no presenter any more.
func (j *job) checkActor(c meeting.Control) error {
	by := j.facts.By
	if by == nil {
		return nil
	}
	if d := c.DecisionOn(by.Username, by.Identity); d.Removed || !c.Rights(d, by.Granted).Presenter {
		return errDemoted
	}
	return nil
}

// checkRank refuses a ranked command of a promoted presenter on a presenter who outranks them. It refuses every ranked command on a participant
// who is not listed, and on a user: the participant may be on the way back, and the user may hold other links, and these may make a presenter.
func (j *job) checkRank(c meeting.Control) error {
	f := &j.facts
	if f.By == nil || !j.sum.Ranked {
		return nil
	}
	if !c.Rights(c.DecisionOn(f.By.Username, f.By.Identity), f.By.Granted).Promoted {
		return nil
	}
	_, user := meeting.UserOf(f.To)
	switch {
	case user, j.sum.NeedsName && f.One.Username != "":
		return errRankOfUser
	case j.unlisted != nil:
		return j.unlisted
	case !f.Found:
		return j.errAbsent()
	case c.RightsOf(f.One).OutrankPromoted():
		return errOutranked
	}
	return nil
}

// isComing reports whether the participant is connected through this replica, in the meeting or waiting for it.
func (j *job) isComing() bool { return j.entry.IsConnected(j.view, j.facts.To) }

// errAbsent is for a command that did nothing because the participant is not listed.
func (j *job) errAbsent() *fault.Error {
	if j.isComing() {
		return errComing
	}
	return errLeft
}
