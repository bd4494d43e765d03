// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// directory finds Meetings without copying or walking them: by UID, by name, by room, and by tenant with totals kept
// as they change. It is fed by the cache's events, shares their objects, and can wait for writes of this replica,
// which is how a request sees what the one before it wrote.
type directory struct {
	mu       sync.RWMutex
	byUID    map[types.UID]*v1alpha1.Meeting
	byName   map[types.NamespacedName]*v1alpha1.Meeting
	shelves  map[types.NamespacedName]*shelf
	pending  map[types.UID]*write
	versions versions
}

// shelf holds the Meetings of one ConferenceConfig.
type shelf struct {
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
	// listed says that the shelf's listing, where there is one, has the room.
	listed bool
}

// write is one of ours that the cache has not shown yet.
type write struct {
	config  types.NamespacedName
	room    string
	version uint64
	shown   chan struct{}
}

func newDirectory() *directory {
	return &directory{
		byUID:   map[types.UID]*v1alpha1.Meeting{},
		byName:  map[types.NamespacedName]*v1alpha1.Meeting{},
		shelves: map[types.NamespacedName]*shelf{},
		pending: map[types.UID]*write{},
	}
}

func configOf(m *v1alpha1.Meeting) types.NamespacedName {
	return types.NamespacedName{Namespace: m.Namespace, Name: m.Spec.ConfigRef.Name}
}

// wrote notes a write of this replica: reads wait until the cache shows it.
func (d *directory) wrote(m *v1alpha1.Meeting) {
	version := versionOf(m)
	d.versions.know(version)
	d.mu.Lock()
	defer d.mu.Unlock()
	if seen := d.byUID[m.UID]; seen != nil && versionOf(seen) >= version {
		return
	}
	if w := d.pending[m.UID]; w != nil {
		w.version = max(w.version, version)
		return
	}
	d.pending[m.UID] = &write{config: configOf(m), room: m.Spec.Room, version: version, shown: make(chan struct{})}
}

func (d *directory) isPending(uid types.UID) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.pending[uid] != nil
}

// await waits for this replica's writes to the tenant's Meetings, or to those of one room, that were made before.
func (d *directory) await(ctx context.Context, t *tenant.Tenant, room string) error {
	var waits []chan struct{}
	d.mu.RLock()
	for _, w := range d.pending {
		if w.config == t.NamespacedName && (room == "" || room == w.room) {
			waits = append(waits, w.shown)
		}
	}
	d.mu.RUnlock()
	for _, shown := range waits {
		select {
		case <-shown:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (d *directory) changed(m *v1alpha1.Meeting) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// Whoever sees the change in what follows can also learn of its version.
	d.versions.know(versionOf(m))
	d.byUID[m.UID] = m
	d.byName[types.NamespacedName{Namespace: m.Namespace, Name: m.Name}] = m
	d.shelve(m, true)
	d.show(m.UID, versionOf(m))
	d.versions.show(versionOf(m))
}

func (d *directory) gone(m *v1alpha1.Meeting) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.versions.know(versionOf(m))
	delete(d.byUID, m.UID)
	name := types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
	if now := d.byName[name]; now != nil && now.UID == m.UID {
		delete(d.byName, name)
	}
	d.shelve(m, false)
	d.show(m.UID, ^uint64(0))
	d.versions.show(versionOf(m))
}

// show tells those who wait for a write. The caller holds the lock.
func (d *directory) show(uid types.UID, version uint64) {
	if w := d.pending[uid]; w != nil && version >= w.version {
		close(w.shown)
		delete(d.pending, uid)
	}
}

// shelve puts a Meeting into its room, or takes it out, and corrects totals and listing by what that changes in the
// room. The caller holds the lock.
func (d *directory) shelve(m *v1alpha1.Meeting, present bool) {
	s := d.shelves[configOf(m)]
	if s == nil {
		s = &shelf{rooms: map[string]*room{}}
		d.shelves[configOf(m)] = s
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
}

func (s *shelf) count(live *v1alpha1.Meeting, sign int) {
	if live != nil {
		s.totals.Rooms += sign
		s.totals.Users += sign * int(live.Status.ParticipantCount)
	}
}

// list keeps the listing where that is cheap: a Meeting in its own place, the youngest at the end, one less. What is
// rarer has it made again when somebody asks.
func (s *shelf) list(r *room, before, after *v1alpha1.Meeting) {
	switch {
	case s.listing == nil, before == nil && after == nil, before != nil && after != nil && before.UID == after.UID:
	case after == nil:
		if s.left++; s.left > len(s.listing)/2 {
			s.listing = nil
		}
	case before == nil && !r.listed && s.isYoungest(after):
		s.listing, r.listed = append(s.listing, r), true
	default:
		s.listing = nil
	}
}

func (s *shelf) isYoungest(m *v1alpha1.Meeting) bool {
	if len(s.listing) == 0 {
		return true
	}
	last := s.listing[len(s.listing)-1].live.Load()
	return last != nil && byAge(last, m) < 0
}

// liveOf is the Meeting of a room that a listing shows: the one that has the room, unless it is leaving.
func liveOf(meetings []*v1alpha1.Meeting) *v1alpha1.Meeting {
	if m := holderOf(meetings); m != nil && !meeting.IsLeaving(m) {
		return m
	}
	return nil
}

// holderOf is the Meeting that has the room: the oldest that is not over.
func holderOf(meetings []*v1alpha1.Meeting) *v1alpha1.Meeting {
	for _, m := range meetings {
		if !meeting.IsOver(m) {
			return m
		}
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
