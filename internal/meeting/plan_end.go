// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"cmp"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

// endReason is why the Meeting has to end; empty when it does not. Once an end has begun its reason stays.
func (p *plan) endReason() v1alpha1.EndReason {
	if p.Meeting.Status.Phase == v1alpha1.MeetingEnding {
		return cmp.Or(p.Meeting.Status.EndReason, v1alpha1.EndRequested)
	}
	for _, e := range endings {
		if e.due(p) {
			return e.reason
		}
	}
	return ""
}

// end closes the room, and calls the Meeting ended once the engine has shown twice that the room is gone.
func (p *plan) end(reason v1alpha1.EndReason) {
	p.stay()
	// Once the end is asked for, participants who are missing may have been removed already.
	if p.status.StartTime == nil || p.status.Phase != v1alpha1.MeetingEnding && (p.status.ParticipantCount > 0 || !IsLeaving(p.Meeting)) {
		p.occupy()
	}
	p.status.Phase = v1alpha1.MeetingEnding
	p.status.EndReason = reason
	// A room that was never opened needs no look.
	p.NeedsFreshLook = p.Meeting.Status.EndReason == "" && p.Meeting.Annotations[v1alpha1.AnnotationRoomOpened] != "" &&
		endingOf(reason).needsFreshLook(&p.status)
	p.condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonEnding, "The meeting is being ended")
	p.condition(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonEnding, "The room is being closed")
	p.condition(v1alpha1.ConditionEnded, metav1.ConditionFalse, v1alpha1.ReasonEnding, "The meeting is being ended")
	p.Redirect = Redirect(p.Meeting)
	p.confirm()
}

// confirm calls the Meeting ended where its room is gone, and else has it closed or waits.
func (p *plan) confirm() {
	switch {
	case !p.opened(), p.ConfigGone: // Nothing is known of its LiveKit any more.
		p.ended()
	case p.unavailableTooLong():
		p.event(true, v1alpha1.ReasonMediaServerUnreachable,
			"LiveKit could not be asked for %s; the meeting is over, and its room is closed when LiveKit is back", engineUnavailableLimit)
		p.ended()
	case p.confirmedGone() && p.seesAll():
		p.ended()
	case p.confirmedGone():
		// The observer closes the room on the media servers that the Meeting left, and has the reconciler called.
		p.wake(p.Now.Add(askAgainAfter))
	case p.Seen.Known && !p.Seen.RoomExists && p.Seen.AbsentSince.IsZero():
		p.wake(p.Now.Add(confirmAfter))
	case p.Seen.Known && !p.Seen.RoomExists:
		p.wake(p.Seen.AbsentSince.Add(confirmAfter))
	default:
		p.closeRoom()
	}
}

// closeRoom has the engine's room closed, where there is an engine that answers.
func (p *plan) closeRoom() {
	_, placed := p.placed()
	switch {
	case p.Seen.Known: // Also where the status does not say yet where the room is.
		p.Close = true
		p.wake(p.Now.Add(closeAgainAfter))
	case !placed:
		// There is no engine to ask. The alarm is set: unavailableTooLong.
	case !p.Seen.UnavailableSince.IsZero():
		p.wake(p.Now.Add(askAgainAfter)) // The reconciler is called too when the engine is back.
	default:
		// An engine that has just not answered would not close the room either.
		p.wake(p.Now.Add(closeAgainAfter))
	}
}

// Redirect is where the people of a Meeting go when it ends: what its end says, else its own; empty is the home page.
func Redirect(m *v1alpha1.Meeting) string {
	if m.Spec.End != nil && m.Spec.End.Redirect != nil {
		return string(*m.Spec.End.Redirect)
	}
	return string(m.Spec.Redirect)
}

// confirmedGone: two looks, a second apart, found no room.
func (p *plan) confirmedGone() bool {
	return p.Seen.Known && !p.Seen.RoomExists && !p.Seen.AbsentSince.IsZero() && p.due(p.Seen.AbsentSince.Add(confirmAfter))
}

