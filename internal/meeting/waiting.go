// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// People wait in a room of the media server that is not the meeting's. Each of them is connected, and that is their place in the
// queue. What the meeting's room has is not in it, and nobody there is told of anybody else.

// waitingSuffix ends no UID, so that no meeting's room has it.
const waitingSuffix = "_waiting"

// WaitingRoom is where people wait for the meeting of a room.
func WaitingRoom(room engine.RoomName) engine.RoomName { return room + waitingSuffix }

// IsWaitingRoom says that people wait in a room.
func IsWaitingRoom(room engine.RoomName) bool { return strings.HasSuffix(string(room), waitingSuffix) }

// RoomOfWaiting is the meeting's room for which people wait in another. A meeting's room is its own.
func RoomOfWaiting(room engine.RoomName) engine.RoomName {
	return engine.RoomName(strings.TrimSuffix(string(room), waitingSuffix))
}

// HasWaitingRoom says that some have to wait.
func (c Control) HasWaitingRoom() bool {
	return c.Admission != "" && c.Admission != v1alpha1.AdmissionOpen
}

// ValidateAdmission checks a change of who has to wait.
func ValidateAdmission(a v1alpha1.Admission) error {
	switch a {
	case v1alpha1.AdmissionOpen, v1alpha1.AdmissionWithPresenter, v1alpha1.AdmissionAsk:
		return nil
	}
	return fault.Invalid("admission", "admission must be Open, WithPresenter or Ask")
}

// KnockedAt is when one who is in a waiting room was there for presenters to see: they knock by connecting, and not by asking for a
// session. Who connects again knocks again.
func KnockedAt(p engine.Participant) time.Time { return latest(p.Since, p.JoinedAt) }

// LetIn says that a participant was let in by name, as a presenter, or with all who waited. Knocked is KnockedAt, zero for one who is not
// in the waiting room.
func (c Control) LetIn(d v1alpha1.ParticipantDecision, presenter bool, knocked time.Time) bool {
	return presenter || d.Admitted || !knocked.IsZero() && !knocked.After(c.AdmittedUntil)
}

// Admits says whether a participant need not wait any more who was not in before and is not removed. PresenterIn says that a
// presenter is in. Knocked is as for LetIn.
func (c Control) Admits(d v1alpha1.ParticipantDecision, presenter bool, knocked time.Time, presenterIn bool) bool {
	withPresenter := c.Admission == v1alpha1.AdmissionWithPresenter && presenterIn
	return c.LetIn(d, presenter, knocked) || !c.Locked && (!c.HasWaitingRoom() || withPresenter)
}

// admits is Admits for one who is in the waiting room.
func (c Control) admits(p engine.Participant, presenterIn bool) bool {
	d := c.DecisionOn(p.Username, p.Identity)
	return c.Admits(d, c.Rights(d, p.Granted).Presenter, KnockedAt(p), presenterIn)
}

// WhoWaits are those of a waiting room who have still to be let in, those who have waited longest first.
func (c Control) WhoWaits(people []engine.Participant, presenterIn bool) (waiting []engine.Participant) {
	for _, p := range people {
		if p.Waits() && !c.DecisionOn(p.Username, p.Identity).Removed && !c.admits(p, presenterIn) {
			waiting = append(waiting, p)
		}
	}
	slices.SortFunc(waiting, func(a, b engine.Participant) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Identity, b.Identity))
	})
	return waiting
}

// AtTheDoor is what has to be done in a waiting room, which tells its pages something now, so that all who may come in are told:
// by the room where that is all of them, else one by one. Those who were refused are removed.
func (c Control) AtTheDoor(told engine.RoomState, people []engine.Participant, presenterIn bool) (actions []engine.Action) {
	open := engine.RoomState{Open: c.isOpen(presenterIn) || c.areAllAdmitted(people)}
	if !open.Equal(told) {
		actions = append(actions, engine.Tell{State: open})
	}
	for _, p := range people {
		switch {
		case p.Oversized || c.DecisionOn(p.Username, p.Identity).Removed:
			actions = append(actions, engine.Remove{Who: p.Identity})
		case !open.Open && !p.Admitted && c.admits(p, presenterIn):
			actions = append(actions, engine.Admit{Who: p.Identity})
		}
	}
	return actions
}

// areAllAdmitted says that all who wait were let in together.
func (c Control) areAllAdmitted(people []engine.Participant) bool {
	return len(people) > 0 && !slices.ContainsFunc(people, func(p engine.Participant) bool { return KnockedAt(p).After(c.AdmittedUntil) })
}

// isOpen says that nobody has to wait now.
func (c Control) isOpen(presenterIn bool) bool {
	return c.Admits(v1alpha1.ParticipantDecision{}, false, time.Time{}, presenterIn)
}

// HasPresenter says that one of those who are in a meeting is a presenter.
func HasPresenter(people []engine.Participant) bool {
	return slices.ContainsFunc(people, func(p engine.Participant) bool { return p.Presenter })
}

// waitingPeople are the first hundred of those who wait.
func waitingPeople(waiting []engine.Participant) []v1alpha1.WaitingPerson {
	var out []v1alpha1.WaitingPerson
	for _, p := range waiting[:min(len(waiting), maxListed)] {
		out = append(out, v1alpha1.WaitingPerson{
			Identity: cut(256, string(p.Identity)), Name: cut(MaxNameLength, p.Name), Since: metav1.NewTime(p.Since.Truncate(time.Second)),
		})
	}
	return out
}

// AdmitAll lets in all who wait. The time is that of the last of them: who comes while a presenter decides was not seen. A Meeting holds
// whole seconds. Whom another presenter has let in a moment ago stays let in.
func AdmitAll(spec *v1alpha1.MeetingSpec, waiting []engine.Participant) {
	until := timeOf(spec.AdmittedUntil)
	for _, p := range waiting {
		until = latest(until, KnockedAt(p))
	}
	spec.AdmittedUntil = asTime(ceilSecond(until))
}
