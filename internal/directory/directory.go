// SPDX-License-Identifier: Apache-2.0

// Package directory is the read model of Meetings: which Meeting holds a room, what a listing shows, and totals. It is
// the one place where it is worked out who holds a room; the rule is meeting.Holder. It writes nothing to the cluster.
package directory

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"convene.dev/convene/api/v1alpha1"
)

// Options are what a Directory needs.
type Options struct {
	// Cache tells of Meetings.
	Cache cache.Cache
	Now   func() time.Time
	// IsFull reports whether a namespace has as many objects as managers keep of one. Nil means that none is.
	IsFull func(namespace string) bool
}

// Directory finds Meetings without copying or walking them: by UID, by name, by room, and by tenant with totals kept as
// they change. It is fed by the cache's events, shares their objects, and shows what this replica wrote before the cache
// does: so a request sees what the one before it wrote. Each replica has one, in memory.
//
// It is safe for concurrent use. The Meetings that it gives are shared with the cache and must not be changed.
type Directory struct {
	isFull          func(namespace string) bool
	changes         *changes
	recentlyDeleted *recentlyDeleted
	followers       *followers
	currency        *currency
	// feed knows whether the Directory has what the cache listed first.
	feed toolscache.ResourceEventHandlerRegistration

	mu      sync.RWMutex
	byUID   map[types.UID]*v1alpha1.Meeting
	byName  map[types.NamespacedName]*v1alpha1.Meeting
	tenants map[types.NamespacedName]*tenantIndex
	loads   loads
	// pending are versions that this replica learned of and the cache has not shown yet, tombstones the last Meetings that have gone.
	pending    map[types.UID]learned
	tombstones *sharedLRU[types.UID, struct{}]
}

// New makes a Directory that the cache feeds. Call it before the cache starts.
func New(ctx context.Context, o Options) (*Directory, error) {
	d := newDirectory(o)
	informer, err := o.Cache.GetInformer(ctx, &v1alpha1.Meeting{})
	if err != nil {
		return nil, err
	}
	// In this order, so that waiters and followers find the Directory up to date.
	d.feed, err = informer.AddEventHandler(asEventHandler(d, d.recentlyDeleted, d.changes, d.followers, d.currency))
	return d, err
}

// WaitForSync waits until the Directory has what the cache listed first. It returns false where the context ends before.
func (d *Directory) WaitForSync(ctx context.Context) bool {
	return toolscache.WaitForCacheSync(ctx.Done(), d.feed.HasSynced)
}

func newDirectory(o Options) *Directory {
	return &Directory{
		isFull: o.IsFull, changes: newChanges(), recentlyDeleted: newRecentlyDeleted(o.Now), followers: &followers{all: map[*Follower]struct{}{}},
		currency:   &currency{},
		byUID:      map[types.UID]*v1alpha1.Meeting{},
		byName:     map[types.NamespacedName]*v1alpha1.Meeting{},
		tenants:    map[types.NamespacedName]*tenantIndex{},
		loads:      loads{},
		pending:    map[types.UID]learned{},
		tombstones: newSharedLRU[types.UID, struct{}](maxTombstones),
	}
}
