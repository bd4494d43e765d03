// SPDX-License-Identifier: Apache-2.0

// Package store turns commands into Meetings and Meetings into views. It is the only writer of Meeting specs, and
// where read-your-writes lives.
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
	// Client writes Meetings and Secrets, and reads Secrets, without a cache.
	Client client.Client
	// Cache tells of Meetings.
	Cache cache.Cache
	// Source is the list of Meetings in that cache; nil means that the events alone tell how far it is.
	Source Source
	Now    func() time.Time
	// Newest asks the other replicas for the newest version of a Meeting that one of them knows; nil means that there are
	// none.
	Newest func(context.Context) uint64
}

// Store keeps meetings.
type Store struct {
	client          client.Client
	now             func() time.Time
	newest          func(context.Context) uint64
	source          Source
	directory       *directory
	changes         *changes
	recentlyDeleted *recentlyDeleted
}

// New makes a Store and its watch for changes. Call it before the cache starts.
func New(ctx context.Context, o Options) (*Store, error) {
	s := &Store{
		client: o.Client, now: o.Now, newest: o.Newest, source: o.Source,
		directory: newDirectory(), changes: newChanges(), recentlyDeleted: newRecentlyDeleted(o.Now),
	}
	informer, err := o.Cache.GetInformer(ctx, &v1alpha1.Meeting{})
	if err != nil {
		return nil, err
	}
	// In this order: who is woken finds the directory up to date.
	_, err = informer.AddEventHandler(asEventHandler(s.directory, s.recentlyDeleted, s.changes))
	return s, err
}
