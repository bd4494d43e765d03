// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"sync"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// doors know who is connected through this replica. The engine lists people a moment after they have come, and several
// who come in that moment would each find the last place free.
type doors struct {
	mu sync.Mutex
	// inside counts the connections of each identity.
	inside map[engine.RoomName]map[engine.Identity]int
}

func newDoors() *doors { return &doors{inside: map[engine.RoomName]map[engine.Identity]int{}} }

var errFull = fault.Conflict("This meeting is full; try again when a participant has left").WithReason(reasonFull)

// enter counts a participant in, unless limit is reached by others: those listed by the engine and those who came through
// here. Leave counts out again.
func (d *doors) enter(room engine.RoomName, who engine.Identity, listed []engine.Participant, limit int) (leave func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full(room, who, listed, limit) {
		return nil, errFull
	}
	if d.inside[room] == nil {
		d.inside[room] = map[engine.Identity]int{}
	}
	d.inside[room][who]++
	return func() { d.leave(room, who) }, nil
}

func (d *doors) leave(room engine.RoomName, who engine.Identity) {
	d.mu.Lock()
	defer d.mu.Unlock()
	people := d.inside[room]
	if people[who]--; people[who] == 0 {
		delete(people, who)
	}
	if len(people) == 0 {
		delete(d.inside, room)
	}
}

// full reports whether others take all places. A participant who is in has a place. The caller holds the lock.
func (d *doors) full(room engine.RoomName, who engine.Identity, listed []engine.Participant, limit int) bool {
	others := make(map[engine.Identity]bool, len(listed))
	for _, p := range listed {
		others[p.Identity] = true
	}
	for id := range d.inside[room] {
		others[id] = true
	}
	return !others[who] && len(others) >= limit
}

// has reports whether a participant is connected through this replica.
func (d *doors) has(room engine.RoomName, who engine.Identity) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inside[room][who] > 0
}

// limitOf is the greatest number of people in a meeting, hidden ones included.
func limitOf(t *tenant.Tenant, v meeting.View) int {
	if v.MaxParticipants > 0 {
		return v.MaxParticipants
	}
	return t.Settings.MaxParticipants
}

// checkRoomFor refuses early what the door would refuse a moment later, with an error that the page can show.
// It returns the participants that there are.
func (h *handler) checkRoomFor(ctx context.Context, t *tenant.Tenant, v meeting.View, who engine.Identity) ([]engine.Participant, error) {
	listed, err := h.listed(ctx, t, v)
	if err != nil {
		return nil, err
	}
	h.doors.mu.Lock()
	defer h.doors.mu.Unlock()
	if h.doors.full(v.EngineRoom, who, listed, limitOf(t, v)) {
		return nil, errFull
	}
	return listed, nil
}
