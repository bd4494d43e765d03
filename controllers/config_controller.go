// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/tenant"
)

// ConfigReconciler says of ConferenceConfigs how they are served, and makes their signing keys.
type ConfigReconciler struct {
	// Client reads its own writes.
	Client client.Client
	// Secrets writes without a cache.
	Secrets client.Client
	Tenants Tenants
	// Meetings counts the Meetings of a ConferenceConfig, and reports changes.
	Meetings *directory.Directory
	// HostProblems are why a ConferenceConfig does not answer all hosts that it asks for.
	HostProblems func(client.ObjectKey) []tenant.Problem
	// MissingFields lists the fields that the cluster's CRDs lack, if that is known yet.
	MissingFields func() (fields []string, known bool)
	// Observer says whether media servers answer.
	Observer reacher
	Events   events.EventRecorder
	Now      func() time.Time

	wakes wakes
}

// Reconcile gathers, decides and applies.
func (r *ConfigReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var config v1alpha1.ConferenceConfig
	if err := r.Client.Get(ctx, request.NamespacedName, &config); err != nil {
		return ctrl.Result{}, kube.IgnoreGone(err)
	}
	return afterWrites(ctrl.Result{}, r.reconcile(ctx, &config))
}

func (r *ConfigReconciler) reconcile(ctx context.Context, config *v1alpha1.ConferenceConfig) error {
	gone, failed := kube.RemoveFinalizer(ctx, r.Client, config)
	if gone || kube.AnswerOf(failed).IsOutdated() {
		return failed
	}
	// Whatever else failed, the status is written: a policy may deny the one and admit the other.
	tellRefusal(r.Events, config, failed)
	var noKeys error
	if config.DeletionTimestamp == nil {
		noKeys = r.ensureSigningKeys(ctx, config)
		failed = errors.Join(failed, noKeys)
	}
	t, ok := r.Tenants.Get(client.ObjectKeyFromObject(config))
	if !ok || t.Generation != config.Generation {
		return failed // The registry tells when it has resolved it.
	}
	if r.knowsLess(config, t) {
		return failed // The observer calls back after its first look.
	}
	totals := r.Meetings.Totals(t)
	status := r.status(config, t, count{live: int32(totals.Rooms), participants: int32(totals.Users)}, noKeys)
	return errors.Join(r.writeStatus(ctx, config, status), failed)
}

// count of a ConferenceConfig's Meetings.
type count struct {
	live, participants int32
}

// ensureSigningKeys makes the Secret of the signing keys, unless it is there or the operator keeps one of their own.
func (r *ConfigReconciler) ensureSigningKeys(ctx context.Context, config *v1alpha1.ConferenceConfig) error {
	if config.Spec.Tokens != nil && config.Spec.Tokens.SigningKeysSecretRef != nil {
		return nil
	}
	if t, ok := r.Tenants.Get(client.ObjectKeyFromObject(config)); ok && t.Signer != nil {
		return nil
	}
	err := r.Secrets.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       config.Namespace,
			Name:            tenant.SigningKeysSecret(config),
			Labels:          map[string]string{v1alpha1.LabelManagedBy: "convene", v1alpha1.LabelUsedBy: v1alpha1.UsedByConferenceConfig},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(config, v1alpha1.GroupVersion.WithKind("ConferenceConfig"))},
		},
		Data: credential.NewSigningKeys(r.Now()),
	})
	if kube.AlreadyExists(err) {
		return nil
	}
	return err
}

func (r *ConfigReconciler) writeStatus(ctx context.Context, config *v1alpha1.ConferenceConfig, status v1alpha1.ConferenceConfigStatus) error {
	if equality.Semantic.DeepEqual(config.Status, status) {
		return nil
	}
	before := config.Status.Conditions
	config.Status = status
	return updateConditions(ctx, r.Client, r.Events, config, "ConferenceConfig", before, status.Conditions)
}

// Wake looks at a ConferenceConfig.
func (r *ConfigReconciler) Wake(name types.NamespacedName) { r.wakes.add(usual, name) }

// countDelay gathers changes of Meetings into one count of a ConferenceConfig.
const countDelay = 3 * time.Second

func (r *ConfigReconciler) follower() directory.Follower {
	countLater := func(m *v1alpha1.Meeting) {
		name := types.NamespacedName{Namespace: m.Namespace, Name: m.Spec.ConfigRef.Name}
		(*r.wakes.queue.Load()).AddAfter(reconcile.Request{NamespacedName: name}, countDelay)
	}
	return directory.Follower{Found: countLater, Changed: countLater, Gone: countLater}
}

// SetupWithManager has the reconciler called for ConferenceConfigs, for Tenants that change, by Wake, and a moment after their Meetings changed.
func (r *ConfigReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("conferenceconfig").
		For(&v1alpha1.ConferenceConfig{}, builder.WithPredicates(predicate.Or(
			predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{}))).
		WatchesRawSource(r.wakes.source(func() (stop func()) { return r.Tenants.Notify(r.Wake) })).
		WatchesRawSource(r.wakes.source(func() (stop func()) { return r.Meetings.Follow(r.follower()) })).
		WithOptions(options(2)).
		Complete(r)
}
