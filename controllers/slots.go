// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/engine"
)

const (
	// slotKept is how long a slot is kept for a Meeting that was woken for it. The Meeting may have been deleted.
	slotKept = 5 * time.Second
	// slotAlarm is after how long a Meeting that waits for a slot asks again by itself.
	slotAlarm = 30 * time.Second
)

// errNoSlot says that too many Meetings do the same now. The Meeting is woken when it is its turn.
var errNoSlot = errors.New("no slot is free")

// slots bound how many Meetings do something at one time. Those that find no slot wait in a queue, and are woken one by
// one: none of them keeps a worker, or asks again and again.
type slots struct {
	size int
	wake func(types.NamespacedName)

	mu    sync.Mutex
	taken int
	queue []types.NamespacedName
	// queued are those in the queue that still wait.
	queued map[types.NamespacedName]bool
	// told are those that were woken, and when: a slot is kept for each.
	told map[types.NamespacedName]time.Time
}

func newSlots(size int, wake func(types.NamespacedName)) *slots {
	return &slots{size: size, wake: wake, queued: map[types.NamespacedName]bool{}, told: map[types.NamespacedName]time.Time{}}
}

// enter takes a slot, which leave gives back. Where none is free the Meeting waits in the queue.
func (p *slots) enter(name types.NamespacedName) bool {
	p.mu.Lock()
	p.forgetLate()
	_, expected := p.told[name]
	delete(p.told, name)
	free := p.taken+len(p.told) < p.size && len(p.queued) == 0
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

// leave gives a slot back.
func (p *slots) leave() {
	p.mu.Lock()
	p.taken--
	p.mu.Unlock()
	p.tell()
}

// drop has a Meeting wait no longer, because it needs no slot any more: none is kept for it, and it is in no other's way.
func (p *slots) drop(name types.NamespacedName) {
	p.mu.Lock()
	_, told := p.told[name]
	waited := told || p.queued[name]
	delete(p.told, name)
	delete(p.queued, name)
	p.mu.Unlock()
	if waited {
		p.tell()
	}
}

// tell wakes those that have waited longest, as many as there are slots.
func (p *slots) tell() {
	for _, name := range p.next() {
		p.wake(name)
	}
}

func (p *slots) next() (names []types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgetLate()
	if len(p.queue) == 0 {
		return nil
	}
	for len(p.queue) > 0 && p.taken+len(p.told) < p.size {
		name := p.queue[0]
		p.queue = p.queue[1:]
		if !p.queued[name] {
			continue
		}
		delete(p.queued, name)
		p.told[name] = time.Now()
		names = append(names, name)
	}
	if len(names) > 0 { // The slot of one that does not come is for the next.
		time.AfterFunc(slotKept+time.Millisecond, p.tell)
	}
	return names
}

// forgetLate keeps no slot any longer for those that did not come. The caller holds the lock.
func (p *slots) forgetLate() {
	for name, since := range p.told {
		if time.Since(since) > slotKept {
			delete(p.told, name)
		}
	}
}

// callsAtOnce is how many Meetings may wait for answers of one media server at a time, a part of all workers: one that does
// not answer holds up no other server's meetings.
const callsAtOnce = 16

// serverSlots are the slots of all media servers.
type serverSlots struct {
	wake func(types.NamespacedName)
	mu   sync.Mutex
	of   map[engine.Server]*slots
}

func newServerSlots(wake func(types.NamespacedName)) *serverSlots {
	return &serverSlots{wake: wake, of: map[engine.Server]*slots{}}
}

func (e *serverSlots) slots(server engine.Server) *slots {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.of[server]
	if p == nil {
		p = newSlots(callsAtOnce, e.wake)
		e.of[server] = p
	}
	return p
}

// drop has a Meeting that is gone wait for no server.
func (e *serverSlots) drop(name types.NamespacedName) {
	e.mu.Lock()
	all := slices.Collect(maps.Values(e.of))
	e.mu.Unlock()
	for _, p := range all {
		p.drop(name)
	}
}

// serverCalls are what one reconcile asks of the media server: it takes a slot at its first call and keeps it to the end.
type serverCalls struct {
	name            types.NamespacedName
	at              *slots
	inside, waiting bool
}

// begin is errNoSlot where the Meeting has to wait.
func (c *serverCalls) begin() error {
	if c.at == nil || c.inside {
		return nil
	}
	if c.inside = c.at.enter(c.name); !c.inside {
		c.waiting = true
		return errNoSlot
	}
	return nil
}

func (c *serverCalls) end() {
	switch {
	case c.inside:
		c.at.leave()
	case c.at != nil && !c.waiting:
		c.at.drop(c.name)
	}
}
