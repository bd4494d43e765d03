// SPDX-License-Identifier: Apache-2.0

package kube

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

// BoundedClient waits until the cache shows the writes of its own Client, but not for ever: a watch that is held up must not hold
// up a meeting's end. What it reads then is old. A write that rests on it is refused, and the reconcilers then read past the
// cache.
type BoundedClient struct {
	client.Client
	behindUntil atomic.Pointer[time.Time]
}

// Get reads one object.
func (b *BoundedClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return b.read(ctx,
		func(ctx context.Context) error { return b.Client.Get(ctx, key, o, opts...) },
		func() error {
			return b.Client.Get(ctx, key, o, append(opts, client.DisableReadYourWritesConsistency)...)
		})
}

// List reads many.
func (b *BoundedClient) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return b.read(ctx,
		func(ctx context.Context) error { return b.Client.List(ctx, l, opts...) },
		func() error {
			return b.Client.List(ctx, l, append(opts, client.DisableReadYourWritesConsistency)...)
		})
}

func (b *BoundedClient) read(ctx context.Context, caughtUp func(context.Context) error, asItIs func() error) error {
	if until := b.behindUntil.Load(); until != nil && time.Now().Before(*until) {
		return asItIs()
	}
	within, cancel := context.WithTimeout(ctx, ownWritesWithin)
	defer cancel()
	err := caughtUp(within)
	if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	until := time.Now().Add(behindFor)
	b.behindUntil.Store(&until)
	return asItIs()
}
