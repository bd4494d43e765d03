// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"container/list"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/engine"
)

// errNoSlot says that too many Meetings do the same now. The Meeting is woken when it is its turn.
var errNoSlot = errors.New("no slot is free")

// lane is whom a slot is for: the Meetings of a namespace on a media server. The server is empty where it does not matter.
type lane struct {
	namespace string
	server    engine.Server
	// urgent is for what somebody waits for: a quarter of all slots is kept for that.
	urgent bool
}

// slots bound how many Meetings do something at the same time. There is a bound for all Meetings, for those of one namespace, and for those on
// one media server. A Meeting that finds no slot waits, and is woken when one is kept for it: it keeps no worker meanwhile. The namespace that
// has the fewest slots is the next.
type slots struct {
	all, ofNamespace, ofServer int
	wake                       func(types.NamespacedName)

	mu sync.Mutex
	// taken counts the slots in use. A slot that is kept for a Meeting counts too.
	taken        int
	ofNamespaces map[string]int
	ofServers    map[engine.Server]int
	// waiting are the Meetings that wait, in their order, and waiters where each of them is.
	waiting *list.List
	waiters map[types.NamespacedName]*list.Element
	// kept are the slots of Meetings that were woken.
	kept map[types.NamespacedName]lane
}

// waiter is a Meeting that waits for a slot of its lane.
type waiter struct {
	name types.NamespacedName
	lane
}

func newSlots(all, ofNamespace, ofServer int, wake func(types.NamespacedName)) *slots {
	return &slots{
		all: all, ofNamespace: ofNamespace, ofServer: ofServer, wake: wake, ofNamespaces: map[string]int{}, ofServers: map[engine.Server]int{},
		waiting: list.New(), waiters: map[types.NamespacedName]*list.Element{}, kept: map[types.NamespacedName]lane{},
	}
}

// enter takes a slot, which leave gives back. Where none is free the Meeting waits.
func (p *slots) enter(name types.NamespacedName, in lane) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	released := p.forget(name)
	if p.fits(in) {
		p.count(in, +1)
		return true
	}
	p.waiters[name] = p.waiting.PushBack(waiter{name, in})
	if released { // It was kept in another lane.
		p.wakeNext()
	}
	return false
}

// leave gives a slot back.
func (p *slots) leave(of lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count(of, -1)
	p.wakeNext()
}

// drop has a Meeting wait no longer, because it needs no slot any more: none is kept for it.
func (p *slots) drop(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.forget(name) {
		p.wakeNext()
	}
}

// forget takes a Meeting out of those that wait. It reports whether a slot was kept for the Meeting, which is free now.
func (p *slots) forget(name types.NamespacedName) (released bool) {
	if in, woken := p.kept[name]; woken {
		delete(p.kept, name)
		p.count(in, -1)
		return true
	}
	if w := p.waiters[name]; w != nil {
		delete(p.waiters, name)
		p.waiting.Remove(w)
	}
	return false
}

func (p *slots) fits(in lane) bool {
	for _, bound := range []struct{ taken, most int }{
		{p.taken, p.all}, {p.ofNamespaces[in.namespace], p.ofNamespace}, {p.ofServers[in.server], p.ofServer},
	} {
		if !in.urgent {
			bound.most -= bound.most / 4
		}
		if bound.taken >= bound.most {
			return false
		}
	}
	return true
}

func (p *slots) count(in lane, by int) {
	p.taken += by
	if p.ofNamespaces[in.namespace] += by; p.ofNamespaces[in.namespace] == 0 {
		delete(p.ofNamespaces, in.namespace)
	}
	if p.ofServers[in.server] += by; p.ofServers[in.server] == 0 {
		delete(p.ofServers, in.server)
	}
}

// wakeNext wakes Meetings, as many as there are slots.
func (p *slots) wakeNext() {
	for w, found := p.next(); found; w, found = p.next() {
		p.forget(w.name)
		p.count(w.lane, +1)
		p.kept[w.name] = w.lane
		p.wake(w.name)
	}
}

// next is the Meeting whose turn it is. It is not found where none may have a slot.
func (p *slots) next() (next waiter, found bool) {
	full := lane{}
	for e := p.waiting.Front(); e != nil; e = e.Next() {
		switch w := e.Value.(waiter); {
		case found && w.lane == next.lane, w.lane == full: // There may be thousands of these.
		case !p.fits(w.lane):
			full = w.lane
		case !found || p.ofNamespaces[w.namespace] < p.ofNamespaces[next.namespace]:
			next, found = w, true
		}
	}
	return next, found
}

// turn is a Meeting's during one reconcile.
type turn struct {
	of   *slots
	name types.NamespacedName
	lane
	inside, waits bool
}

// begin takes a slot until the end, unless the turn has one. It is errNoSlot where the Meeting has to wait.
func (c *turn) begin() error {
	if c.inside {
		return nil
	}
	if c.inside = c.of.enter(c.name, c.lane); !c.inside {
		c.waits = true
		return errNoSlot
	}
	return nil
}

// end is called after every reconcile: a Meeting that was woken and needed no slot leaves it to the next.
func (c *turn) end() {
	switch {
	case c.inside:
		c.of.leave(c.lane)
	case !c.waits:
		c.of.drop(c.name)
	}
}
