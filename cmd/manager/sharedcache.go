// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"sync"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// sharedCache is a cache that another manager starts and stops. Controllers never take their event handlers off, because
// their cache stops with them. This one does not: without takeOff, each lost Lease would leave handlers that go on mapping
// every event for a queue that nobody reads.
type sharedCache struct {
	cache.Cache

	mu    sync.Mutex
	added []func() error
}

// Start waits: the cache runs already.
func (*sharedCache) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// GetInformer gives an informer that keeps what is added to it.
func (s *sharedCache) GetInformer(ctx context.Context, o client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	informer, err := s.Cache.GetInformer(ctx, o, options...)
	if err != nil {
		return nil, err
	}
	return sharedInformer{informer, s}, nil
}

// takeOff takes off every handler that was added.
func (s *sharedCache) takeOff() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all error
	for _, remove := range s.added {
		all = errors.Join(all, remove())
	}
	s.added = nil
	return all
}

type sharedInformer struct {
	cache.Informer
	of *sharedCache
}

// AddEventHandlerWithOptions is what controllers call.
func (i sharedInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, o toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	registration, err := i.Informer.AddEventHandlerWithOptions(h, o)
	if err == nil {
		i.of.mu.Lock()
		defer i.of.mu.Unlock()
		i.of.added = append(i.of.added, func() error { return i.RemoveEventHandler(registration) })
	}
	return registration, err
}
