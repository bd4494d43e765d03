// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
)

// Source is the list of Meetings that the cache keeps. Its event handlers, which feed the Directory, are told of a change
// after the list has it.
type Source interface {
	List() []any
	// LastStoreSyncResourceVersion is the version of the list as a whole: of the last list, event or bookmark.
	LastStoreSyncResourceVersion() string
}

const (
	// catchUpTimeout bounds how long a reader waits for a cache that has fallen behind those of the other replicas.
	catchUpTimeout = time.Second
	// firstFollow is after how long without an event a reader compares the Directory with the cache's list. The pause
	// doubles up to mostFollow.
	firstFollow = 5 * time.Millisecond
	mostFollow  = 100 * time.Millisecond
)

// CatchUp waits until this replica knows all that another has shown or confirmed. A cache to which nothing comes is not
// waited for long: what it has is better than nothing.
func (d *Directory) CatchUp(ctx context.Context) {
	if d.newest == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
	defer cancel()
	wanted := d.newest(ctx)
	for pause := firstFollow; !d.awaitFor(ctx, wanted, pause) && ctx.Err() == nil; pause = min(2*pause, mostFollow) {
		d.follow()
	}
}

// awaitFor reports whether the Directory has come so far within a time.
func (d *Directory) awaitFor(ctx context.Context, version uint64, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return d.versions.await(ctx, version)
}

// follow notes the version of the source as shown, once the Directory has all that the source has. No event tells of
// that version where it is of a list (after a start in a quiet hour, say) or of a bookmark.
func (d *Directory) follow() {
	if d.source == nil || !d.following.TryLock() {
		return
	}
	defer d.following.Unlock()
	// Before the list: what the list has beyond that does no harm.
	version, err := strconv.ParseUint(d.source.LastStoreSyncResourceVersion(), 10, 64)
	if err != nil || d.versions.hasShown(version) || !d.has(d.source.List(), version) {
		return
	}
	d.versions.show(version)
}

// has reports whether the Directory has all these Meetings, as they are or newer, and no other that was there at a version.
func (d *Directory) has(listed []any, version uint64) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	there := make(map[types.UID]struct{}, len(listed))
	for _, o := range listed {
		m := o.(*v1alpha1.Meeting)
		there[m.UID] = struct{}{}
		seen := d.byUID[m.UID]
		if seen != m && !d.tombstones.Contains(m.UID) && (seen == nil || versionOf(seen) < versionOf(m)) {
			return false
		}
	}
	for uid, m := range d.byUID {
		_, pending := d.pending[uid]
		if _, ok := there[uid]; !ok && !pending && versionOf(m) <= version {
			return false
		}
	}
	return true
}
