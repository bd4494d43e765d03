// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"maps"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"convene.dev/convene/api/v1alpha1"
)

// WriteTimeout bounds one write of a reconciler to the cluster's API. An API that never answers would otherwise hold up a
// Meeting's end for as long as it likes.
const WriteTimeout = 5 * time.Second

// AddFinalizer adds Convene's, if the object is still as it was read. The same write adds annotations, those that the object has
// not yet. An object with the finalizer is left as it is.
func AddFinalizer(ctx context.Context, c client.Client, o client.Object, annotations map[string]string) error {
	was := o.DeepCopyObject().(client.Object)
	if !controllerutil.AddFinalizer(o, v1alpha1.Finalizer) {
		return nil
	}
	if len(annotations) > 0 {
		all := maps.Clone(annotations)
		maps.Copy(all, o.GetAnnotations())
		o.SetAnnotations(all)
	}
	return patchAsRead(ctx, c, o, was)
}

// RemoveFinalizer takes off Convene's, if the object is still as it was read. What is being deleted goes with its last
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
	ctx, cancel := context.WithTimeout(ctx, WriteTimeout)
	defer cancel()
	return c.Update(ctx, o)
}

// DeleteAsRead deletes an object that is still as it was read, and leaves every other one of its name alone.
func DeleteAsRead(ctx context.Context, c client.Client, o client.Object) error {
	ctx, cancel := context.WithTimeout(ctx, WriteTimeout)
	defer cancel()
	return client.IgnoreNotFound(c.Delete(ctx, o, client.Preconditions{UID: new(o.GetUID()), ResourceVersion: new(o.GetResourceVersion())}))
}

func patchAsRead(ctx context.Context, c client.Client, o, was client.Object) error {
	ctx, cancel := context.WithTimeout(ctx, WriteTimeout)
	defer cancel()
	return c.Patch(ctx, o, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
}
