// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// wakes let other parts of a manager put names into the queue of a controller. They never block: the caller may be the goroutine
// that applies a tenant's changes. While the controller does not run, names are dropped: it looks at every object when it starts.
type wakes struct{ queue atomic.Pointer[queue] }

// source gives wakes the queue of a controller that starts, and then calls start. What start returns is called when the controller stops.
func (w *wakes) source(start func() (stop func())) source.Source {
	return source.Func(func(ctx context.Context, q queue) error {
		w.queue.Store(&q)
		context.AfterFunc(ctx, start())
		return nil
	})
}

// add has objects reconciled. The priority orders those that wait: the highest is the next.
func (w *wakes) add(priority int, names ...types.NamespacedName) {
	q := w.queue.Load()
	if q == nil {
		return
	}
	all := make([]reconcile.Request, len(names))
	for i, name := range names {
		all[i] = reconcile.Request{NamespacedName: name}
	}
	(*q).(priorityqueue.PriorityQueue[reconcile.Request]).AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, all...)
}
