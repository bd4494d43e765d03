// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

// What is true of every Meeting and every ConferenceConfig that the API server ever shows, whatever test it is from.
// Broken ones are told by number.

var (
	reason  = regexp.MustCompile(`^[A-Z][A-Za-z]*$`)
	message = regexp.MustCompile(`(?s)^\S(.*[^.\s])?$`)
)

// 1. Conditions are whole: known, once each, with a reason in CamelCase, a message for people, a time, and a
// generation that has been.
func checkConditions(generation int64, conditions []metav1.Condition, known ...string) (broken []string) {
	seen := map[string]bool{}
	for _, c := range conditions {
		switch {
		case !slices.Contains(known, c.Type):
			broken = append(broken, fmt.Sprintf("1a: nobody knows the condition %s", c.Type))
		case seen[c.Type]:
			broken = append(broken, fmt.Sprintf("1b: %s is there twice", c.Type))
		case c.Status != metav1.ConditionTrue && c.Status != metav1.ConditionFalse:
			broken = append(broken, fmt.Sprintf("1c: %s is %s", c.Type, c.Status))
		case !reason.MatchString(c.Reason):
			broken = append(broken, fmt.Sprintf("1d: the reason of %s is %q", c.Type, c.Reason))
		case !message.MatchString(c.Message) || len(c.Message) > 1024:
			broken = append(broken, fmt.Sprintf("1e: the message of %s is %q", c.Type, c.Message))
		case c.LastTransitionTime.IsZero() || !c.LastTransitionTime.Truncate(time.Second).Equal(c.LastTransitionTime.Time):
			broken = append(broken, fmt.Sprintf("1f: the time of %s is %v", c.Type, c.LastTransitionTime))
		case c.ObservedGeneration < 1 || c.ObservedGeneration > generation:
			broken = append(broken, fmt.Sprintf("1g: %s is about generation %d of %d", c.Type, c.ObservedGeneration, generation))
		case isProblem(c.Type) && c.Status != metav1.ConditionTrue:
			broken = append(broken, fmt.Sprintf("1h: the problem %s is there, and %s", c.Type, c.Status))
		}
		seen[c.Type] = true
	}
	return broken
}

