// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
)

// status works out what a ConferenceConfig's status has to say.
func (r *ConfigReconciler) status(config *v1alpha1.ConferenceConfig, t *tenant.Tenant, c count) v1alpha1.ConferenceConfigStatus {
	status := *config.Status.DeepCopy()
	status.ObservedGeneration = config.Generation
	status.Endpoints = t.EnabledEndpoints()
	status.Meetings, status.Participants = c.live, c.participants

	problems := append([]tenant.Problem(nil), t.Problems...)
	if hosts := r.Conflicts(client.ObjectKeyFromObject(config)); len(hosts) > 0 {
		problems = append(problems, tenant.Problem{
			Condition: v1alpha1.ConditionHostConflict, Reason: v1alpha1.ReasonOlderConfig, WhenTrue: true, Fatal: true,
			Message: "An older ConferenceConfig answers " + strings.Join(hosts, ", ") + ", or another namespace has hosts inside or around; take the hosts from one of the two",
		})
	}
	problems = append(problems, r.mediaProblem(t)...)
	problems = append(problems, r.frontProblem(t)...)
	setConditions(&status.Conditions, r.conditions(config, t, problems, c))
	return status
}

// knowsLess says that the status has more about the media server than this manager knows yet. One that has just begun to lead
// must not report a ConferenceConfig that is served as not ready.
func (r *ConfigReconciler) knowsLess(config *v1alpha1.ConferenceConfig, t *tenant.Tenant) bool {
	if t.Media == nil || config.Status.ObservedGeneration != config.Generation {
		return false
	}
	has := func(condition string) bool {
		c := meta.FindStatusCondition(config.Status.Conditions, condition)
		return c != nil && c.Reason != v1alpha1.ReasonNotChecked
	}
	since, err := r.Observer.Reach(t.Media.Server)
	unknown := since.IsZero() && err == nil
	unchecked := t.Media.BrowserURL != "" && r.Observer.BrowserURL(t.Media) == v1alpha1.ReasonNotChecked
	return unknown && has(v1alpha1.ConditionMediaReachable) || unchecked && has(v1alpha1.ConditionBrowserMediaReachable)
}

// mediaProblem says whether the engine answers.
func (r *ConfigReconciler) mediaProblem(t *tenant.Tenant) []tenant.Problem {
	if t.Media == nil {
		return nil // The tenant says why.
	}
	problem := tenant.Problem{Condition: v1alpha1.ConditionMediaReachable, Fatal: true}
	since, err := r.Observer.Reach(t.Media.Server)
	switch {
	case err != nil && fault.As(err).Reason == v1alpha1.ReasonUnauthorized:
		problem.Reason = v1alpha1.ReasonUnauthorized
		problem.Message = fmt.Sprintf("LiveKit at %s refuses the key; put its apiKey and apiSecret into the Secret", t.Media.Server.URL)
	case err != nil:
		problem.Reason = v1alpha1.ReasonUnreachable
		problem.Message = fmt.Sprintf("LiveKit at %s does not answer; check spec.media.apiURL and that it runs", t.Media.Server.URL)
	case since.IsZero():
		problem.Reason, problem.Message = v1alpha1.ReasonNotChecked, "LiveKit has not been asked yet"
	default:
		return nil
	}
	return []tenant.Problem{problem}
}

// frontProblem says whether the engine answers where browsers are sent.
func (r *ConfigReconciler) frontProblem(t *tenant.Tenant) []tenant.Problem {
	if t.Media == nil || t.Media.BrowserURL == "" {
		return nil
	}
	problem := tenant.Problem{Condition: v1alpha1.ConditionBrowserMediaReachable, Reason: r.Observer.BrowserURL(t.Media)}
	switch problem.Reason {
	case v1alpha1.ReasonReachable:
		return nil
	case v1alpha1.ReasonNotChecked:
		problem.Message = "Not checked yet"
	case v1alpha1.ReasonUnauthorized:
		problem.Message = fmt.Sprintf("Another LiveKit than the one of spec.media.apiURL answers at %s; check spec.media.browserURL", t.Media.BrowserURL)
	default:
		problem.Message = fmt.Sprintf("No LiveKit answers the managers at %s, where browsers are sent; check spec.media.browserURL, "+
			"or leave it out: browsers then come through the gateway", t.Media.BrowserURL)
	}
	return []tenant.Problem{problem}
}

