// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

// truth is what an observer who sees all would know: when the last person was seen to be out.
type truth struct {
	arrived   bool
	emptyFrom time.Time
}

// watch follows the engine as the plan is told of it.
func (w *truth) watch(in Input) {
	switch {
	case !in.Seen.Known:
		// No look sees who is in now: the count begins again when a participant does.
	case len(in.Seen.Participants) > 0:
		w.arrived, w.emptyFrom = true, time.Time{}
	case w.arrived && w.emptyFrom.IsZero():
		w.emptyFrom = in.Now
	}
}

// checkedPlan plans, and holds the decision against everything that must always be so.
func checkedPlan(t testing.TB, in Input, w *truth) Decision {
	t.Helper()
	w.watch(in)
	before := copyOf(in)
	d := Plan(in)
	for _, broken := range slices.Concat(checkPurity(before, in, d), checkLatches(before, d), checkStatus(t, before, d),
		checkConditions(before, d), checkActions(before, d), checkReason(before, d, w), checkWake(before, d), checkSecondPlan(t, before, d)) {
		t.Errorf("%s: %s\n  from %s\n  to   %s", clock(in.Now), broken, summary(before.Meeting.Status), summary(d.Status))
	}
	return d
}

func summary(s v1alpha1.MeetingStatus) string {
	return fmt.Sprintf("phase %q, %d in, start %s, expiry %s, end %s %s", s.Phase, s.ParticipantCount,
		clock(timeOf(s.StartTime)), clock(timeOf(s.ExpiryTime)), clock(timeOf(s.EndTime)), s.EndReason)
}

func copyOf(in Input) Input {
	out := in
	out.Meeting = in.Meeting.DeepCopy()
	if in.Tenant != nil {
		tenant := *in.Tenant
		tenant.Settings.RedirectHosts = slices.Clone(tenant.Settings.RedirectHosts)
		out.Tenant = &tenant
	}
	out.Seen.Participants = slices.Clone(in.Seen.Participants)
	out.Seen.Outages = slices.Clone(in.Seen.Outages)
	return out
}

// 1. Plan changes nothing that it is given, and says the same when it is asked again.
func checkPurity(before, in Input, d Decision) (broken []string) {
	if !reflect.DeepEqual(before, in) {
		broken = append(broken, "1a: the input has changed:\n"+cmp.Diff(before, in))
	}
	if again := Plan(before); !reflect.DeepEqual(d, again) {
		broken = append(broken, "1b: another plan of the same input says otherwise:\n"+cmp.Diff(d, again))
	}
	return broken
}

// 2. What has been written once stays: the start, the end, its reason; and no way leads back from an end.
func checkLatches(in Input, d Decision) (broken []string) {
	was, is := in.Meeting.Status, d.Status
	if was.StartTime != nil && !timeOf(was.StartTime).Equal(timeOf(is.StartTime)) {
		broken = append(broken, "2a: startTime has moved")
	}
	if was.EndTime != nil && !timeOf(was.EndTime).Equal(timeOf(is.EndTime)) {
		broken = append(broken, "2b: endTime has moved")
	}
	if was.EndReason != "" && was.EndReason != is.EndReason {
		broken = append(broken, "2c: endReason has changed")
	}
	if rank(is.Phase) < rank(was.Phase) {
		broken = append(broken, "2d: the phase has gone back")
	}
	return broken
}

// hasMoved says that a decision moves the Meeting: the next plan sees another media server.
func hasMoved(in Input, d Decision) bool {
	return in.Meeting.Status.MediaServer != nil && d.Status.MediaServer != nil && *in.Meeting.Status.MediaServer != *d.Status.MediaServer
}

// rank orders the phases. A Meeting may go between Pending and Active.
func rank(p v1alpha1.MeetingPhase) int {
	return map[v1alpha1.MeetingPhase]int{v1alpha1.MeetingPending: 1, v1alpha1.MeetingActive: 1, v1alpha1.MeetingEnding: 2, v1alpha1.MeetingEnded: 3}[p]
}

