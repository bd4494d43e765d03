// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

const (
	// engineUnavailableLimit is how long an end waits for an engine that does not answer.
	engineUnavailableLimit = 5 * time.Minute
	// confirmAfter is between the two looks that must both find no room: a join in flight can make it again.
	confirmAfter = time.Second
	// closeAgainAfter is when an end that is not confirmed is tried again.
	closeAgainAfter = 2 * time.Second
	// askAgainAfter is when an end asks again after an engine that is known to be away.
	askAgainAfter = 15 * time.Second
)

// Input is everything that a decision is made from.
type Input struct {
	// Meeting is the object as it is stored.
	Meeting *v1alpha1.Meeting
	// Tenant is what its ConferenceConfig says; nil when there is none. ConfigGone says that there was one, which has been deleted, and
	// that nothing is known of it any more.
	Tenant     *Tenant
	ConfigGone bool
	// Rival is the name of an older live Meeting that has the room, or empty. Lent says that this Meeting stands and the API made
	// the other, which gives the room back.
	Rival string
	Lent  bool
	// HeirSince is when a standing Meeting was made that waits for the room of this one; zero when none does.
	HeirSince time.Time
	// Seen is what the engine showed.
	Seen Seen
	// Left is what the engines show of the room on the media servers that the Meeting left, by the name of the media server.
	Left map[types.NamespacedName]Seen
	Now  time.Time
}

// Tenant is what a decision needs of a ConferenceConfig.
type Tenant struct {
	Settings Settings
	// URL is the room link of this Meeting.
	URL string
	// Places are the media servers that its meetings may be on.
	Places   []Place
	Deleting bool
	// NamesHidden says that the status shows how many participants there are, and not who.
	NamesHidden bool
}

// Seen is what the engine showed of a Meeting's room.
type Seen struct {
	// Known says that the engine answered lately. Nothing below counts without it.
	Known bool
	// VisibleSince is the first look that it answered.
	VisibleSince time.Time
	// Outages are the times since then in which it did not, oldest first.
	Outages []Span
	// UnavailableSince is since when it has not answered; zero while it does, and where it was never asked.
	UnavailableSince time.Time
	// SilentSince is since when it has not even refused; zero while it answers or refuses our key.
	SilentSince  time.Time
	RoomExists   bool
	Participants []engine.Participant
	// Waiting are those in the waiting room.
	Waiting []engine.Participant
	// State is what the pages of those in the room are told.
	State engine.RoomState
	// AbsentSince is the first of the looks, without a break, that found no room; zero when the last found one.
	AbsentSince time.Time
}

// Span is a time from a look that the engine answered to the next.
type Span struct{ From, Until time.Time }

// watched is when the engine has been seen for d, from a time on. Time in which the engine did not answer does not count.
func (s Seen) watched(from time.Time, d time.Duration) time.Time {
	from = latest(from, s.VisibleSince)
	until := from.Add(d)
	for _, b := range s.Outages {
		if unseen := b.Until.Sub(latest(b.From, from)); unseen > 0 && b.From.Before(until) {
			until = until.Add(unseen)
		}
	}
	return until
}

// Decision is what has to be done, and why.
type Decision struct {
	// Status is what the status has to say, whole.
	Status v1alpha1.MeetingStatus
	// Close removes all participants, sends their pages to Redirect, and deletes the engine's room.
	Close    bool
	Redirect string
	// NeedsFreshLook says that this decision counts only if a look at the room, now, leads to it too.
	NeedsFreshLook bool
	// Refresh brings the state that pages see up to date.
	Refresh *engine.RoomState
	// Delete removes the object.
	Delete bool
	// WakeAt is when to decide again if nothing happens before; zero is never.
	WakeAt time.Time
	// Events tell people what happened.
	Events []Event
}

// Event is a Kubernetes Event to be.
type Event struct {
	Warning bool
	Reason  string
	Message string
}

// Plan decides. It is pure: the same input always gives the same decision.
func Plan(in Input) Decision {
	p := &plan{Input: in, status: *in.Meeting.Status.DeepCopy(), settings: DefaultSettings()}
	if in.Tenant != nil {
		p.settings = in.Tenant.Settings
	}
	p.describe()
	if IsOver(in.Meeting) {
		p.afterEnd()
	} else if reason := p.endReason(); reason != "" {
		p.end(reason)
	} else {
		p.live()
	}
	p.status.ObservedGeneration = in.Meeting.Generation
	p.Status = p.status
	p.tell()
	return p.Decision
}

// plan is a decision in the making.
type plan struct {
	Input
	Decision
	status   v1alpha1.MeetingStatus
	settings Settings
}

// wake asks for another decision at t, or earlier.
func (p *plan) wake(t time.Time) {
	if !t.IsZero() && (p.WakeAt.IsZero() || t.Before(p.WakeAt)) {
		p.WakeAt = t
	}
}

// opened says that a room may exist in the engine.
func (p *plan) opened() bool {
	return p.Meeting.Annotations[v1alpha1.AnnotationRoomOpened] != "" || (p.Seen.Known && p.Seen.RoomExists)
}

func (p *plan) due(t time.Time) bool { return !t.IsZero() && !p.Now.Before(t) }
