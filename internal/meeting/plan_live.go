// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"cmp"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

// maxListed bounds the participants in a status; the count is always exact.
const maxListed = 100

// describe works out what the status says of every Meeting: its participants, its start, its duration.
func (p *plan) describe() {
	if p.Tenant != nil {
		p.status.URL = p.Tenant.URL
	}
	if p.Meeting.Status.Phase == v1alpha1.MeetingEnded {
		return
	}
	p.forgetLeft()
	length := p.length()
	p.status.Duration = length.Duration()
	if p.Seen.Known && !p.isEmptied() {
		p.status.ParticipantCount = int32(len(p.Seen.Participants))
		p.status.Participants = Participants(p.Seen.Participants, p.Meeting.CreationTimestamp.Time)
		waiting := p.inForce().WhoWaits(p.Seen.Waiting, HasPresenter(p.Seen.Participants))
		p.status.WaitingCount, p.status.Waiting = int32(len(waiting)), waitingPeople(waiting)
		p.latchStart()
	}
	if p.Tenant != nil && p.Tenant.NamesHidden {
		p.status.Participants, p.status.Waiting = nil, nil // Also those of before, while the engine does not answer.
	}
	p.status.ExpiryTime = asTime(length.After(p.begin()))
}

// isEmptied reports whether all participants have left, in an end that no command requested. The write that calls the Meeting ended says so too.
func (p *plan) isEmptied() bool {
	m := p.Meeting
	return m.Status.Phase == v1alpha1.MeetingEnding && m.Spec.End == nil && len(p.Seen.Participants)+len(p.Seen.Waiting) == 0
}

// length is the length in force: what the spec asks, held to the tenant's greatest.
func (p *plan) length() Length {
	length, err := p.settings.Length(p.Meeting.Spec.Duration)
	if err != nil {
		return p.settings.MaxLength
	}
	return length
}

// latchStart keeps the first arrival. It is rounded up to the second that a status can hold, so that nothing ends
// early.
func (p *plan) latchStart() {
	if p.status.StartTime != nil || len(p.Seen.Participants) == 0 {
		return
	}
	first := slices.MinFunc(p.Seen.Participants, func(a, b engine.Participant) int { return a.JoinedAt.Compare(b.JoinedAt) }).JoinedAt
	created := p.Meeting.CreationTimestamp.Time
	if first.Before(created) || first.After(p.Now) {
		first = latest(p.Now, created)
	}
	p.status.StartTime = asTime(ceilSecond(first))
}

// begin is when the length begins to count.
func (p *plan) begin() time.Time {
	if p.status.StartTime != nil {
		return p.status.StartTime.Time
	}
	return p.Meeting.CreationTimestamp.Time
}

// live decides for a Meeting that has no reason to end.
func (p *plan) live() {
	p.place()
	switch reason, message := p.obstacle(); {
	case reason != "":
		p.status.Phase = v1alpha1.MeetingPending
		p.condition(v1alpha1.ConditionReady, metav1.ConditionFalse, reason, message)
	case p.Rival != "":
		p.status.Phase = v1alpha1.MeetingPending
		p.condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRoomLent,
			fmt.Sprintf("People can enter at %s, the Meeting %q that the API made; this one has the room again when all have left that one", p.status.URL, p.Rival))
	default:
		p.status.Phase = v1alpha1.MeetingActive
		p.condition(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonOpen, "People can enter at "+p.status.URL)
	}
	p.occupy()
	p.condition(v1alpha1.ConditionEnded, metav1.ConditionFalse, v1alpha1.ReasonLive, "The meeting has not ended")
	p.control()
	p.wake(p.expiryDeadline())
	p.wake(p.emptyDeadline())
	p.wake(p.unjoinedDeadline())
}

// obstacle is why the Meeting cannot be entered.
func (p *plan) obstacle() (reason, message string) {
	config := p.Meeting.Spec.ConfigRef.Name
	switch {
	case p.Tenant == nil:
		return v1alpha1.ReasonConfigNotFound, fmt.Sprintf("There is no ConferenceConfig %q in this namespace; create it or create the Meeting with another configRef", config)
	case p.Rival != "" && !p.Lent:
		return v1alpha1.ReasonRoomTaken, fmt.Sprintf("The older Meeting %q has this room; this one opens when that one has ended", p.Rival)
	case !p.canBeEntered():
		return v1alpha1.ReasonNoMedia, fmt.Sprintf("ConferenceConfig %q has no media server that takes the meeting; see its condition MediaServersReachable", config)
	}
	return "", ""
}

