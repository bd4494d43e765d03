// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// learned is a version that this replica wrote, or read past the cache.
type learned struct {
	version uint64
	at      time.Time
}

const (
	// maxTombstones is how many deleted Meetings are remembered, so that a write that comes late does not bring them back.
	maxTombstones = 1024
	// pendingLife is for how long a write may be shown before the cache shows it, where the cache shows newer ones.
	pendingLife = 10 * time.Second
)

// Learn takes in what this replica has just written, or read past the cache, before the cache shows it. A new Meeting of a namespace that
// has no memory left is not taken in, as the cache takes none, and Learn returns false.
func (d *Directory) Learn(m *v1alpha1.Meeting) bool {
	version, full := versionOf(m), d.isFull != nil && d.isFull(m.Namespace)
	d.mu.Lock()
	defer d.mu.Unlock()
	seen := d.byUID[m.UID]
	switch {
	case d.isGone(m), seen != nil && versionOf(seen) >= version:
		return true
	case seen == nil && full:
		return false
	}
	m = m.DeepCopy()
	if _, err := kube.Transform(m); err != nil {
		return true // It returns none for a Meeting.
	}
	d.pending[m.UID] = learned{version: version, at: time.Now()}
	d.put(m)
	return true
}

// LearnGone takes in that a Meeting has gone, as this replica has just read past the cache, before the cache shows it.
func (d *Directory) LearnGone(m *v1alpha1.Meeting) {
	d.forget(m)
	d.recentlyDeleted.gone(m)
	d.changes.gone(m)
}

// LearnRoom takes in all Meetings of a tenant's room, as this replica has just listed them past the cache. Those of which it knew and which the
// list lacks have gone. It returns false where it takes in one of them no more than Learn does.
func (d *Directory) LearnRoom(t *tenant.Tenant, room string, all *v1alpha1.MeetingList) (complete bool) {
	complete = true
	listed := map[types.UID]bool{}
	for i := range all.Items {
		if m := &all.Items[i]; configOf(m) == t.NamespacedName {
			listed[m.UID] = true
			complete = d.Learn(m) && complete
		}
	}
	version, _ := strconv.ParseUint(all.ResourceVersion, 10, 64)
	for _, m := range d.ofRoom(t.NamespacedName, room) {
		if !listed[m.UID] && versionOf(m) <= version { // Else it is newer than the list.
			d.LearnGone(m)
		}
	}
	return complete
}

// LearnAbsent takes in that a tenant has no Meeting with a UID any more, as this replica has just read past the cache. It returns the Meeting
// as ByUID shows it from now on.
func (d *Directory) LearnAbsent(t *tenant.Tenant, uid, room string) meeting.View {
	d.mu.Lock()
	d.tombstones.add(t.Namespace, types.UID(uid), struct{}{})
	d.mu.Unlock()
	return d.recentlyDeleted.absent(t.NamespacedName, meeting.View{UID: uid, Room: room, Ended: true})
}

// isGone reports whether it is remembered that a Meeting has gone. The caller holds the lock.
func (d *Directory) isGone(m *v1alpha1.Meeting) bool {
	_, gone := d.tombstones.find(m.Namespace, m.UID)
	return gone
}

func (d *Directory) forget(m *v1alpha1.Meeting) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tombstones.add(m.Namespace, m.UID, struct{}{})
	if seen := d.byUID[m.UID]; seen != nil {
		d.remove(seen)
	}
}

func (d *Directory) changed(m *v1alpha1.Meeting) {
	version := versionOf(m)
	d.mu.Lock()
	defer d.mu.Unlock()
	if version >= d.pending[m.UID].version && !d.isGone(m) {
		delete(d.pending, m.UID)
		d.put(m)
	}
	d.forgetLost(version)
}

func (d *Directory) gone(m *v1alpha1.Meeting) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tombstones.add(m.Namespace, m.UID, struct{}{})
	d.remove(m)
	d.forgetLost(versionOf(m))
}

// forgetLost takes out what this replica wrote and the cache has never shown, though it has shown newer versions since: it
// was deleted while the cache did not look. The cache may bring many at once in any order, so there is some time for it.
func (d *Directory) forgetLost(version uint64) {
	for uid, w := range d.pending {
		if w.version < version && time.Since(w.at) > pendingLife {
			d.remove(d.byUID[uid])
		}
	}
}

// put has a Meeting found as it is now. The caller holds the lock.
func (d *Directory) put(m *v1alpha1.Meeting) {
	d.byUID[m.UID] = m
	d.byName[types.NamespacedName{Namespace: m.Namespace, Name: m.Name}] = m
	d.index(m, true)
}

// remove has a Meeting found no more. The caller holds the lock.
func (d *Directory) remove(m *v1alpha1.Meeting) {
	delete(d.pending, m.UID)
	delete(d.byUID, m.UID)
	name := types.NamespacedName{Namespace: m.Namespace, Name: m.Name}
	if now := d.byName[name]; now != nil && now.UID == m.UID {
		delete(d.byName, name)
	}
	d.index(m, false)
}

// index puts a Meeting into its room, or takes it out. The caller holds the lock.
func (d *Directory) index(m *v1alpha1.Meeting, present bool) {
	i := d.tenants[configOf(m)]
	if i == nil {
		i = newTenantIndex(d.loads)
		d.tenants[configOf(m)] = i
	}
	i.index(m, present)
	if len(i.rooms) == 0 {
		delete(d.tenants, configOf(m))
	}
}

// versionOf orders the states of one object. The API promises that versions of one resource can be compared as
// numbers (KEP-5504).
func versionOf(m *v1alpha1.Meeting) uint64 {
	version, err := strconv.ParseUint(m.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return version
}

func configOf(m *v1alpha1.Meeting) types.NamespacedName {
	return types.NamespacedName{Namespace: m.Namespace, Name: m.Spec.ConfigRef.Name}
}
