// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/engine"
)

const (
	// placeKept is how long a place is kept for a Meeting that was told to come. It may have been deleted.
	placeKept = 5 * time.Second
	// placeAlarm is after how long a Meeting that waits for a place asks again by itself.
	placeAlarm = 30 * time.Second
)

// errNoPlace says that too many Meetings do the same now. The Meeting is woken when it is its turn.
var errNoPlace = errors.New("no place is free")

// places bound how many Meetings do something at one time. Those that find no place wait in a queue, and are woken one by
// one: none of them keeps a worker, or asks again and again.
type places struct {
	size int
	wake func(types.NamespacedName)

	mu     sync.Mutex
	taken  int
	queue  []types.NamespacedName
	queued map[types.NamespacedName]bool
	// told are those that were woken, and when: a place is kept for each.
	told map[types.NamespacedName]time.Time
}

func newPlaces(size int, wake func(types.NamespacedName)) *places {
	return &places{size: size, wake: wake, queued: map[types.NamespacedName]bool{}, told: map[types.NamespacedName]time.Time{}}
}

// enter takes a place, which leave gives back. Where none is free the Meeting waits in the queue.
func (p *places) enter(name types.NamespacedName) bool {
	p.mu.Lock()
	p.forgetLate()
	_, expected := p.told[name]
	delete(p.told, name)
	free := p.taken+len(p.told) < p.size && len(p.queue) == 0
	if expected || free {
		p.taken++
		p.mu.Unlock()
		return true
	}
	if !p.queued[name] {
		p.queue, p.queued[name] = append(p.queue, name), true
	}
	p.mu.Unlock()
	p.tell()
	return false
}

// leave gives a place back.
func (p *places) leave() {
	p.mu.Lock()
	p.taken--
	p.mu.Unlock()
	p.tell()
}

// tell wakes those that have waited longest, as many as there are places.
func (p *places) tell() {
	for _, name := range p.next() {
		p.wake(name)
	}
}

func (p *places) next() (names []types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgetLate()
	for len(p.queue) > 0 && p.taken+len(p.told) < p.size {
		name := p.queue[0]
		p.queue = p.queue[1:]
		delete(p.queued, name)
		p.told[name] = time.Now()
		names = append(names, name)
	}
	return names
}

// forgetLate keeps no place any longer for those that did not come. The caller holds the lock.
func (p *places) forgetLate() {
	for name, since := range p.told {
		if time.Since(since) > placeKept {
			delete(p.told, name)
		}
	}
}

// callsAtOnce is how many Meetings may wait for answers of one media server at a time, a part of all workers: one that does
// not answer holds up no other server's meetings.
const callsAtOnce = 16

// engines are the places of all media servers.
type engines struct {
	wake func(types.NamespacedName)
	mu   sync.Mutex
	of   map[engine.Server]*places
}

func newEngines(wake func(types.NamespacedName)) *engines {
	return &engines{wake: wake, of: map[engine.Server]*places{}}
}

func (e *engines) places(server engine.Server) *places {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.of[server]
	if p == nil {
		p = newPlaces(callsAtOnce, e.wake)
		e.of[server] = p
	}
	return p
}

// visit is what one reconcile has to do with the media server: it takes a place at its first call and keeps it to the end.
type visit struct {
	name   types.NamespacedName
	at     *places
	inside bool
}

// begin is errNoPlace where the Meeting has to wait.
func (v *visit) begin() error {
	if v.at == nil || v.inside {
		return nil
	}
	if v.inside = v.at.enter(v.name); !v.inside {
		return errNoPlace
	}
	return nil
}

func (v *visit) end() {
	if v.inside {
		v.at.leave()
	}
}
