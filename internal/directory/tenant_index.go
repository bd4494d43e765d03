// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// tenantIndex holds the Meetings of one ConferenceConfig. The Directory's lock guards it.
type tenantIndex struct {
	rooms  map[string]*room
	totals meeting.Totals
	// phases counts all Meetings by phase. ending has the Meetings in phase Ending.
	phases map[v1alpha1.MeetingPhase]int
	ending map[types.UID]*v1alpha1.Meeting
	// listing is every room that has been live since it was made, in the order of their live Meetings; nil when it has
	// to be made again. Readers use it without the lock: it only grows.
	listing []*room
	// left counts the rooms in the listing that are not live any more.
	left int
	// loads are those of all tenants.
	loads loads
}

// room is one room of a ConferenceConfig.
type room struct {
	meetings []*v1alpha1.Meeting // oldest first
	// live is the Meeting that a listing shows, or nil.
	live atomic.Pointer[v1alpha1.Meeting]
	// place of the live Meeting in the listing of the tenant; zero where no listing has the room.
	place meeting.Cursor
}

func newTenantIndex(of loads) *tenantIndex {
	return &tenantIndex{rooms: map[string]*room{}, phases: map[v1alpha1.MeetingPhase]int{}, ending: map[types.UID]*v1alpha1.Meeting{}, loads: of}
}

// index puts a Meeting into its room, or takes it out, and corrects totals and listing by what that changes in the
// room.
func (i *tenantIndex) index(m *v1alpha1.Meeting, present bool) {
	r := i.rooms[m.Spec.Room]
	if r == nil {
		r = &room{}
		i.rooms[m.Spec.Room] = r
	}
	r.meetings = slices.DeleteFunc(slices.Clone(r.meetings), func(other *v1alpha1.Meeting) bool {
		if other.UID != m.UID {
			return false
		}
		i.countPhase(other, -1)
		return true
	})
	if present {
		i.countPhase(m, +1)
		at, _ := slices.BinarySearchFunc(r.meetings, m, byAge)
		r.meetings = slices.Insert(r.meetings, at, m)
	}
	if len(r.meetings) == 0 {
		delete(i.rooms, m.Spec.Room)
	}
	before, after := r.live.Load(), liveOf(r.meetings)
	i.count(before, -1)
	i.count(after, +1)
	i.list(r, before, after)
	r.live.Store(after)
}

func (i *tenantIndex) countPhase(m *v1alpha1.Meeting, sign int) {
	phase := m.Status.Phase
	if i.phases[phase] += sign; i.phases[phase] == 0 {
		delete(i.phases, phase)
	}
	delete(i.ending, m.UID)
	if phase == v1alpha1.MeetingEnding && sign > 0 {
		i.ending[m.UID] = m
	}
}

func (i *tenantIndex) count(live *v1alpha1.Meeting, sign int) {
	if live != nil {
		i.totals.Rooms += sign
		if meeting.OpenedBy(live) != "" {
			i.totals.AdHoc += sign
		}
		i.totals.Users += sign * int(live.Status.ParticipantCount)
		i.loads.add(live, sign)
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
	case before == nil && r.place == meeting.Cursor{} && i.isYoungest(after):
		i.listing, r.place = append(i.listing, r), meeting.CursorOf(after)
	default:
		i.listing = nil
	}
}

func (i *tenantIndex) isYoungest(m *v1alpha1.Meeting) bool {
	return len(i.listing) == 0 || i.listing[len(i.listing)-1].place.Compare(meeting.CursorOf(m)) < 0
}

// remake makes the listing of all rooms that are live.
func (i *tenantIndex) remake() {
	i.listing, i.left = make([]*room, 0, i.totals.Rooms), 0
	for _, r := range i.rooms {
		r.place = meeting.Cursor{}
		if live := r.live.Load(); live != nil {
			r.place = meeting.CursorOf(live)
			i.listing = append(i.listing, r)
		}
	}
	slices.SortFunc(i.listing, func(a, b *room) int { return a.place.Compare(b.place) })
}

// page are the rooms of a page of the listing, and the cursor of the next page.
func (i *tenantIndex) page(p meeting.Page) ([]*room, meeting.Cursor) {
	if i == nil {
		return nil, meeting.Cursor{}
	}
	if p == (meeting.Page{}) {
		return i.listing, meeting.Cursor{}
	}
	first, _ := slices.BinarySearchFunc(i.listing, p.After, func(r *room, after meeting.Cursor) int { return r.place.Compare(after) })
	return meeting.Cut(i.listing[first:], p, func(r *room) meeting.Cursor {
		if r.live.Load() == nil {
			return meeting.Cursor{}
		}
		return r.place
	})
}

// meetings are those of a room, oldest first.
func (i *tenantIndex) meetings(name string) []*v1alpha1.Meeting {
	if r := i.rooms[name]; r != nil {
		return r.meetings
	}
	return nil
}

// liveOf is the Meeting of a room that a listing shows: the one that has the room, unless it is leaving.
func liveOf(meetings []*v1alpha1.Meeting) *v1alpha1.Meeting {
	if m := meeting.Holder(meetings); m != nil && !meeting.IsLeaving(m) {
		return m
	}
	return nil
}

func byAge(a, b *v1alpha1.Meeting) int { return meeting.CursorOf(a).Compare(meeting.CursorOf(b)) }
