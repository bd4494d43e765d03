// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Totals counts a tenant's live meetings and the participants in them.
func (d *Directory) Totals(t *tenant.Tenant) meeting.Totals {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if i := d.tenants[t.NamespacedName]; i != nil {
		return i.totals
	}
	return meeting.Totals{}
}

// Phases counts the Meetings of a ConferenceConfig in each phase, and lists the ending ones.
type Phases struct {
	Config types.NamespacedName
	Counts map[v1alpha1.MeetingPhase]int
	Ending []*v1alpha1.Meeting
}

// Phases returns the counts of each ConferenceConfig that has Meetings.
func (d *Directory) Phases() []Phases {
	d.mu.RLock()
	defer d.mu.RUnlock()
	all := make([]Phases, 0, len(d.tenants))
	for config, i := range d.tenants {
		all = append(all, Phases{config, maps.Clone(i.phases), slices.Collect(maps.Values(i.ending))})
	}
	return all
}

// maxEnded is how many ended meetings of a tenant are kept before there is no new one.
const maxEnded = 10_000

// HasRoomFor reports whether a tenant may have one more meeting: fewer than most are live, not too many that have ended are kept, and its
// namespace has memory left.
func (d *Directory) HasRoomFor(t *tenant.Tenant, most int) bool {
	if d.isFull != nil && d.isFull(t.Namespace) {
		return false
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	i := d.tenants[t.NamespacedName]
	return i == nil || i.totals.Rooms < most && len(i.rooms) < most+maxEnded
}

// viewsAtOnce is how many meetings of a listing are held in memory for a client, who may read slowly. It is four times as many as are asked
// for at once.
const viewsAtOnce = 4 * roomsAtOnce

// Live lists a page of a tenant's live meetings, which hold their rooms and are not leaving, and returns the cursor of the next page. It asks the
// media server for participants whom Meetings do not show. A meeting is listed as it is when its turn comes; its View is good until the next.
func (d *Directory) Live(ctx context.Context, t *tenant.Tenant, p meeting.Page) (iter.Seq[*meeting.View], meeting.Cursor) {
	rooms, next := d.page(t, p)
	return func(yield func(*meeting.View) bool) {
		asker := peersAsker{tenant: t, left: askTimeout}
		views := make([]meeting.View, 0, min(len(rooms), viewsAtOnce))
		for some := range slices.Chunk(rooms, viewsAtOnce) {
			views = views[:0]
			for _, r := range some {
				// A younger Meeting of the room has a place on a later page.
				if m := r.live.Load(); m != nil && (next == meeting.Cursor{} || meeting.CursorOf(m).Compare(next) <= 0) {
					views = append(views, View(t, m))
				}
			}
			asker.ask(ctx, views)
			for i := range views {
				if !yield(&views[i]) {
					return
				}
			}
		}
	}, next
}

func (d *Directory) page(t *tenant.Tenant, p meeting.Page) ([]*room, meeting.Cursor) {
	d.mu.RLock()
	i := d.tenants[t.NamespacedName]
	if i == nil || i.listing != nil {
		defer d.mu.RUnlock()
		return i.page(p)
	}
	d.mu.RUnlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if i.listing == nil {
		i.remake()
	}
	return i.page(p)
}

// ByUID finds a meeting of the tenant, also one that has ended, for ten minutes after its object is gone.
func (d *Directory) ByUID(t *tenant.Tenant, uid string) (meeting.View, bool) {
	if m := d.Meeting(t, uid); m != nil {
		return View(t, m), true
	}
	return d.recentlyDeleted.find(t.NamespacedName, uid)
}

// Meeting is the tenant's Meeting with a UID; nil when there is none.
func (d *Directory) Meeting(t *tenant.Tenant, uid string) *v1alpha1.Meeting {
	if m := d.WithUID(uid); m != nil && configOf(m) == t.NamespacedName {
		return m
	}
	return nil
}

// WithUID is the Meeting with a UID, of any tenant; nil when there is none.
func (d *Directory) WithUID(uid string) *v1alpha1.Meeting {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byUID[types.UID(uid)]
}

// Named is the Meeting whose object has a name; nil when there is none.
func (d *Directory) Named(namespace, name string) *v1alpha1.Meeting {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.byName[types.NamespacedName{Namespace: namespace, Name: name}]
}

// Holder is the Meeting that holds a room, an ending one too; nil when the room is free.
func (d *Directory) Holder(t *tenant.Tenant, room string) *v1alpha1.Meeting {
	return meeting.Holder(d.ofRoom(t.NamespacedName, room))
}

// SameRoom are the Meetings of a Meeting's room, the oldest first. The Meeting itself is one of them, as the Directory has it.
func (d *Directory) SameRoom(m *v1alpha1.Meeting) []*v1alpha1.Meeting {
	return d.ofRoom(configOf(m), m.Spec.Room)
}

func (d *Directory) ofRoom(config types.NamespacedName, room string) []*v1alpha1.Meeting {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if i := d.tenants[config]; i != nil {
		return i.meetings(room)
	}
	return nil
}

// All are the Meetings of all ConferenceConfigs.
func (d *Directory) All() []*v1alpha1.Meeting {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Collect(maps.Values(d.byUID))
}

// OfConfig are all Meetings of a ConferenceConfig.
func (d *Directory) OfConfig(config types.NamespacedName) (all []*v1alpha1.Meeting) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if i := d.tenants[config]; i != nil {
		for _, r := range i.rooms {
			all = append(all, r.meetings...)
		}
	}
	return all
}

// PlacesOf returns the media servers that Meetings of a ConferenceConfig are on, and the media servers that they left and where participants
// may still be, by their statuses. It waits for WaitForSync, or for the end of the context.
func (d *Directory) PlacesOf(ctx context.Context, config types.NamespacedName) ([]types.NamespacedName, error) {
	if !d.WaitForSync(ctx) {
		return nil, ctx.Err()
	}
	places := sets.New[types.NamespacedName]()
	for _, m := range d.OfConfig(config) {
		places.Insert(meeting.LeftPlaces(m)...)
		if m.Status.MediaServer != nil { // An annotation only asks for a place.
			places.Insert(meeting.PlaceOf(m))
		}
	}
	return places.UnsortedList(), nil
}

// LastEnded is the Meeting of a room that ended last, of those that are still there; nil when there is none. Of two that ended in
// the same second it is the younger one. The age alone does not tell: both may have been made in one second.
func (d *Directory) LastEnded(t *tenant.Tenant, room string) (last *v1alpha1.Meeting) {
	for _, m := range d.ofRoom(t.NamespacedName, room) {
		if meeting.IsOver(m) && (last == nil || !m.Status.EndTime.Before(last.Status.EndTime)) {
			last = m
		}
	}
	return last
}

// WasDeleted says that the Meeting of a room was deleted in the last ten minutes, and not because it had ended before. This replica
// knows only of those whose deletion it saw.
func (d *Directory) WasDeleted(t *tenant.Tenant, room string) bool {
	return d.recentlyDeleted.hasDeleted(t.NamespacedName, room)
}