// unavailableTooLong: a media server where the room may be could not be asked since the end began, for longer than an end may take. On
// all others the room is gone.
func (p *plan) unavailableTooLong() bool {
	away := p.leftAway()
	if len(away) < len(p.status.LeftMediaServers) {
		p.wake(p.Now.Add(askAgainAfter)) // There the room is being closed.
		return false
	}
	if !p.Seen.Known {
		away = append(away, p.Seen)
	}
	if len(away) == 0 || p.Seen.Known && !p.confirmedGone() {
		return false
	}
	since := ceilSecond(p.Now)
	if c := meta.FindStatusCondition(p.Meeting.Status.Conditions, v1alpha1.ConditionReconciling); c != nil {
		since = c.LastTransitionTime.Time
	}
	for _, seen := range away {
		since = latest(since, seen.UnavailableSince)
	}
	deadline := since.Add(engineUnavailableLimit)
	p.wake(deadline)
	return p.due(deadline)
}

// ended is the last change of a Meeting.
func (p *plan) ended() {
	p.status.Phase = v1alpha1.MeetingEnded
	// A clock that was set back must not end a meeting before it began.
	p.status.EndTime = asTime(latest(ceilSecond(p.Now), p.begin()))
	p.status.ParticipantCount = 0
	p.status.Participants = nil
	p.status.WaitingCount, p.status.Waiting = 0, nil
	if p.status.StartTime != nil && !endedWithoutParticipants(&p.status) {
		p.condition(v1alpha1.ConditionOccupied, metav1.ConditionFalse, v1alpha1.ReasonSentAway, "All participants were removed when the meeting ended")
	}
	message := endingOf(p.status.EndReason).message
	p.condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonEnded, message)
	p.condition(v1alpha1.ConditionEnded, metav1.ConditionTrue, string(p.status.EndReason), message)
	meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionReconciling)
	p.Close, p.WakeAt = false, time.Time{}
	p.afterEnd()
}

// afterEnd keeps the object for inspection, and longer where its links can start the room again.
func (p *plan) afterEnd() {
	if p.Meeting.DeletionTimestamp != nil {
		return
	}
	keep := p.settings.TTLAfterEnded
	if restartable(&p.status) && (!p.settings.ForgetEnded || !isReplaceable(p.settings, p.Meeting)) {
		keep = max(keep, p.settings.LinkLifetime)
	}
	until := timeOf(p.status.EndTime).Add(keep)
	if p.due(until) {
		p.Delete = true
		return
	}
	p.wake(until)
}

// tell makes Events of problems and their end, of the participant who opened a room, and of the meeting's end. Conditions have all other changes:
// in a burst, Events would be as many writes as statuses.
func (p *plan) tell() {
	before, now := p.Meeting.Status.Phase, p.status.Phase
	p.tellControl()
	if before == now {
		return
	}
	switch now {
	case v1alpha1.MeetingPending:
		ready := meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionReady)
		p.event(ready.Status != metav1.ConditionTrue, ready.Reason, "%s", ready.Message)
	case v1alpha1.MeetingActive:
		if before == v1alpha1.MeetingPending {
			p.event(false, "Opened", "People can enter at %s", p.status.URL)
		}
		if by := OpenedBy(p.Meeting); before == "" && by != "" {
			p.event(false, "OpenedAdHoc", "A participant opened this room by entering it (%s), as spec.meetings.adHoc of its ConferenceConfig allows", by)
		}
	case v1alpha1.MeetingEnded:
		p.event(false, "Ended", "%s", endingOf(p.status.EndReason).message)
	}
}

func (p *plan) event(warning bool, reason, format string, args ...any) {
	p.Events = append(p.Events, Event{Warning: warning, Reason: reason, Message: fmt.Sprintf(format, args...)})
}
