// SPDX-License-Identifier: Apache-2.0

// Package store turns commands into Meetings and Meetings into views. It is the only writer of Meeting specs, and
// where read-your-writes lives: on one replica by controller-runtime's consistent client.
package store

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

// Options are what a Store needs.
type Options struct {
	// Meetings reads Meetings from the cache, its own writes included, and writes them.
	Meetings client.Client
	// Secrets reads and writes Secrets without a cache.
	Secrets client.Client
	// Cache tells of changes.
	Cache cache.Cache
	Now   func() time.Time
}

// Store keeps meetings.
type Store struct {
	meetings client.Client
	secrets  client.Client
	now      func() time.Time
	changes  *changes
	graves   *graves
}

// New makes a Store, its indexes, and its watch for changes. Call it before the cache starts.
func New(ctx context.Context, o Options) (*Store, error) {
	if err := AddIndexes(ctx, o.Cache); err != nil {
		return nil, err
	}
	s := &Store{meetings: o.Meetings, secrets: o.Secrets, now: o.Now, changes: newChanges(), graves: newGraves(o.Now)}
	informer, err := o.Cache.GetInformer(ctx, &v1alpha1.Meeting{})
	if err != nil {
		return nil, err
	}
	for _, h := range []handler{s.changes, s.graves} {
		if _, err := informer.AddEventHandler(asEventHandler(h)); err != nil {
			return nil, err
		}
	}
	return s, nil
}
