// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// tellers is what tells of changes of tenants.
type tellers map[int]func(types.NamespacedName)

func (t tellers) notify(f func(types.NamespacedName)) (stop func()) {
	id := len(t)
	t[id] = f
	return func() { delete(t, id) }
}

// A replica that stands by runs no controller: changes reach nobody, and nothing waits for a reader. A replica that leads
// queues each name once.
func TestWakesNeverBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := tellers{}
		sources := NewEventSources(told.notify, toNothing)
		source := sources.configs()
		if len(told) > 0 {
			t.Error("a controller that does not run listens")
		}
		for i := range 100_000 {
			sources.Tenant(types.NamespacedName{Name: fmt.Sprint(i % 3)})
		}

		ctx, stop := context.WithCancel(t.Context())
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer queue.ShutDown()
		if err := source.Start(ctx, queue); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := queue.Len(); n != 3 {
			t.Errorf("%d requests are queued for 3 names", n)
		}
		told[0](types.NamespacedName{Name: "another"})
		synctest.Wait()
		if n := queue.Len(); n != 4 {
			t.Errorf("%d requests are queued for 4 names", n)
		}
		stop()
		synctest.Wait()
		if len(told) > 0 {
			t.Error("a controller that has stopped still listens")
		}
	})
}
