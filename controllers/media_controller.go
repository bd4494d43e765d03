// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/tenant"
)

// mediaCountEvery is how often rooms and participants of a MediaServer are counted: one write at most, however many meetings
// there are.
const mediaCountEvery = 10 * time.Second

// MediaReconciler writes the status of MediaServers: whether they answer, and how much is on them.
type MediaReconciler struct {
	// Client reads its own writes.
	Client client.Client
	// Servers finds what a MediaServer was resolved to, and reports changes. Tenants use the MediaServers.
	Servers interface {
		Get(types.NamespacedName) (*tenant.MediaServer, bool)
		Notify(func(types.NamespacedName)) (stop func())
	}
	Tenants interface{ All() []*tenant.Tenant }
	// Observer knows whether media servers answer, what is on them, and which of them are one LiveKit.
	Observer interface {
		reacher
		Counts(engine.Server) (rooms, participants int)
		SharedWith(engine.Server) (types.NamespacedName, bool)
	}
	Events events.EventRecorder
	Now    func() time.Time

	wakes wakes
}

// Reconcile gathers and writes the status.
func (r *MediaReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var o v1alpha1.MediaServer
	if err := r.Client.Get(ctx, request.NamespacedName, &o); err != nil {
		return ctrl.Result{}, kube.IgnoreGone(err)
	}
	again := ctrl.Result{RequeueAfter: mediaCountEvery}
	s, ok := r.Servers.Get(request.NamespacedName)
	if !ok || s.Generation != o.Generation || r.knowsLess(&o, s) {
		return again, nil // The registry and the observer call back when they know it.
	}
	return afterWrites(again, r.writeStatus(ctx, &o, r.status(&o, s)))
}

// knowsLess says that the status has more about the media server than this manager knows yet.
func (r *MediaReconciler) knowsLess(o *v1alpha1.MediaServer, s *tenant.MediaServer) bool {
	if s.Engine == nil || o.Status.ObservedGeneration != o.Generation {
		return false
	}
	since, err := r.Observer.Reach(s.Server)
	c := meta.FindStatusCondition(o.Status.Conditions, v1alpha1.ConditionReachable)
	return since.IsZero() && err == nil && c != nil && c.Reason != v1alpha1.ReasonNotChecked
}

func (r *MediaReconciler) status(o *v1alpha1.MediaServer, s *tenant.MediaServer) v1alpha1.MediaServerStatus {
	status := *o.Status.DeepCopy()
	status.ObservedGeneration, status.ConferenceConfigs = o.Generation, 0
	for _, t := range r.Tenants.All() {
		if m := t.MediaAt(s.Name); m != nil && !m.Retired {
			status.ConferenceConfigs++
		}
	}
	rooms, participants := r.Observer.Counts(s.Server)
	status.Rooms, status.Participants = int32(rooms), int32(participants)
	setConditions(&status.Conditions, r.conditions(o, s))
	return status
}

func (r *MediaReconciler) conditions(o *v1alpha1.MediaServer, s *tenant.MediaServer) []metav1.Condition {
	wanted := []metav1.Condition{{Type: v1alpha1.ConditionKeyResolved, Reason: v1alpha1.ReasonResolved, Message: "LiveKit's key and secret were read"}}
	ready := metav1.Condition{Type: v1alpha1.ConditionReady, Reason: v1alpha1.ReasonServing, Message: "LiveKit answers and accepts the key"}
	if s.Draining {
		ready.Message = "LiveKit answers; no new meetings are placed here, because spec.draining is set"
	}
	problems := s.Problems
	if s.Engine != nil {
		wanted = append(wanted, metav1.Condition{Type: v1alpha1.ConditionReachable, Reason: v1alpha1.ReasonReachable, Message: "LiveKit answers at " + s.Server.URL})
		if p := reachProblem(r.Observer, &s.Media); p != nil {
			p.Condition, p.Fatal = v1alpha1.ConditionReachable, true
			problems = append(problems, *p)
		}
		problems = append(problems, r.sharedProblem(s)...)
	}
	return settle(wanted, problems, ready, o.Generation, metav1.NewTime(r.Now()))
}

// sharedProblem reports that another MediaServer is the same LiveKit. Its message leaves out the names of other namespaces.
func (r *MediaReconciler) sharedProblem(s *tenant.MediaServer) []tenant.Problem {
	other, shared := r.Observer.SharedWith(s.Server)
	if !shared {
		return nil
	}
	which := fmt.Sprintf("MediaServer %q", other.Name)
	if other.Namespace != s.Name.Namespace {
		which = "a MediaServer of another namespace"
	}
	return []tenant.Problem{{
		Condition: v1alpha1.ConditionSharedLiveKit, Reason: v1alpha1.ReasonSameRooms, WhenTrue: true,
		Message: fmt.Sprintf("The same LiveKit as %s: both list the same rooms, and the load counts twice; keep one of the two, and name it in spec.mediaRefs "+
			"of each ConferenceConfig", which),
	}}
}

func (r *MediaReconciler) writeStatus(ctx context.Context, o *v1alpha1.MediaServer, status v1alpha1.MediaServerStatus) error {
	if equality.Semantic.DeepEqual(o.Status, status) {
		return nil
	}
	before := o.Status.Conditions
	o.Status = status
	return updateConditions(ctx, r.Client, r.Events, o, "MediaServer", before, status.Conditions)
}

// Wake looks at a MediaServer.
func (r *MediaReconciler) Wake(name types.NamespacedName) { r.wakes.add(usual, name) }

// SetupWithManager has the reconciler called for MediaServers whose spec or Secret has changed, and by Wake.
func (r *MediaReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("mediaserver").
		For(&v1alpha1.MediaServer{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(r.wakes.source(func() (stop func()) { return r.Servers.Notify(r.Wake) })).
		WithOptions(options(2)).
		Complete(r)
}
