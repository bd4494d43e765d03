// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// lent is a cache of one informer.
type lent struct {
	cache.Cache
	informer toolscache.SharedIndexInformer
}

// GetInformer gives it.
func (l lent) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return l.informer, nil
}

// What controllers added to the shared cache is taken off when they stop; others go on hearing of changes.
func TestSharedCacheTakesHandlersOff(t *testing.T) {
	source := fcache.NewFakeControllerSource()
	informer := toolscache.NewSharedIndexInformer(source, &v1alpha1.Meeting{}, 0, nil)
	ctx, stop := context.WithCancel(context.Background())
	var runs sync.WaitGroup
	runs.Go(func() { informer.RunWithContext(ctx) })
	t.Cleanup(func() { stop(); runs.Wait() })
	all := lent{informer: informer}
	heard := func(from cache.Cache) *atomic.Int32 {
		var n atomic.Int32
		informer, err := from.GetInformer(t.Context(), &v1alpha1.Meeting{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = informer.AddEventHandlerWithOptions(toolscache.ResourceEventHandlerFuncs{AddFunc: func(any) { n.Add(1) }}, toolscache.HandlerOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return &n
	}
	shared := &SharedCache{Cache: all}
	store, controller := heard(all), heard(shared)
	makeMeeting := func(name string) {
		source.Add(&v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}})
	}
	reaches := func(n *atomic.Int32, want int32) {
		t.Helper()
		testkit.Eventually(t, time.Minute, func() error {
			if got := n.Load(); got != want {
				return fmt.Errorf("heard of %d, want %d", got, want)
			}
			return nil
		})
	}
	makeMeeting("first")
	reaches(store, 1)
	reaches(controller, 1)
	shared.Release()
	next := heard(&SharedCache{Cache: all}) // The controllers of the next term: a handler that hears after the one that was taken off.
	makeMeeting("second")
	reaches(store, 2)
	reaches(next, 2)
	if n := controller.Load(); n != 1 {
		t.Errorf("what was taken off has heard of %d", n)
	}
}