// 3. The status is one that the schema takes and that means something.
func checkStatus(t testing.TB, in Input, d Decision) (broken []string) {
	s := d.Status
	says := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, "3"+fmt.Sprintf(format, args...))
		}
	}
	leaving := s.Phase == v1alpha1.MeetingEnding || s.Phase == v1alpha1.MeetingEnded
	says(rank(s.Phase) > 0, "a: there is no phase %q", s.Phase)
	says((s.EndReason != "") == leaving, "b: phase %s with endReason %q", s.Phase, s.EndReason)
	says((s.EndTime != nil) == (s.Phase == v1alpha1.MeetingEnded), "c: phase %s with endTime %v", s.Phase, s.EndTime)
	says(s.EndTime == nil || s.StartTime == nil || !s.EndTime.Before(s.StartTime), "d: it ended before it began")
	says(s.StartTime == nil || !s.StartTime.Before(&in.Meeting.CreationTimestamp), "e: it began before it was made")
	says(s.ObservedGeneration == in.Meeting.Generation, "f: observedGeneration is %d of %d", s.ObservedGeneration, in.Meeting.Generation)
	length, err := ParseLength(s.Duration)
	begin := in.Meeting.CreationTimestamp
	if s.StartTime != nil {
		begin = *s.StartTime
	}
	says(err == nil && (s.Phase == v1alpha1.MeetingEnded || timeOf(s.ExpiryTime).Equal(length.After(begin.Time))), "g: duration %s, expiry %v", s.Duration, s.ExpiryTime)
	if in.Tenant != nil && in.Tenant.NamesHidden {
		says(len(s.Participants) == 0, "h: %d listed, who should not be", len(s.Participants))
	} else if in.Seen.Known {
		says(len(s.Participants) == min(int(s.ParticipantCount), 100), "h: %d listed of %d", len(s.Participants), s.ParticipantCount)
	}
	says(s.Phase != v1alpha1.MeetingEnded || s.ParticipantCount == 0, "i: ended with %d in", s.ParticipantCount)
	says(slices.IsSortedFunc(s.Participants, func(a, b v1alpha1.Participant) int { return a.JoinTime.Compare(b.JoinTime.Time) }), "j: not oldest first")
	for _, p := range s.Participants {
		says(utf8.RuneCountInString(p.Name) <= 128 && len(p.Identity) <= 256 && len(p.OS) <= 64 && len(p.Browser) <= 64 && !p.JoinTime.IsZero(),
			"k: the schema refuses participant %q", p.Identity)
	}
	says(equality.Semantic.DeepEqual(s, asStored(t, s)), "l: it is not what is read back: times must be in whole seconds")
	return broken
}

// 4. The conditions say what the rest of the status says.
func checkConditions(in Input, d Decision) (broken []string) {
	says := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, "4"+fmt.Sprintf(format, args...))
		}
	}
	s := d.Status
	find := func(kind string) *metav1.Condition { return meta.FindStatusCondition(s.Conditions, kind) }
	ready, occupied, ended := find(v1alpha1.ConditionReady), find(v1alpha1.ConditionOccupied), find(v1alpha1.ConditionEnded)
	if ready == nil || occupied == nil || ended == nil {
		return append(broken, fmt.Sprintf("4a: phase %s with Ready %v, Occupied %v, Ended %v", s.Phase, ready, occupied, ended))
	}
	lent := s.Phase == v1alpha1.MeetingPending && in.Lent && ready.Reason == v1alpha1.ReasonRoomLent
	says((ready.Status == metav1.ConditionTrue) == (s.Phase == v1alpha1.MeetingActive || lent), "b: phase %s with Ready %v", s.Phase, ready)
	says((ready.Reason == v1alpha1.ReasonEnding) == (s.Phase == v1alpha1.MeetingEnding) &&
		(ready.Reason == v1alpha1.ReasonEnded) == (s.Phase == v1alpha1.MeetingEnded), "c: phase %s with Ready %v", s.Phase, ready)
	says((find(v1alpha1.ConditionReconciling) != nil) == (s.Phase == v1alpha1.MeetingEnding), "d: phase %s and Reconciling", s.Phase)
	says((ended.Status == metav1.ConditionTrue) == (s.Phase == v1alpha1.MeetingEnded), "e: phase %s with Ended %v", s.Phase, ended)
	says(ended.Status == metav1.ConditionFalse || ended.Reason == string(s.EndReason), "f: ended by %s with %v", s.EndReason, ended)
	says(s.StartTime != nil || occupied.Status == metav1.ConditionFalse && occupied.Reason == v1alpha1.ReasonUnjoined, "g: Occupied %v before anybody arrived", occupied)
	says(s.StartTime == nil || s.Phase == v1alpha1.MeetingEnding || occupied.Reason != v1alpha1.ReasonUnjoined, "g: started, and Occupied %v", occupied)
	live := s.Phase == v1alpha1.MeetingActive || s.Phase == v1alpha1.MeetingPending
	says(!live || !in.Seen.Known || s.StartTime == nil || (occupied.Status == metav1.ConditionTrue) == (s.ParticipantCount > 0),
		"h: %d in with Occupied %v", s.ParticipantCount, occupied)
	says(s.Phase != v1alpha1.MeetingEnded || !meta.IsStatusConditionTrue(s.Conditions, v1alpha1.ConditionOccupied), "i: ended, and occupied")
	known := map[string]bool{}
	for _, c := range s.Conditions {
		says(!known[c.Type], "j: %s is there twice", c.Type)
		known[c.Type] = true
		says(c.Reason != "" && c.Message != "" && !strings.HasSuffix(c.Message, "."), "k: %+v", c)
		says(!c.LastTransitionTime.IsZero() && c.ObservedGeneration <= in.Meeting.Generation, "l: %+v", c)
		if old := meta.FindStatusCondition(in.Meeting.Status.Conditions, c.Type); old != nil && old.Status == c.Status {
			says(old.LastTransitionTime.Equal(&c.LastTransitionTime), "m: the transition time of %s has moved without one", c.Type)
		}
	}
	return broken
}

