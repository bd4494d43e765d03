// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/kube"
)

// informers makes the cache's informers, and keeps the list of Meetings of the one that has it.
type informers struct {
	meetings atomic.Pointer[toolscache.Indexer]
}

func (i *informers) make(lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	informer := kube.NewInformer(lw, example, resync, indexers)
	if _, ok := example.(*v1alpha1.Meeting); ok {
		indexer := informer.GetIndexer()
		i.meetings.Store(&indexer)
	}
	return informer
}

// List lists the Meetings in the cache.
func (i *informers) List() []any {
	if indexer := i.meetings.Load(); indexer != nil {
		return (*indexer).List()
	}
	return nil
}

// LastStoreSyncResourceVersion is how far the cache of Meetings is; empty before it has begun.
func (i *informers) LastStoreSyncResourceVersion() string {
	if indexer := i.meetings.Load(); indexer != nil {
		return (*indexer).LastStoreSyncResourceVersion()
	}
	return ""
}
