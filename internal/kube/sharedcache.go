// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SharedCache is a cache that another manager starts and stops. It keeps the event handlers that its manager adds, because
// controllers never remove theirs: without Release each lost Lease would leave some behind.
type SharedCache struct {
	cache.Cache
	mu       sync.Mutex
	released bool
	handlers []func()
}

// Start waits: the cache runs already.
func (*SharedCache) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// GetInformer gets the cache's.
func (s *SharedCache) GetInformer(ctx context.Context, o client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	i, err := s.Cache.GetInformer(ctx, o, opts...)
	return sharedInformer{i, s}, err
}

// GetInformerForKind gets the cache's.
func (s *SharedCache) GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	i, err := s.Cache.GetInformerForKind(ctx, gvk, opts...)
	return sharedInformer{i, s}, err
}

// Release removes the event handlers.
func (s *SharedCache) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, remove := range s.handlers {
		remove()
	}
	s.handlers, s.released = nil, true
}

// keep has a handler removed by Release, at once where that was called already.
func (s *SharedCache) keep(remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released {
		remove()
		return
	}
	s.handlers = append(s.handlers, remove)
}

type sharedInformer struct {
	cache.Informer
	shared *SharedCache
}

// AddEventHandlerWithOptions is how controllers add theirs.
func (i sharedInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	registration, err := i.Informer.AddEventHandlerWithOptions(h, o)
	if err == nil {
		i.shared.keep(func() { _ = i.RemoveEventHandler(registration) })
	}
	return registration, err
}
