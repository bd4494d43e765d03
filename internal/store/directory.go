// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// directory finds Meetings without copying or walking them: by UID, by name, by room, and by tenant with totals kept
// as they change. It is fed by the cache's events, shares their objects, and shows writes of this replica before the cache
// does, which is how a request sees what the one before it wrote.
type directory struct {
	mu      sync.RWMutex
	byUID   map[types.UID]*v1alpha1.Meeting
	byName  map[types.NamespacedName]*v1alpha1.Meeting
	tenants map[types.NamespacedName]*tenantIndex
	// pending are writes of this replica that the cache has not shown yet, tombstones the last Meetings that have gone.
	pending    map[types.UID]write
	tombstones *simplelru.LRU[types.UID, struct{}]
	versions   versions
	// following is held while the directory is compared with the cache's list.
	following sync.Mutex
}

// tenantIndex holds the Meetings of one ConferenceConfig.
type tenantIndex struct {
	rooms  map[string]*room
	totals meeting.Totals
	// listing is every room that has been live since it was made, in the order of their live Meetings; nil when it has
	// to be made again. Readers use it without the lock: it only grows.
	listing []*room
	// left counts the rooms in the listing that are not live any more.
	left int
}

// room is one room of a ConferenceConfig.
type room struct {
	meetings []*v1alpha1.Meeting // oldest first
	// live is the Meeting that a listing shows, or nil.
	live atomic.Pointer[v1alpha1.Meeting]
	// listed says that the listing of the tenant, where there is one, has the room.
	listed bool
}

// write is a version that this replica made.
type write struct {
	version uint64
	at      time.Time
}

// maxTombstones is how many deleted Meetings are remembered, so that a write that comes late does not bring them back.
const maxTombstones = 1024

// pendingLife is for how long a write may be shown before the cache shows it, where the cache shows newer ones.
const pendingLife = 10 * time.Second

func newDirectory() *directory {
	return &directory{
		byUID:      map[types.UID]*v1alpha1.Meeting{},
		byName:     map[types.NamespacedName]*v1alpha1.Meeting{},
		tenants:    map[types.NamespacedName]*tenantIndex{},
		pending:    map[types.UID]write{},
		tombstones: newLRU[types.UID, struct{}](maxTombstones),
	}
}

func configOf(m *v1alpha1.Meeting) types.NamespacedName {
	return types.NamespacedName{Namespace: m.Namespace, Name: m.Spec.ConfigRef.Name}
}

// wrote shows a write of this replica before the cache does.
func (d *directory) wrote(m *v1alpha1.Meeting) {
	version := versionOf(m)
	d.versions.know(version)
	d.mu.Lock()
	defer d.mu.Unlock()
	if seen := d.byUID[m.UID]; d.tombstones.Contains(m.UID) || seen != nil && versionOf(seen) >= version {
		return
	}
	d.pending[m.UID] = write{version: version, at: time.Now()}
	d.put(m.DeepCopy())
}

func (d *directory) changed(m *v1alpha1.Meeting) {
	version := versionOf(m)
	// A reader who sees the change in what follows can also learn of its version.
	d.versions.know(version)
	d.mu.Lock()
	defer d.mu.Unlock()
	if version >= d.pending[m.UID].version {
		delete(d.pending, m.UID)
		d.put(m)
	}
	d.forgetLost(version)
	d.versions.show(version)
}

func (d *directory) gone(m *v1alpha1.Meeting) {
	version := versionOf(m)
	d.versions.know(version)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tombstones.Add(m.UID, struct{}{})
	d.remove(m)
	d.forgetLost(version)
	d.versions.show(version)
}

// forgetLost takes out what this replica wrote and the cache has never shown, though it has shown newer versions since: it
// was deleted while the cache did not look. The cache may bring many at once in any order, so there is some time for it.
func (d *directory) forgetLost(version uint64) {
	for uid, w := range d.pending {
		if w.version < version && time.Since(w.at) > pendingLife {
			d.remove(d.byUID[uid])
		}
	}
}

// put has a Meeting found as it is now. The caller holds the lock.
func (d *directory) put(m *v1alpha1.Meeting) {
	d.byUID[m.UID] = m
	d.byName[types.NamespacedName{Namespace: m.Namespace, Name: m.Name}] = m
	d.index(m, true)
}

// remove has a Meeting found no more. The caller holds the lock.
func (d *directory) remove(m *v1alpha1.Meeting) {
	delete(d.pending, m.UID)
	delete(d.byUID, m.UID)
	name := types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
	if now := d.byName[name]; now != nil && now.UID == m.UID {
		delete(d.byName, name)
	}
	d.index(m, false)
}

// index puts a Meeting into its room, or takes it out, and corrects totals and listing by what that changes in the
// room. The caller holds the lock.
func (d *directory) index(m *v1alpha1.Meeting, present bool) {
	s := d.tenants[configOf(m)]
	if s == nil {
		s = &tenantIndex{rooms: map[string]*room{}}
		d.tenants[configOf(m)] = s
	}
	r := s.rooms[m.Spec.Room]
	if r == nil {
		r = &room{}
		s.rooms[m.Spec.Room] = r
	}
	r.meetings = slices.DeleteFunc(slices.Clone(r.meetings), func(other *v1alpha1.Meeting) bool { return other.UID == m.UID })
	if present {
		at, _ := slices.BinarySearchFunc(r.meetings, m, byAge)
		r.meetings = slices.Insert(r.meetings, at, m)
	}
	if len(r.meetings) == 0 {
		delete(s.rooms, m.Spec.Room)
	}
	before, after := r.live.Load(), liveOf(r.meetings)
	s.count(before, -1)
	s.count(after, +1)
	s.list(r, before, after)
	r.live.Store(after)
	if len(s.rooms) == 0 {
		delete(d.tenants, configOf(m))
	}
}

func (i *tenantIndex) count(live *v1alpha1.Meeting, sign int) {
	if live != nil {
		i.totals.Rooms += sign
		i.totals.Users += sign * int(live.Status.ParticipantCount)
	}
}

// list keeps the listing where that is cheap: a Meeting in its own place, the youngest at the end, one less. What is
// rarer has the next reader make it again.
func (i *tenantIndex) list(r *room, before, after *v1alpha1.Meeting) {
	switch {
	case i.listing == nil, before == nil && after == nil, before != nil && after != nil && before.UID == after.UID:
	case after == nil:
		if i.left++; i.left > len(i.listing)/2 {
			i.listing = nil
		}
	case before == nil && !r.listed && i.isYoungest(after):
		i.listing, r.listed = append(i.listing, r), true
	default:
		i.listing = nil
	}
}

func (i *tenantIndex) isYoungest(m *v1alpha1.Meeting) bool {
	if len(i.listing) == 0 {
		return true
	}
	last := i.listing[len(i.listing)-1].live.Load()
	return last != nil && byAge(last, m) < 0
}

// liveOf is the Meeting of a room that a listing shows: the one that has the room, unless it is leaving.
func liveOf(meetings []*v1alpha1.Meeting) *v1alpha1.Meeting {
	if m := meeting.Holder(meetings); m != nil && !meeting.IsLeaving(m) {
		return m
	}
	return nil
}

func byAge(a, b *v1alpha1.Meeting) int {
	switch {
	case a.UID == b.UID:
		return 0
	case meeting.Older(a, b):
		return -1
	}
	return 1
}