// 5. What is done fits the phase.
func checkActions(in Input, d Decision) (broken []string) {
	says := func(ok bool, text string) {
		if !ok {
			broken = append(broken, "5"+text)
		}
	}
	s := d.Status
	ended := s.Phase == v1alpha1.MeetingEnded
	says(!d.Close || s.Phase == v1alpha1.MeetingEnding, "a: participants are removed while nothing ends")
	seen := in.Tenant != nil && in.Seen.Known && in.Seen.RoomExists
	says(d.Close || s.Phase != v1alpha1.MeetingEnding || !seen, "a: the meeting ends, and its room stays")
	says(!d.Delete || ended && in.Meeting.DeletionTimestamp == nil, "b: a delete")
	keep := DefaultSettings()
	if in.Tenant != nil {
		keep = in.Tenant.Settings
	}
	kept := keep.TTLAfterEnded
	if restartable(&s) && (!keep.ForgetEnded || !isReplaceable(keep, in.Meeting)) {
		kept = max(kept, keep.LinkLifetime)
	}
	says(!d.Delete || !in.Now.Before(timeOf(s.EndTime).Add(kept)), "c: deleted before its time")
	says(d.Refresh == nil || !ended && in.Seen.RoomExists && d.Refresh.ExpiresAt.Equal(timeOf(s.ExpiryTime)), "d: a refresh of what is not there, or with another expiry")
	ruled := in.Meeting.Status.Locked != s.Locked || in.Meeting.Status.Admission != s.Admission || presentersOnly(nil, in.Meeting.Status.Policy) != presentersOnly(nil, s.Policy)
	says(len(d.Events) == 0 || ruled || hasMoved(in, d) || in.Meeting.Status.Phase != s.Phase || in.Meeting.Status.StartTime == nil && s.StartTime != nil, "e: events while nothing happens")
	return broken
}

