// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// All that the directory gives is shared with the cache and must not be changed.

func (d *directory) totals(t *tenant.Tenant) meeting.Totals {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if s := d.tenants[t.NamespacedName]; s != nil {
		return s.totals
	}
	return meeting.Totals{}
}

// live lists the Meetings that have their rooms and are not leaving, oldest first.
func (d *directory) live(t *tenant.Tenant) []*v1alpha1.Meeting {
	rooms := d.listing(t)
	live := make([]*v1alpha1.Meeting, 0, len(rooms))
	for _, r := range rooms {
		if m := r.live.Load(); m != nil {
			live = append(live, m)
		}
	}
	return live
}

func (d *directory) listing(t *tenant.Tenant) []*room {
	d.mu.RLock()
	s := d.tenants[t.NamespacedName]
	if s == nil || s.listing != nil {
		defer d.mu.RUnlock()
		if s == nil {
			return nil
		}
		return s.listing
	}
	d.mu.RUnlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.listing == nil {
		s.remake()
	}
	return s.listing
}

// remake makes the listing of all rooms that are live.
func (i *tenantIndex) remake() {
	i.listing, i.left = make([]*room, 0, i.totals.Rooms), 0
	for _, r := range i.rooms {
		if r.listed = r.live.Load() != nil; r.listed {
			i.listing = append(i.listing, r)
		}
	}
	slices.SortFunc(i.listing, func(a, b *room) int { return byAge(a.live.Load(), b.live.Load()) })
}

// holder is the Meeting that has a room, an ending one too; nil when the room is free.
func (d *directory) holder(t *tenant.Tenant, room string) *v1alpha1.Meeting {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if s := d.tenants[t.NamespacedName]; s != nil {
		return meeting.Holder(s.meetings(room))
	}
	return nil
}

// lastEnded is the youngest ended Meeting of a room that is still there.
func (d *directory) lastEnded(t *tenant.Tenant, room string) *v1alpha1.Meeting {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if s := d.tenants[t.NamespacedName]; s != nil {
		for _, m := range slices.Backward(s.meetings(room)) {
			if meeting.IsOver(m) {
				return m
			}
		}
	}
	return nil
}

func (i *tenantIndex) meetings(name string) []*v1alpha1.Meeting {
	if r := i.rooms[name]; r != nil {
		return r.meetings
	}
	return nil
}

// withUID is the Meeting with a UID, whosever it is.
func (d *directory) withUID(uid string) *v1alpha1.Meeting {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byUID[types.UID(uid)]
}

// of is withUID, of the tenant alone.
func (d *directory) of(t *tenant.Tenant, uid string) *v1alpha1.Meeting {
	if m := d.withUID(uid); m != nil && configOf(m) == t.NamespacedName {
		return m
	}
	return nil
}

func (d *directory) named(namespace, name string) *v1alpha1.Meeting {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byName[types.NamespacedName{Namespace: namespace, Name: name}]
}