// meetingInvariants are broken ones of a Meeting; was is the version before, or nil.
func meetingInvariants(was, is *v1alpha1.Meeting) (broken []string) {
	s := is.Status
	says := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Sprintf(format, args...))
		}
	}
	broken = checkConditions(is.Generation, s.Conditions, v1alpha1.ConditionReady, v1alpha1.ConditionReconciling,
		v1alpha1.ConditionStalled, v1alpha1.ConditionOccupied, v1alpha1.ConditionEnded)
	if s.Phase == "" { // nobody has looked at it yet
		untouched := v1alpha1.MeetingStatus{ObservedGeneration: s.ObservedGeneration}
		says(s.ObservedGeneration == -1 && equality.Semantic.DeepEqual(s, untouched), "2a: a status without a phase: %+v", s)
		return broken
	}
	find := func(kind string) *metav1.Condition { return meta.FindStatusCondition(s.Conditions, kind) }
	ready, occupied, ended := find(v1alpha1.ConditionReady), find(v1alpha1.ConditionOccupied), find(v1alpha1.ConditionEnded)
	over, ending := s.Phase == v1alpha1.MeetingEnded, s.Phase == v1alpha1.MeetingEnding

	// 2. The phase and the conditions say the same.
	if ready == nil || occupied == nil || ended == nil {
		return append(broken, fmt.Sprintf("2b: phase %s with Ready %v, Occupied %v, Ended %v", s.Phase, ready, occupied, ended))
	}
	says((ready.Status == metav1.ConditionTrue) == (s.Phase == v1alpha1.MeetingActive), "2c: phase %s with Ready %v", s.Phase, ready)
	says((find(v1alpha1.ConditionReconciling) != nil) == ending, "2d: phase %s with Reconciling %v", s.Phase, find(v1alpha1.ConditionReconciling))
	says((ended.Status == metav1.ConditionTrue) == over && (!over || ended.Reason == string(s.EndReason)), "2e: phase %s (%s) with Ended %v", s.Phase, s.EndReason, ended)
	says((occupied.Reason == v1alpha1.ReasonUnjoined) == (s.StartTime == nil) || ending, "2f: started %v with Occupied %v", s.StartTime, occupied)
	says(over || ending || (occupied.Status == metav1.ConditionTrue) == (s.ParticipantCount > 0), "2g: %d in with Occupied %v", s.ParticipantCount, occupied)

	// 3. Times and reasons are there when they should be, and in order.
	says((s.EndTime != nil) == over, "3a: phase %s with endTime %v", s.Phase, s.EndTime)
	says((s.EndReason != "") == (over || ending), "3b: phase %s with endReason %q", s.Phase, s.EndReason)
	says(s.Duration != "" && s.URL != "" || s.Phase != v1alpha1.MeetingActive, "3c: active with duration %q and url %q", s.Duration, s.URL)
	says((s.ExpiryTime != nil) == (s.Duration != v1alpha1.Unlimited), "3d: duration %s with expiryTime %v", s.Duration, s.ExpiryTime)
	says(s.StartTime == nil || !s.StartTime.Before(&is.CreationTimestamp), "3e: it began before it was made")
	says(s.EndTime == nil || s.StartTime == nil || !s.EndTime.Before(s.StartTime), "3f: it ended before it began")
	says(s.EndReason != v1alpha1.EndExpired || over == false || !s.EndTime.Before(s.ExpiryTime), "3g: it expired before its expiry")
	says(s.ObservedGeneration >= 1 && s.ObservedGeneration <= is.Generation, "3h: observedGeneration is %d of %d", s.ObservedGeneration, is.Generation)

	// 4. Participants are listed as far as there is room, and none after the end.
	says(len(s.Participants) == min(int(s.ParticipantCount), 100), "4a: %d listed of %d", len(s.Participants), s.ParticipantCount)
	says(!over || s.ParticipantCount == 0, "4b: %d in after the end", s.ParticipantCount)
	says(slices.IsSortedFunc(s.Participants, func(a, b v1alpha1.Participant) int { return a.JoinTime.Compare(b.JoinTime.Time) }), "4c: not oldest first")

	// 5. Nothing of Convene's keeps an object that is deleted.
	says(!slices.Contains(is.Finalizers, v1alpha1.Finalizer), "5: phase %s with the finalizer", s.Phase)
	if was == nil || was.UID != is.UID || was.Status.Phase == "" {
		return broken
	}

	// 6. From one version to the next nothing goes back.
	before := was.Status
	says(before.StartTime == nil || before.StartTime.Equal(s.StartTime), "6a: startTime went from %v to %v", before.StartTime, s.StartTime)
	says(before.EndTime == nil || before.EndTime.Equal(s.EndTime), "6b: endTime went from %v to %v", before.EndTime, s.EndTime)
	says(before.EndReason == "" || before.EndReason == s.EndReason, "6c: endReason went from %s to %s", before.EndReason, s.EndReason)
	says(order(s.Phase) >= order(before.Phase), "6d: the phase went from %s to %s", before.Phase, s.Phase)
	says(before.ObservedGeneration <= s.ObservedGeneration, "6e: observedGeneration went from %d to %d", before.ObservedGeneration, s.ObservedGeneration)
	return append(broken, checkTransitions(before.Conditions, s.Conditions)...)
}

func order(p v1alpha1.MeetingPhase) int {
	return map[v1alpha1.MeetingPhase]int{v1alpha1.MeetingPending: 1, v1alpha1.MeetingActive: 1, v1alpha1.MeetingEnding: 2, v1alpha1.MeetingEnded: 3}[p]
}