// conditions are all that the status should have: those that hold when nothing is wrong, each replaced by the first
// problem that says otherwise, and problems that have a condition of their own.
func (r *ConfigReconciler) conditions(config *v1alpha1.ConferenceConfig, t *tenant.Tenant, problems []tenant.Problem, c count) []metav1.Condition {
	now := metav1.NewTime(r.Now())
	wanted := []metav1.Condition{
		{Type: v1alpha1.ConditionAPIKeysResolved, Reason: v1alpha1.ReasonResolved, Message: fmt.Sprintf("%d usable", t.Keys.Len())},
		{Type: v1alpha1.ConditionSigningKeysResolved, Reason: v1alpha1.ReasonResolved, Message: "Tokens and links can be signed"},
	}
	if t.Users != nil {
		wanted = append(wanted, metav1.Condition{Type: v1alpha1.ConditionUsersResolved, Reason: v1alpha1.ReasonResolved, Message: fmt.Sprintf("%d users", t.Users.Len())})
	}
	if t.Media != nil {
		wanted = append(wanted, metav1.Condition{Type: v1alpha1.ConditionMediaReachable, Reason: v1alpha1.ReasonReachable, Message: "LiveKit answers at " + t.Media.Server.URL})
	}
	if t.Media != nil && t.Media.BrowserURL != "" {
		wanted = append(wanted, metav1.Condition{
			Type: v1alpha1.ConditionBrowserMediaReachable, Reason: v1alpha1.ReasonReachable, Message: "Browsers find LiveKit at " + t.Media.BrowserURL,
		})
	}
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Reason: v1alpha1.ReasonServing, Message: "Serving " + t.BaseURL}
	if config.DeletionTimestamp != nil {
		ready.Status, ready.Reason = metav1.ConditionFalse, v1alpha1.ReasonDeleting
		ready.Message = fmt.Sprintf("Being deleted; %d meetings are being ended first", c.notOver)
	}
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
		wanted[i].LastTransitionTime, wanted[i].ObservedGeneration = now, config.Generation
	}
	return wanted
}

// byHand are the reasons that nothing but a change by a person fixes. The others may pass by themselves: a Secret may be
// about to be made, LiveKit about to start.
var byHand = map[string]bool{
	v1alpha1.ReasonKeyEmpty:      true,
	v1alpha1.ReasonKeyPublished:  true,
	v1alpha1.ReasonKeyTooShort:   true,
	v1alpha1.ReasonSourceInvalid: true,
	v1alpha1.ReasonOlderConfig:   true,
	v1alpha1.ReasonContradiction: true,
	v1alpha1.ReasonUnauthorized:  true,
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
		if len(c.Message) > 1024 {
			c.Message = strings.ToValidUTF8(c.Message[:1024], "")
		}
		meta.SetStatusCondition(list, c)
	}
}

// tell makes an Event of each condition that has come to say something else.
func (r *ConfigReconciler) tell(config *v1alpha1.ConferenceConfig, before []metav1.Condition) {
	for _, c := range config.Status.Conditions {
		old := meta.FindStatusCondition(before, c.Type)
		if old != nil && old.Status == c.Status && old.Reason == c.Reason {
			continue
		}
		if c.Type == v1alpha1.ConditionStalled {
			continue // Ready says the same.
		}
		good := (c.Status == metav1.ConditionTrue) != isProblem(c.Type)
		if old == nil && good {
			continue // What never failed needs no Event to say that it works.
		}
		record(r.Events, config, !good, c.Reason, c.Message)
	}
}

func isProblem(condition string) bool {
	switch condition {
	case v1alpha1.ConditionWeakSecret, v1alpha1.ConditionKeyRefused, v1alpha1.ConditionHostConflict,
		v1alpha1.ConditionEndpointNames, v1alpha1.ConditionSettingsInvalid:
		return true
	}
	return false
}
