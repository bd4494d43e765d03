// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

func options(parallel int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: parallel,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, 10*time.Second),
	}
}

func media(t *tenant.Tenant) *tenant.Media {
	if t == nil {
		return nil
	}
	return t.Media
}

func engineRoom(t *tenant.Tenant, m *v1alpha1.Meeting) engine.RoomName {
	if t == nil {
		return ""
	}
	return meeting.EngineRoom(string(t.UID), string(m.UID))
}

// roomOptions have the engine itself hold the limit: it counts those who come through any replica, or past all of them.
func roomOptions(t *tenant.Tenant, m *v1alpha1.Meeting) engine.RoomOptions {
	return engine.RoomOptions{MaxParticipants: t.Settings.ParticipantLimit(m.Spec.MaxParticipants)}
}

// longestWait bounds an alarm, so that a clock that is set forth is noticed: waits do not follow it.
const longestWait = time.Minute

// clearAt is requeueAt for a Meeting that is over. Nothing of it is urgent, and Jumps wakes it when the clock is set, so it
// waits in one step: there are many of these.
func clearAt(at, now time.Time) ctrl.Result {
	if at.IsZero() {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: max(at.Sub(now), time.Millisecond)}
}

// requeueAt turns a deadline into an exact wait, in steps where it is far. The wait is an alarm only: what is decided
// then comes from stored times.
func requeueAt(at, now time.Time) ctrl.Result {
	if at.IsZero() {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: min(max(at.Sub(now), time.Millisecond), longestWait)}
}

// writeTimeout bounds one write to the cluster's API. Whoever never answers would otherwise hold up a Meeting's end for
// as long as it likes.
const writeTimeout = 5 * time.Second

// conflictPause is before the next try of a write that came too late for what was read. The change that it lost to wakes
// the reconciler too, as soon as it is in the cache.
const conflictPause = 500 * time.Millisecond

// afterWrites says what to do after an error of a reconciler's writes. An object that is gone needs nothing: the cache will
// say so too.
func afterWrites(result ctrl.Result, err error) (ctrl.Result, error) {
	switch {
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	case apierrors.IsNotFound(err):
		return ctrl.Result{}, nil
	}
	return result, err
}

// addFinalizer adds ours, if the object is still as it was read.
func addFinalizer(ctx context.Context, c client.Client, o client.Object) error {
	was := o.DeepCopyObject().(client.Object)
	if !controllerutil.AddFinalizer(o, v1alpha1.Finalizer) {
		return nil
	}
	return patchAsRead(ctx, c, o, was)
}

// RemoveFinalizer takes off ours, if the object is still as it was read. What is being deleted goes with its last
// finalizer, and the API server deletes by name: it looks at the UID only for a PUT, which carries it. Where two take
// the finalizer off at once, a PATCH could delete the next object of that name.
func RemoveFinalizer(ctx context.Context, c client.Client, o client.Object) error {
	was := o.DeepCopyObject().(client.Object)
	if !controllerutil.RemoveFinalizer(o, v1alpha1.Finalizer) {
		return nil
	}
	if o.GetDeletionTimestamp() == nil {
		return patchAsRead(ctx, c, o, was)
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return c.Update(ctx, o)
}

func patchAsRead(ctx context.Context, c client.Client, o, was client.Object) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return c.Patch(ctx, o, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
}

func record(to events.EventRecorder, about runtime.Object, warning bool, reason, message string) {
	kind := corev1.EventTypeNormal
	if warning {
		kind = corev1.EventTypeWarning
	}
	to.Eventf(about, nil, kind, reason, "Reconcile", "%s", message)
}
