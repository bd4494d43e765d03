// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/tenant"
)

// settle puts problems in the place of the conditions that they contradict. Ready is False with the first fatal problem, unless
// it says so already.
func settle(wanted []metav1.Condition, problems []tenant.Problem, ready metav1.Condition, generation int64, now metav1.Time) []metav1.Condition {
	for _, p := range problems {
		condition := metav1.Condition{Type: p.Condition, Status: metav1.ConditionFalse, Reason: p.Reason, Message: p.Message}
		if p.WhenTrue {
			condition.Status = metav1.ConditionTrue
		}
		wanted = replace(wanted, condition)
		if p.Fatal && ready.Status == "" {
			ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, p.Reason, p.Message
		}
	}
	wanted = append(wanted, ready)
	if ready.Status == metav1.ConditionFalse && byHand[ready.Reason] {
		wanted = append(wanted, metav1.Condition{Type: v1alpha1.ConditionStalled, Reason: ready.Reason, Message: ready.Message})
	}
	for i := range wanted {
		if wanted[i].Status == "" {
			wanted[i].Status = metav1.ConditionTrue
		}
		wanted[i].LastTransitionTime, wanted[i].ObservedGeneration = now, generation
	}
	return wanted
}

// byHand are the reasons that nothing but a change by a person fixes. The others may pass by themselves: a Secret may be
// about to be made, LiveKit about to start.
var byHand = map[string]bool{
	v1alpha1.ReasonKeyEmpty:       true,
	v1alpha1.ReasonKeyPublished:   true,
	v1alpha1.ReasonKeyTooShort:    true,
	v1alpha1.ReasonSourceInvalid:  true,
	v1alpha1.ReasonOlderConfig:    true,
	v1alpha1.ReasonContradiction:  true,
	v1alpha1.ReasonUnauthorized:   true,
	v1alpha1.ReasonAddressInvalid: true,
	v1alpha1.ReasonNotAllowed:     true,
}

// replace puts a problem in the place of the condition that it contradicts; of several problems of one type the first
// stays and the others are added to its message.
func replace(all []metav1.Condition, c metav1.Condition) []metav1.Condition {
	old := meta.FindStatusCondition(all, c.Type)
	switch {
	case old == nil:
		return append(all, c)
	case old.Status == "":
		*old = c
	default:
		old.Message += "; " + c.Message
	}
	return all
}

// setConditions makes the list say exactly what is wanted; transition times change only with the state.
func setConditions(list *[]metav1.Condition, wanted []metav1.Condition) {
	for _, old := range append([]metav1.Condition(nil), *list...) {
		if meta.FindStatusCondition(wanted, old.Type) == nil {
			meta.RemoveStatusCondition(list, old.Type)
		}
	}
	for _, c := range wanted {
		c.Message = cut(c.Message)
		meta.SetStatusCondition(list, c)
	}
}

// tell makes an Event of each condition that has come to say something else.
func tell(to events.EventRecorder, about runtime.Object, before, now []metav1.Condition) {
	for _, c := range now {
		old := meta.FindStatusCondition(before, c.Type)
		if old != nil && old.Status == c.Status && old.Reason == c.Reason {
			continue
		}
		if c.Type == v1alpha1.ConditionStalled {
			continue // Ready says the same.
		}
		if c.Reason == v1alpha1.ReasonNotChecked {
			continue // Each start begins so, and a moment later it is known.
		}
		good := (c.Status == metav1.ConditionTrue) != isProblem(c.Type)
		if (old == nil || old.Reason == v1alpha1.ReasonNotChecked) && good {
			continue // What never failed needs no Event to say that it works.
		}
		record(to, about, !good, c.Reason, c.Message)
	}
}

func isProblem(condition string) bool {
	switch condition {
	case v1alpha1.ConditionWeakSecret, v1alpha1.ConditionKeyRefused, v1alpha1.ConditionLegacyKeyRefused, v1alpha1.ConditionHostConflict,
		v1alpha1.ConditionProtectionOmitted, v1alpha1.ConditionSettingsInvalid, v1alpha1.ConditionMediaServersDegraded,
		v1alpha1.ConditionCRDsOutdated, v1alpha1.ConditionSharedLiveKit:
		return true
	}
	return false
}