// 7. A transition time moves when the state does, and only then.
func checkTransitions(before, now []metav1.Condition) (broken []string) {
	for _, c := range now {
		if old := meta.FindStatusCondition(before, c.Type); old != nil && old.Status == c.Status && !old.LastTransitionTime.Equal(&c.LastTransitionTime) {
			broken = append(broken, fmt.Sprintf("7: the time of %s moved without a transition", c.Type))
		}
	}
	return broken
}

// configInvariants are broken ones of a ConferenceConfig; was is the version before, or nil.
func configInvariants(was, is *v1alpha1.ConferenceConfig) (broken []string) {
	s := is.Status
	says := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Sprintf(format, args...))
		}
	}
	broken = checkConditions(is.Generation, s.Conditions, v1alpha1.ConditionReady, v1alpha1.ConditionStalled, v1alpha1.ConditionReconciling,
		v1alpha1.ConditionAPIKeysResolved, v1alpha1.ConditionSigningKeysResolved, v1alpha1.ConditionUsersResolved, v1alpha1.ConditionMediaServersReachable,
		v1alpha1.ConditionMediaServersDegraded, v1alpha1.ConditionWeakSecret, v1alpha1.ConditionKeyRefused, v1alpha1.ConditionLegacyKeyRefused, v1alpha1.ConditionHostConflict, v1alpha1.ConditionEndpointNamesValid, v1alpha1.ConditionProtectionOmitted, v1alpha1.ConditionSettingsInvalid,
		v1alpha1.ConditionCRDsOutdated)
	if len(s.Conditions) == 0 { // nobody has looked at it yet
		says(s.ObservedGeneration == -1, "8: looked at, and without conditions: %+v", s)
		return broken
	}
	find := func(kind string) *metav1.Condition { return meta.FindStatusCondition(s.Conditions, kind) }
	has := func(kind string, status metav1.ConditionStatus) bool {
		c := find(kind)
		return c != nil && c.Status == status
	}
	ready := find(v1alpha1.ConditionReady)

	// 8. Ready sums up what must hold for the tenant to be served.
	says(ready != nil, "8a: there is no Ready")
	for _, must := range []string{v1alpha1.ConditionAPIKeysResolved, v1alpha1.ConditionSigningKeysResolved, v1alpha1.ConditionMediaServersReachable} {
		says(find(must) != nil, "8b: there is no %s", must)
	}
	if ready != nil && ready.Status == metav1.ConditionTrue && s.ObservedGeneration == is.Generation {
		says(has(v1alpha1.ConditionAPIKeysResolved, metav1.ConditionTrue), "8c: Ready without API keys")
		says(find(v1alpha1.ConditionHostConflict) == nil, "8d: Ready with a HostConflict")
		says(find(v1alpha1.ConditionSettingsInvalid) == nil, "8e: Ready with SettingsInvalid")
		media := find(v1alpha1.ConditionMediaServersReachable)
		says(media.Status == metav1.ConditionTrue, "8f: Ready with media that are %s", media.Reason)
		says(is.DeletionTimestamp == nil, "8g: Ready while it is being deleted")
		says(find(v1alpha1.ConditionStalled) == nil, "8h: Ready and Stalled")
	}
	// 9. The endpoints are those of the variant, in order, once each.
	says(slices.IsSorted(s.Endpoints) && len(slices.Compact(slices.Clone(s.Endpoints))) == len(s.Endpoints), "9a: endpoints %v", s.Endpoints)
	says(is.Spec.Variant == v1alpha1.VariantA || !slices.Contains(s.Endpoints, "meetingEnd"), "9b: variant B with %v", s.Endpoints)
	says(s.Meetings >= 0 && s.Participants >= 0, "9c: %d meetings, %d participants", s.Meetings, s.Participants)
	says(s.ObservedGeneration >= 1 && s.ObservedGeneration <= is.Generation, "9d: observedGeneration is %d of %d", s.ObservedGeneration, is.Generation)
	if was != nil && was.UID == is.UID {
		broken = append(broken, checkTransitions(was.Status.Conditions, s.Conditions)...)
	}
	return broken
}

func say(broken []string) string { return strings.Join(broken, "\n  ") }
