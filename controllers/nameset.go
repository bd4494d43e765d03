// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// nameSet keeps names until a controller takes them. A name that is in the set already is not kept twice, and adding one
// never blocks: the goroutine that adds it may be the one that applies a tenant's changes.
type nameSet struct {
	mu    sync.Mutex
	names map[types.NamespacedName]struct{}
	// added has one place: one signal is enough for all names.
	added chan struct{}
}

func newNameSet() *nameSet {
	return &nameSet{names: map[types.NamespacedName]struct{}{}, added: make(chan struct{}, 1)}
}

func (s *nameSet) add(name types.NamespacedName) {
	s.mu.Lock()
	s.names[name] = struct{}{}
	s.mu.Unlock()
	select {
	case s.added <- struct{}{}:
	default:
	}
}

// take empties the set.
func (s *nameSet) take() map[types.NamespacedName]struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.names
	s.names = map[types.NamespacedName]struct{}{}
	return taken
}

// listen has a function called with each name that changes, until stop is called.
type listen func(add func(types.NamespacedName)) (stop func())

// source queues requests for the names that are added. It listens from before the controller's first reconcile until the
// controller stops: a controller that does not run gathers nothing.
func (s *nameSet) source(to listen, requests func(context.Context, types.NamespacedName) []reconcile.Request, priority int) source.Source {
	return source.Func(func(ctx context.Context, q queue) error {
		stop := to(s.add)
		go func() {
			defer stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-s.added:
				}
				for name := range s.take() {
					add(q, priority, requests(ctx, name)...)
				}
			}
		}()
		return nil
	})
}
