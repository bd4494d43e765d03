// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"convene.dev/convene/api/v1alpha1"
)

// leasePoll is how often release looks whether a manager still leads.
const leasePoll = time.Second

// LeaseName is the Lease of the manager that leads.
const LeaseName = "controllers.convene.dev"

// Release is the last step when Convene is uninstalled: it takes Convene's finalizers off every Meeting and
// ConferenceConfig, so that none hangs when it is deleted with no manager there to end it. It waits until no manager leads, because a leader would
// put them on again, as the managers of a later installation do.
func Release(ctx context.Context, config *rest.Config, namespace, leaseNamespace string, log logr.Logger) error {
	scheme := runtime.NewScheme()
	_ = coordinationv1.AddToScheme(scheme)
	_ = v1alpha1.AddToScheme(scheme)
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	if err := awaitNoLeader(ctx, c, leaseNamespace, log); err != nil {
		return err
	}
	// Meetings first: a ConferenceConfig without finalizer may go, and its Meetings would find none.
	for _, list := range []client.ObjectList{&v1alpha1.MeetingList{}, &v1alpha1.ConferenceConfigList{}} {
		if err := releaseAll(ctx, c, namespace, list, log); err != nil {
			return err
		}
	}
	return nil
}

func awaitNoLeader(ctx context.Context, c client.Client, namespace string, log logr.Logger) error {
	if namespace == "" {
		return nil
	}
	tick := time.NewTicker(leasePoll)
	defer tick.Stop()
	var watch leaseWatch
	for {
		var lease coordinationv1.Lease
		err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: LeaseName}, &lease)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if err != nil || !watch.held(lease.Spec, time.Now()) {
			return nil
		}
		log.Info("Waiting until no manager leads")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// leaseWatch follows a Lease as leader election does: a Lease that was not renewed for its duration, by the clock of this
// machine, has run out. When its holder says that it renewed it does not matter, because the holder's clock may be wrong.
type leaseWatch struct {
	renewed metav1.MicroTime
	since   time.Time
}

// held says whether a manager holds the Lease. A manager that stops gives it up. One that was killed lets it run out.
func (w *leaseWatch) held(spec coordinationv1.LeaseSpec, now time.Time) bool {
	if ptr.Deref(spec.HolderIdentity, "") == "" || spec.RenewTime == nil || spec.LeaseDurationSeconds == nil {
		return false
	}
	if w.since.IsZero() || !w.renewed.Equal(spec.RenewTime) {
		w.renewed, w.since = *spec.RenewTime, now
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
