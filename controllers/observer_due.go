// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"convene.dev/convene/internal/engine"
)

// candidate is a room that may be looked into now.
type candidate struct {
	name engine.RoomName
	// urgent: a webhook, or the engine's count, says that the participants have changed.
	urgent  bool
	triedAt time.Time
}

// due are the rooms to look into, in order: those that are known to have changed, then those that have
// waited longest. A quarter of the places at the front goes to the latter, so that no flood of hints keeps a room from
// being seen.
func (o *Observer) due(server engine.Server, now time.Time) []engine.RoomName {
	var urgent, others []candidate
	for _, c := range o.candidates(server, now) {
		if c.urgent {
			urgent = append(urgent, c)
		} else {
			others = append(others, c)
		}
	}
	byAge := func(a, b candidate) int { return a.triedAt.Compare(b.triedAt) }
	slices.SortFunc(urgent, byAge)
	slices.SortFunc(others, byAge)
	names := make([]engine.RoomName, 0, len(urgent)+len(others))
	for i := 0; len(urgent)+len(others) > 0; i++ {
		from := &urgent
		if len(urgent) == 0 || (i%4 == 3 && len(others) > 0) {
			from = &others
		}
		names = append(names, (*from)[0].name)
		*from = (*from)[1:]
	}
	return names
}

// candidates are the rooms where there is a reason to look: they are new, participants are in them, or something has changed.
func (o *Observer) candidates(server engine.Server, now time.Time) (all []candidate) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for name, seen := range o.serverState(server).rooms {
		if seen.inFlight {
			continue
		}
		_, hinted := o.hints[name]
		busy := seen.presence.counted > 0 || len(seen.participants) > 0
		waited := busy && now.Sub(seen.triedAt) >= participantsEvery-roomsEvery/10
		if hinted || seen.news || waited || seen.lookedAt.IsZero() {
			all = append(all, candidate{name, hinted || seen.news, seen.triedAt})
		}
	}
	return all
}

// begins keeps that a room is being looked into, and returns since when.
func (o *Observer) begins(server engine.Server, name engine.RoomName) (began time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	began = o.monotonic()
	if seen := o.roomState(server, name); seen != nil {
		seen.triedAt, seen.news, seen.inFlight = began, false, true
	}
	return began
}

func (o *Observer) ends(server engine.Server, name engine.RoomName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if seen := o.roomState(server, name); seen != nil {
		seen.inFlight = false
	}
}

// lookWhereHinted looks into rooms that webhooks named, and into no others: a webhook costs the same however many rooms there
// are. While another look at the engine runs, the next one includes them.
func (o *Observer) lookWhereHinted(ctx context.Context, looks *sync.WaitGroup) {
	engines := o.assign()
	for server, names := range o.hinted() {
		if e := engines[server]; e != nil {
			o.once(looks, o.looking, server, func() {
				o.find(ctx, server, e, names)
				o.lookIntoDue(ctx, looks, server, e)
			})
		}
	}
}

// hinted are the rooms that webhooks named, by engine, of the engines that answered the last look.
func (o *Observer) hinted() map[engine.Server][]engine.RoomName {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := map[engine.Server][]engine.RoomName{}
	for name := range o.hints {
		if c := o.ownerOf(name); c != nil {
			if s := o.engines[c.server()]; s != nil && s.err == nil && !s.lastSeen.IsZero() {
				all[c.server()] = append(all[c.server()], name)
			}
		}
	}
	return all
}

// find asks for rooms that the last list did not have.
func (o *Observer) find(ctx context.Context, server engine.Server, e engine.Engine, names []engine.RoomName) {
	unknown := o.unknown(server, names)
	pace := o.paceOf(server)
	unknown = unknown[:pace.take(o.monotonic(), len(unknown))]
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var all errgroup.Group
	all.SetLimit(parallelLooks)
	for _, name := range unknown {
		all.Go(func() error {
			room, there, err := e.Room(ctx, name)
			pace.heard(err)
			if err == nil && there {
				o.found(server, room)
			}
			return nil // Until the next list, the hint stays.
		})
	}
	_ = all.Wait()
}

func (o *Observer) unknown(server engine.Server, names []engine.RoomName) (unknown []engine.RoomName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range names {
		if o.roomState(server, name) == nil {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func (o *Observer) found(server engine.Server, room engine.Room) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.serverState(server)
	delete(s.absent, room.Name)
	s.list(room)
}