// 6. Nothing ends without a reason, and nothing before its time. Clocks that jump are the wall's.
func checkReason(in Input, d Decision, w *truth) (broken []string) {
	if in.Meeting.Status.EndReason != "" || d.Status.EndReason == "" {
		return nil
	}
	tenant := DefaultSettings()
	if in.Tenant != nil {
		tenant = in.Tenant.Settings
	}
	byAPI := !Stands(in.Meeting)
	timeout := func(own *metav1.Duration, theirs time.Duration) time.Duration {
		switch {
		case own != nil:
			return own.Duration
		case byAPI:
			return theirs
		}
		return 1000 * time.Hour * 24
	}
	ok := false
	switch d.Status.EndReason {
	case v1alpha1.EndRequested:
		ok = in.Meeting.Spec.End != nil
	case v1alpha1.EndDeleted:
		ok = in.Meeting.DeletionTimestamp != nil || in.ConfigGone || in.Tenant != nil && in.Tenant.Deleting
	case v1alpha1.EndExpired:
		ok = d.Status.ExpiryTime != nil && !in.Now.Before(d.Status.ExpiryTime.Time)
	case v1alpha1.EndEmpty:
		empty := timeout(in.Meeting.Spec.EmptyTimeout, tenant.EmptyTimeout)
		for _, b := range in.Seen.Outages {
			empty += max(b.Until.Sub(latest(b.From, latest(w.emptyFrom, in.Seen.VisibleSince))), 0)
		}
		ok = w.arrived && !w.emptyFrom.IsZero() && len(d.Status.LeftMediaServers) == 0 && in.Seen.Known && len(in.Seen.Participants) == 0 &&
			!in.Now.Before(w.emptyFrom.Add(empty)) && !in.Now.Before(in.Seen.VisibleSince.Add(empty))
	case v1alpha1.EndUnjoined:
		deadline := in.Meeting.CreationTimestamp.Add(timeout(in.Meeting.Spec.UnjoinedTimeout, tenant.UnjoinedTimeout))
		if !in.HeirSince.IsZero() {
			deadline = earliest(deadline, in.HeirSince.Add(timeout(in.Meeting.Spec.EmptyTimeout, tenant.EmptyTimeout)))
		}
		ok = !w.arrived && len(d.Status.LeftMediaServers) == 0 && len(in.Seen.Participants) == 0 && (in.Seen.Known || in.Meeting.Annotations[v1alpha1.AnnotationRoomOpened] == "") &&
			!in.Now.Before(deadline)
	}
	if !ok {
		broken = append(broken, fmt.Sprintf("6: it ends (%s) without a reason; empty from %s", d.Status.EndReason, clock(w.emptyFrom)))
	}
	return broken
}

// 7. A deadline that is pending has an alarm, which is not after it; and no alarm is past.
func checkWake(in Input, d Decision) (broken []string) {
	s := d.Status
	awake := func(deadline time.Time, why string) {
		if !deadline.IsZero() && (d.WakeAt.IsZero() || d.WakeAt.After(deadline)) {
			broken = append(broken, fmt.Sprintf("7a: %s at %s, and the alarm is at %s", why, clock(deadline), clock(d.WakeAt)))
		}
	}
	switch s.Phase {
	case v1alpha1.MeetingEnding:
		began := meta.FindStatusCondition(s.Conditions, v1alpha1.ConditionReconciling).LastTransitionTime.Time
		since := latest(ceilSecond(in.Now), latest(began, in.Seen.UnavailableSince))
		for _, left := range in.Left {
			since = latest(since, left.UnavailableSince)
		}
		awake(since.Add(engineUnavailableLimit), "an end that is not done")
	case v1alpha1.MeetingEnded:
		if in.Meeting.DeletionTimestamp == nil && !d.Delete {
			awake(s.EndTime.Add(1000*24*time.Hour), "an object to be removed")
		}
	default:
		if deadline := timeOf(s.ExpiryTime); in.Seen.Known && len(s.LeftMediaServers) == 0 && !hasMoved(in, d) || s.StartTime != nil {
			awake(deadline, "the expiry")
		} else if s.ExpiryTime != nil {
			awake(deadline.Add(engineUnavailableLimit), "the expiry")
		}
		if in.Seen.Known && s.ParticipantCount == 0 && !Stands(in.Meeting) && !hasMoved(in, d) {
			awake(in.Now.Add(1000*24*time.Hour), "an empty room")
		}
	}
	if !d.WakeAt.IsZero() && !d.WakeAt.After(in.Now) {
		broken = append(broken, fmt.Sprintf("7b: the alarm is at %s", clock(d.WakeAt)))
	}
	return broken
}

// 8. A plan on what a plan has made, at the same time, has nothing to change.
func checkSecondPlan(t testing.TB, in Input, d Decision) (broken []string) {
	if hasMoved(in, d) {
		return nil
	}
	in = copyOf(in)
	in.Meeting.Status = asStored(t, d.Status)
	if d.Refresh != nil {
		in.Seen.State = *d.Refresh
	}
	again := Plan(in)
	if !equality.Semantic.DeepEqual(in.Meeting.Status, again.Status) {
		broken = append(broken, "8a: the second plan says otherwise:\n"+cmp.Diff(in.Meeting.Status, again.Status))
	}
	if len(again.Events) > 0 || again.Refresh != nil {
		broken = append(broken, fmt.Sprintf("8b: the second plan has %v and %v to tell", again.Events, again.Refresh))
	}
	if again.Close != d.Close || again.Delete != d.Delete || !again.WakeAt.Equal(d.WakeAt) {
		broken = append(broken, "8c: the second plan does something else")
	}
	return broken
}
