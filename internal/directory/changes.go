// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"convene.dev/convene/api/v1alpha1"
)

// handler is told of every Meeting that the cache sees change or go.
type handler interface {
	changed(m *v1alpha1.Meeting)
	gone(m *v1alpha1.Meeting)
}

func asEventHandler(handlers ...handler) toolscache.ResourceEventHandler {
	changed := func(o any) {
		for _, h := range handlers {
			h.changed(o.(*v1alpha1.Meeting))
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    changed,
		UpdateFunc: func(_, o any) { changed(o) },
		DeleteFunc: func(o any) {
			if d, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = d.Obj
			}
			if m, ok := o.(*v1alpha1.Meeting); ok {
				for _, h := range handlers {
					h.gone(m)
				}
			}
		},
	}
}

// changes wakes those who wait for a Meeting.
type changes struct {
	mu      sync.Mutex
	waiters map[types.UID]map[chan *v1alpha1.Meeting]struct{}
}

func newChanges() *changes {
	return &changes{waiters: make(map[types.UID]map[chan *v1alpha1.Meeting]struct{})}
}

func (c *changes) changed(m *v1alpha1.Meeting) { c.tell(m.UID, m) }
func (c *changes) gone(m *v1alpha1.Meeting)    { c.tell(m.UID, nil) }

// tell replaces what a slow waiter has not read yet: only the newest state counts.
func (c *changes) tell(uid types.UID, m *v1alpha1.Meeting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.waiters[uid] {
		select {
		case <-w:
		default:
		}
		w <- m
	}
}

// Wait calls done with every state of a Meeting from now on, nil once it is gone, until done says so or the context ends.
func (d *Directory) Wait(ctx context.Context, uid types.UID, done func(*v1alpha1.Meeting) bool) error {
	return d.changes.wait(ctx, uid, func() *v1alpha1.Meeting { return d.WithUID(string(uid)) }, done)
}

// wait calls done with every new state of a Meeting, nil once it is gone, until done or the context is. The look
// function gives the state to begin with; it is called after the watch has begun, so that no change is missed.
func (c *changes) wait(ctx context.Context, uid types.UID, look func() *v1alpha1.Meeting, done func(*v1alpha1.Meeting) bool) error {
	w := make(chan *v1alpha1.Meeting, 1)
	c.mu.Lock()
	if c.waiters[uid] == nil {
		c.waiters[uid] = make(map[chan *v1alpha1.Meeting]struct{})
	}
	c.waiters[uid][w] = struct{}{}
	c.mu.Unlock()
	defer c.forget(uid, w)

	if done(look()) {
		return nil
	}
	for {
		select {
		case m := <-w:
			if done(m) {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *changes) forget(uid types.UID, w chan *v1alpha1.Meeting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiters[uid], w)
	if len(c.waiters[uid]) == 0 {
		delete(c.waiters, uid)
	}
}
