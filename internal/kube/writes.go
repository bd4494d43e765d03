// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"convene.dev/convene/api/v1alpha1"
)

// Annotate adds an annotation to an object that does not have it yet, if the object is still as it was read.
func Annotate(ctx context.Context, c client.Client, o client.Object, key, value string) error {
	if o.GetAnnotations()[key] != "" {
		return nil
	}
	was := o.DeepCopyObject().(client.Object)
	all := maps.Clone(o.GetAnnotations())
	if all == nil {
		all = map[string]string{}
	}
	all[key] = value
	o.SetAnnotations(all)
	err := patchAsRead(ctx, c, o, was)
	if err != nil {
		o.SetAnnotations(was.GetAnnotations())
	}
	return err
}

// RemoveFinalizer takes off the finalizer that earlier versions put on, if the object is still as it was read. What is being deleted
// goes with its last finalizer, and the API server deletes by name: it looks at the UID only for a PUT, which carries it. Where two take
// the finalizer off at once, a PATCH could delete the next object of that name. RemoveFinalizer reports whether the object has gone.
func RemoveFinalizer(ctx context.Context, c client.Client, o client.Object) (gone bool, err error) {
	was := o.DeepCopyObject().(client.Object)
	if !controllerutil.RemoveFinalizer(o, v1alpha1.Finalizer) {
		return false, nil
	}
	last := o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0
	if last {
		err = c.Update(ctx, o)
	} else {
		err = patchAsRead(ctx, c, o, was) // A PUT would take away what the cache does not hold.
	}
	if err != nil {
		o.SetFinalizers(was.GetFinalizers())
		return false, err
	}
	return last, nil
}

// DeleteAsRead deletes an object that is still as it was read, and leaves every other one of its name alone.
func DeleteAsRead(ctx context.Context, c client.Client, o client.Object) error {
	return IgnoreGone(c.Delete(ctx, o, client.Preconditions{UID: new(o.GetUID()), ResourceVersion: new(o.GetResourceVersion())}))
}

func patchAsRead(ctx context.Context, c client.Client, o, was client.Object) error {
	return c.Patch(ctx, o, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
}
