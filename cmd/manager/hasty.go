// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// ownWritesWithin is more than a cache takes to show a write whose watch is well.
	ownWritesWithin = 2 * time.Second
	// behindFor is how long a cache that did not show one is taken to be behind.
	behindFor = 5 * time.Second
)

// hasty waits until the cache shows the writes of its own Client, but not for ever: a watch that is held up must not hold
// up a meeting's end. What it reads then is old; a write that rests on it is refused, and the reconcilers then read past
// the cache.
type hasty struct {
	client.Client
	behindUntil atomic.Pointer[time.Time]
}

// Get reads one object.
func (h *hasty) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return h.read(ctx,
		func(ctx context.Context) error { return h.Client.Get(ctx, key, o, opts...) },
		func() error {
			return h.Client.Get(ctx, key, o, append(opts, client.DisableReadYourWritesConsistency)...)
		})
}

// List reads many.
func (h *hasty) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return h.read(ctx,
		func(ctx context.Context) error { return h.Client.List(ctx, l, opts...) },
		func() error {
			return h.Client.List(ctx, l, append(opts, client.DisableReadYourWritesConsistency)...)
		})
}

func (h *hasty) read(ctx context.Context, caughtUp func(context.Context) error, asItIs func() error) error {
	if until := h.behindUntil.Load(); until != nil && time.Now().Before(*until) {
		return asItIs()
	}
	within, cancel := context.WithTimeout(ctx, ownWritesWithin)
	defer cancel()
	err := caughtUp(within)
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	until := time.Now().Add(behindFor)
	h.behindUntil.Store(&until)
	return asItIs()
}
