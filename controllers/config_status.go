// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/tenant"
)

// status works out what a ConferenceConfig's status has to say. The error is why its signing keys could not be stored, or nil.
func (r *ConfigReconciler) status(config *v1alpha1.ConferenceConfig, t *tenant.Tenant, c count, noKeys error) v1alpha1.ConferenceConfigStatus {
	status := *config.Status.DeepCopy()
	status.ObservedGeneration = config.Generation
	status.Endpoints = t.EnabledEndpoints()
	status.Meetings, status.Participants = c.live, c.participants

	problems := slices.Concat(t.Problems, r.HostProblems(client.ObjectKeyFromObject(config)), r.mediaProblems(t), r.definitionProblems(config))
	explainMissingKeys(problems, noKeys)
	setConditions(&status.Conditions, r.conditions(config, t, problems))
	return status
}

// explainMissingKeys says of a missing Secret of signing keys that the API server refuses it, and why.
func explainMissingKeys(problems []tenant.Problem, noKeys error) {
	if kube.AnswerOf(noKeys) != kube.Refused {
		return
	}
	for i := range problems {
		if p := &problems[i]; p.Condition == v1alpha1.ConditionSigningKeysResolved && p.Reason == v1alpha1.ReasonSecretNotFound {
			p.Reason = v1alpha1.ReasonRefused
			p.Message += "; the API server refuses to store it: " + refusalText(noKeys)
		}
	}
}

// namedFields is the number of missing fields that a condition names.
const namedFields = 10

// definitionProblems say that the cluster's CRDs lack fields. While that is not known, the condition stays as it is.
func (r *ConfigReconciler) definitionProblems(config *v1alpha1.ConferenceConfig) []tenant.Problem {
	missing, known := r.MissingFields()
	problem := tenant.Problem{Condition: v1alpha1.ConditionCRDsOutdated, Reason: v1alpha1.ReasonFieldsMissing, WhenTrue: true}
	if !known {
		was := meta.FindStatusCondition(config.Status.Conditions, problem.Condition)
		if was == nil {
			return nil
		}
		problem.Message = was.Message
		return []tenant.Problem{problem}
	}
	if len(missing) == 0 {
		return nil
	}
	named := strings.Join(missing[:min(len(missing), namedFields)], ", ")
	if more := len(missing) - namedFields; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	problem.Message = "The cluster's CRDs are older than Convene and lack fields: " + named +
		". Decisions that need these fields are refused, and statuses lose them. Apply the CRDs of this version of Convene"
	return []tenant.Problem{problem}
}

// knowsLess reports whether the status was written with more knowledge of the media servers than this manager has yet. A manager
// that has just begun to lead must not report a served ConferenceConfig as not ready, also not after an update that renames
// conditions: Ready keeps its name.
func (r *ConfigReconciler) knowsLess(config *v1alpha1.ConferenceConfig, t *tenant.Tenant) bool {
	c := meta.FindStatusCondition(config.Status.Conditions, v1alpha1.ConditionReady)
	if c == nil || c.Reason == v1alpha1.ReasonNotChecked || config.Status.ObservedGeneration != config.Generation {
		return false
	}
	return slices.ContainsFunc(t.Media, func(m *tenant.Media) bool {
		since, err := r.Observer.Reach(m.Server)
		return since.IsZero() && err == nil
	})
}

// mediaProblems say which media servers do not answer. That is fatal only when none answers.
func (r *ConfigReconciler) mediaProblems(t *tenant.Tenant) (problems []tenant.Problem) {
	answering := false
	for _, m := range t.Media {
		if m.Retired {
			continue
		}
		if p := reachProblem(r.Observer, m); p != nil {
			problems = append(problems, *p)
		} else {
			answering = true
		}
	}
	for i := range problems {
		p := &problems[i]
		p.Condition, p.Fatal = v1alpha1.ConditionMediaServersReachable, true
		if answering {
			p.Condition, p.WhenTrue, p.Fatal = v1alpha1.ConditionMediaServersDegraded, true, false
		}
	}
	return problems
}

// reacher says since when a media server has answered, or why it does not.
type reacher interface {
	Reach(engine.Server) (since time.Time, err error)
}

// reachProblem is why a media server does not answer; nil when it does. It tells tenants nothing of the address.
func reachProblem(observer reacher, m *tenant.Media) *tenant.Problem {
	since, err := observer.Reach(m.Server)
	switch {
	case err != nil && fault.As(err).Reason == v1alpha1.ReasonUnauthorized:
		return &tenant.Problem{
			Reason: v1alpha1.ReasonUnauthorized, Message: fmt.Sprintf("LiveKit refuses the key of MediaServer %q; put its apiKey and apiSecret into the Secret", m.Name),
		}
	case err != nil && fault.As(err).Reason == v1alpha1.ReasonNamespaceFull:
		return &tenant.Problem{
			Reason:  v1alpha1.ReasonNamespaceFull,
			Message: fmt.Sprintf("LiveKit at MediaServer %q has more rooms than Convene keeps in memory for one namespace; "+kube.RaiseMemory, m.Name),
		}
	case err != nil:
		return &tenant.Problem{
			Reason: v1alpha1.ReasonUnreachable, Message: fmt.Sprintf("LiveKit does not answer at MediaServer %q; check its spec.apiURL and that LiveKit runs", m.Name),
		}
	case since.IsZero():
		return &tenant.Problem{Reason: v1alpha1.ReasonNotChecked, Message: fmt.Sprintf("MediaServer %q has not been asked yet", m.Name)}
	}
	return nil
}

// conditions are all that the status should have: those that hold when nothing is wrong, each replaced by the first
// problem that says otherwise, and problems that have a condition of their own.
func (r *ConfigReconciler) conditions(config *v1alpha1.ConferenceConfig, t *tenant.Tenant, problems []tenant.Problem) []metav1.Condition {
	now := metav1.NewTime(r.Now())
	wanted := []metav1.Condition{
		{Type: v1alpha1.ConditionAPIKeysResolved, Reason: v1alpha1.ReasonResolved, Message: fmt.Sprintf("Usable API keys: %d", t.Keys.Len())},
		{Type: v1alpha1.ConditionSigningKeysResolved, Reason: v1alpha1.ReasonResolved, Message: "Tokens and links can be signed"},
	}
	if !t.NamesUnread {
		wanted = append(wanted, metav1.Condition{
			Type: v1alpha1.ConditionEndpointNamesValid, Reason: v1alpha1.ReasonValid, Message: "No endpoint's name is unknown or omitted",
		})
	}
	if t.Users != nil {
		wanted = append(wanted, metav1.Condition{Type: v1alpha1.ConditionUsersResolved, Reason: v1alpha1.ReasonResolved, Message: fmt.Sprintf("Users: %d", t.Users.Len())})
	}
	if t.HasMedia() {
		wanted = append(wanted, metav1.Condition{Type: v1alpha1.ConditionMediaServersReachable, Reason: v1alpha1.ReasonReachable, Message: "LiveKit answers"})
	}
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Reason: v1alpha1.ReasonServing, Message: "Serving " + t.BaseURL}
	if config.DeletionTimestamp != nil {
		ready.Status, ready.Reason, ready.Message = metav1.ConditionFalse, v1alpha1.ReasonDeleting, "Being deleted; its meetings are being ended"
	}
	return settle(wanted, problems, ready, config.Generation, now)
}
