// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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
	// LeaseNamespace is that of the managers and their Leases; empty means that the managers have been stopped.
	LeaseNamespace string
	// Replicas selects the Leases that each manager has, beside the one of the leader.
	Replicas labels.Selector
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

// stopManagers returns once no manager runs, and none of their Leases is left for a later installation to wait for.
func (o ReleaseOptions) stopManagers(ctx context.Context, c client.Client) error {
	watch := leaseWatch{}
	return wait.PollUntilContextCancel(ctx, stopPoll, true, func(ctx context.Context) (done bool, err error) {
		scaled, err := o.scaledDown(ctx, c)
		if err != nil {
			return false, err
		}
		leases, err := o.leases(ctx, c)
		if err != nil {
			return false, err
		}
		if held := watch.held(leases, time.Now()); scaled && held == 0 {
			return true, deleteLeases(ctx, c, leases)
		}
		o.Log.Info("Waiting until no manager runs")
		return false, nil
	})
}

// scaledDown asks for no managers and says whether that was heard. Pods that are being stopped have their Leases.
func (o ReleaseOptions) scaledDown(ctx context.Context, c client.Client) (bool, error) {
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
	return d.Status.ObservedGeneration >= d.Generation && d.Status.Replicas == 0, nil
}

// leases are those of the managers, the leader's among them.
func (o ReleaseOptions) leases(ctx context.Context, c client.Client) ([]coordinationv1.Lease, error) {
	var replicas coordinationv1.LeaseList
	if err := c.List(ctx, &replicas, client.InNamespace(o.LeaseNamespace), client.MatchingLabelsSelector{Selector: o.Replicas}); err != nil {
		return nil, err
	}
	var leader coordinationv1.Lease
	err := c.Get(ctx, client.ObjectKey{Namespace: o.LeaseNamespace, Name: LeaseName}, &leader)
	if err == nil {
		replicas.Items = append(replicas.Items, leader)
	}
	return replicas.Items, client.IgnoreNotFound(err)
}

// deleteLeases leaves one that was renewed meanwhile.
func deleteLeases(ctx context.Context, c client.Client, leases []coordinationv1.Lease) error {
	for _, l := range leases {
		if err := DeleteAsRead(ctx, c, &l); err != nil {
			return err
		}
	}
	return nil
}

// leaseWatch follows Leases as leader election does: a Lease that was not renewed for its duration, by the clock of this
// machine, has run out. When its holder says that it renewed it does not matter, because the holder's clock may be wrong.
type leaseWatch map[types.UID]seenLease

type seenLease struct {
	renewed metav1.MicroTime
	since   time.Time
}

// held says how many managers hold a Lease. A manager that stops gives its Leases up. One that was killed lets them run out.
func (w leaseWatch) held(leases []coordinationv1.Lease, now time.Time) (count int) {
	for _, l := range leases {
		spec := l.Spec
		if ptr.Deref(spec.HolderIdentity, "") == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
			continue
		}
		seen, ok := w[l.UID]
		if !ok || !seen.renewed.Equal(spec.RenewTime) {
			seen = seenLease{*spec.RenewTime, now}
			w[l.UID] = seen
		}
		if now.Before(seen.since.Add(time.Duration(*spec.LeaseDurationSeconds) * time.Second)) {
			count++
		}
	}
	return count
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
