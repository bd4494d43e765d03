// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"convene.dev/convene/api/v1alpha1"
)

// stopPoll is how often Release looks whether a manager still runs.
const stopPoll = 500 * time.Millisecond

// LeaseName is the Lease of the manager that leads.
const LeaseName = "controllers.convene.dev"

// ReleaseOptions are what the last step of an uninstallation works on.
type ReleaseOptions struct {
	// Namespace of the objects; empty means all.
	Namespace string
	// LeaseNamespace is the namespace of the managers and of their Lease; empty means that the managers have been stopped.
	LeaseNamespace string
	// Deployment of the managers is scaled to none first; empty means that something else stops them.
	Deployment string
	Log        logr.Logger
}

// Release is the last step when Convene is uninstalled: it takes Convene's finalizers off every Meeting and
// ConferenceConfig, so that none hangs when it is deleted with no manager there to end it. It waits until no manager runs,
// because one of them would lead and put them on again, as the managers of a later installation do.
func Release(ctx context.Context, config *rest.Config, o ReleaseOptions) error {
	scheme := runtime.NewScheme()
	_ = appsv1.AddToScheme(scheme)
	_ = coordinationv1.AddToScheme(scheme)
	_ = corev1.AddToScheme(scheme)
	_ = v1alpha1.AddToScheme(scheme)
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	if o.LeaseNamespace != "" {
		if err := o.stopManagers(ctx, c); err != nil {
			return err
		}
	}
	// Meetings first: a ConferenceConfig without finalizer may go, and its Meetings would find none.
	for _, list := range []client.ObjectList{&v1alpha1.MeetingList{}, &v1alpha1.ConferenceConfigList{}} {
		if err := releaseAll(ctx, c, o.Namespace, list, o.Log); err != nil {
			return err
		}
	}
	return nil
}

// stopManagers returns once no manager runs, and no Lease is left for a later installation to wait for.
func (o ReleaseOptions) stopManagers(ctx context.Context, c client.Client) error {
	watch := leaseWatch{}
	return wait.PollUntilContextCancel(ctx, stopPoll, true, func(ctx context.Context) (done bool, err error) {
		stopped, err := o.stopped(ctx, c)
		if err != nil {
			return false, err
		}
		var lease coordinationv1.Lease
		err = c.Get(ctx, client.ObjectKey{Namespace: o.LeaseNamespace, Name: LeaseName}, &lease)
		if apierrors.IsNotFound(err) && stopped {
			return true, nil
		}
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
		if stopped && !watch.held(lease, time.Now()) {
			return true, DeleteAsRead(ctx, c, &lease)
		}
		o.Log.Info("Waiting until no manager runs")
		return false, nil
	})
}

// stopped scales the Deployment to none, and reports whether none of its pods runs.
func (o ReleaseOptions) stopped(ctx context.Context, c client.Client) (bool, error) {
	if o.Deployment == "" {
		return true, nil
	}
	var d appsv1.Deployment
	if err := c.Get(ctx, client.ObjectKey{Namespace: o.LeaseNamespace, Name: o.Deployment}, &d); err != nil {
		return true, client.IgnoreNotFound(err)
	}
	if ptr.Deref(d.Spec.Replicas, 1) > 0 {
		none := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":0}}`))
		return false, c.Patch(ctx, &d, none)
	}
	if d.Status.ObservedGeneration < d.Generation || d.Status.Replicas > 0 {
		return false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(d.Spec.Selector)
	if err != nil {
		return false, err
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.InNamespace(o.LeaseNamespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return false, err
	}
	return !slices.ContainsFunc(pods.Items, runs), nil
}

// runs reports whether a pod may still run. The status of a Deployment does not count the pods that are being stopped. The pod of a
// node that is lost stays past the time that it had for stopping.
func runs(p corev1.Pod) bool {
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	overdue := p.DeletionTimestamp != nil && p.DeletionTimestamp.Time.Before(time.Now())
	return !ended && !overdue
}

// leaseWatch follows the Lease as leader election does: a Lease that was not renewed for its duration, by the clock of this
// machine, has run out. When its holder says that it renewed it does not matter, because the holder's clock may be wrong.
type leaseWatch struct {
	uid     types.UID
	renewed metav1.MicroTime
	since   time.Time
}

// held reports whether a manager holds the Lease. A manager that stops gives the Lease up. One that was killed lets it run out.
func (w *leaseWatch) held(l coordinationv1.Lease, now time.Time) bool {
	spec := l.Spec
	if ptr.Deref(spec.HolderIdentity, "") == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return false
	}
	if w.uid != l.UID || !w.renewed.Equal(spec.RenewTime) {
		*w = leaseWatch{l.UID, *spec.RenewTime, now}
	}
	return now.Before(w.since.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second))
}

// releaseAll looks again at objects that were changed meanwhile.
func releaseAll(ctx context.Context, c client.Client, namespace string, list client.ObjectList, log logr.Logger) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error { return releaseOnce(ctx, c, namespace, list, log) })
}

func releaseOnce(ctx context.Context, c client.Client, namespace string, list client.ObjectList, log logr.Logger) error {
	err := c.List(ctx, list, client.InNamespace(namespace))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil // The kind itself has gone.
	}
	if err != nil {
		return err
	}
	var failed []error
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		object := o.(client.Object)
		if !controllerutil.ContainsFinalizer(object, v1alpha1.Finalizer) {
			return nil
		}
		if err := RemoveFinalizer(ctx, c, object); client.IgnoreNotFound(err) != nil {
			failed = append(failed, fmt.Errorf("%s/%s: %w", object.GetNamespace(), object.GetName(), err))
			return nil //nolint:nilerr // the others still have to be released
		}
		log.Info("Released", "namespace", object.GetNamespace(), "name", object.GetName())
		return nil
	})
	return errors.Join(failed...)
}