// occupy keeps when the last person left in the condition Occupied.
func (p *plan) occupy() {
	switch {
	case p.status.StartTime == nil:
		p.condition(v1alpha1.ConditionOccupied, metav1.ConditionFalse, v1alpha1.ReasonUnjoined, "No participant has joined")
	case !p.Seen.Known:
	case p.status.ParticipantCount > 0:
		p.condition(v1alpha1.ConditionOccupied, metav1.ConditionTrue, v1alpha1.ReasonParticipantsPresent, "Participants are in the meeting")
	case !p.seesAll():
		p.condition(v1alpha1.ConditionOccupied, metav1.ConditionUnknown, v1alpha1.ReasonOutOfSight,
			"Participants may still be on a media server that the meeting left; see status.leftMediaServers")
	default:
		p.condition(v1alpha1.ConditionOccupied, metav1.ConditionFalse, v1alpha1.ReasonEveryoneLeft, "All participants have left")
	}
}

// expiryDeadline is when a Meeting's length is over; zero when it is without limit. While the engine cannot be seen,
// the first person may have come, which would move it: that is waited for, but not for ever.
func (p *plan) expiryDeadline() time.Time {
	expiry := timeOf(p.status.ExpiryTime)
	if !expiry.IsZero() && p.status.StartTime == nil && p.opened() && !p.seesAll() {
		return expiry.Add(engineUnavailableLimit)
	}
	return expiry
}

// emptyDeadline is when a Meeting that all participants have left ends; zero when it does not. Time in which the engine could
// not be seen does not count.
func (p *plan) emptyDeadline() time.Time {
	timeout := p.timeout(p.Meeting.Spec.EmptyTimeout, p.settings.EmptyTimeout)
	occupied := meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionOccupied)
	if timeout == 0 || p.status.StartTime == nil || !p.seesAll() || p.status.ParticipantCount > 0 ||
		occupied == nil || occupied.Status != metav1.ConditionFalse {
		return time.Time{}
	}
	return p.Seen.watched(occupied.LastTransitionTime.Time, timeout)
}

// unjoinedDeadline is when a Meeting that no participant has joined ends; zero when it does not. While the engine does not
// answer, participants may be in. Where a standing Meeting waits for the room, this one counts as empty from then on: its links
// open that one.
func (p *plan) unjoinedDeadline() time.Time {
	timeout := p.timeout(p.Meeting.Spec.UnjoinedTimeout, p.settings.UnjoinedTimeout)
	if timeout == 0 || p.status.StartTime != nil || (p.opened() && !p.seesAll()) {
		return time.Time{}
	}
	deadline := p.Meeting.CreationTimestamp.Add(timeout)
	if p.HeirSince.IsZero() {
		return deadline
	}
	return earliest(deadline, p.HeirSince.Add(p.timeout(p.Meeting.Spec.EmptyTimeout, p.settings.EmptyTimeout)))
}

// timeout applies the tenant's rules to Meetings made by the API alone.
func (p *plan) timeout(own *metav1.Duration, tenants time.Duration) time.Duration {
	switch {
	case own != nil:
		return own.Duration
	case !Stands(p.Meeting):
		return tenants
	}
	return 0
}

// condition sets a condition. Times in a status hold whole seconds: up, so that no deadline counted from one is early.
func (p *plan) condition(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&p.status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(ceilSecond(p.Now)), ObservedGeneration: p.Meeting.Generation,
	})
}

// Participants are the first hundred participants of a Meeting, oldest first.
func Participants(participants []engine.Participant, created time.Time) []v1alpha1.Participant {
	sorted := slices.Clone(participants)
	for i := range sorted {
		if sorted[i].JoinedAt.IsZero() { // The schema wants a time: one that stays.
			sorted[i].JoinedAt = created
		}
	}
	slices.SortFunc(sorted, func(a, b engine.Participant) int {
		return cmp.Or(a.JoinedAt.Compare(b.JoinedAt), cmp.Compare(a.Identity, b.Identity))
	})
	var out []v1alpha1.Participant
	for _, q := range sorted[:min(len(sorted), maxListed)] {
		out = append(out, v1alpha1.Participant{
			Identity: cut(256, string(q.Identity)), Name: cut(MaxNameLength, q.Name), Kind: q.Kind, Presenter: q.Presenter, Hidden: q.Hidden,
			Audio: q.Audio, Video: q.Video, Screen: q.Screen, Hand: q.Hand, OS: cut(64, q.OS), Browser: cut(64, q.Browser),
			JoinTime: metav1.NewTime(q.JoinedAt.Truncate(time.Second)),
		})
	}
	return out
}

// cut shortens what is longer than the schema allows: one such text would keep the whole status from being written.
func cut(n int, text string) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n])
}

func ceilSecond(t time.Time) time.Time {
	if floor := t.Truncate(time.Second); !floor.Equal(t) {
		return floor.Add(time.Second)
	}
	return t
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func asTime(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &metav1.Time{Time: t}
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
