// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
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

// lane is whom a slot is for: the Meetings of a namespace on a media server. The server is empty where it does not matter.
type lane struct {
	namespace string
	server    engine.Server
}

// slots bound how many Meetings do something at the same time. There is a bound for all Meetings, for those of one namespace, and for those on
// one media server. A Meeting that finds no slot waits in a queue, and is woken when a slot is kept for it: it keeps no worker meanwhile. The
// namespace that has the fewest slots is the next.
type slots struct {
	all, ofNamespace, ofServer int
	wake                       func(types.NamespacedName)

	mu sync.Mutex
	// taken counts the slots in use. A slot that is kept for a Meeting counts too.
	taken        int
	ofNamespaces map[string]int
	ofServers    map[engine.Server]int
	// lanes are the lanes with waiting Meetings. queues are these Meetings, the next one first.
	lanes  []lane
	queues map[lane][]types.NamespacedName
	// queued says in which queue a Meeting waits. A Meeting that waits no longer may still stand in a queue.
	queued map[types.NamespacedName]lane
	// told are the Meetings that were woken. A slot is kept for each.
	told map[types.NamespacedName]toldSlot
}

type toldSlot struct {
	lane
	since time.Time
}

func newSlots(all, ofNamespace, ofServer int, wake func(types.NamespacedName)) *slots {
	return &slots{
		all: all, ofNamespace: ofNamespace, ofServer: ofServer, wake: wake,
		ofNamespaces: map[string]int{}, ofServers: map[engine.Server]int{},
		queues: map[lane][]types.NamespacedName{}, queued: map[types.NamespacedName]lane{}, told: map[types.NamespacedName]toldSlot{},
	}
}

// enter takes a slot, which leave gives back. Where none is free the Meeting waits in the queue.
func (p *slots) enter(name types.NamespacedName, in lane) bool {
	p.mu.Lock()
	p.forgetLate()
	kept, told := p.told[name]
	if delete(p.told, name); told && kept.lane != in { // It has moved to another media server.
		p.count(kept.lane, -1)
		told = false
	}
	switch waits, is := p.queued[name]; {
	case told:
	case is && waits == in:
		p.mu.Unlock()
		return false
	case len(p.queues[in]) == 0 && p.fits(in): // A Meeting of another lane would have been woken for the slot.
		p.count(in, +1)
	default:
		if len(p.queues[in]) == 0 {
			p.lanes = append(p.lanes, in)
		}
		p.queues[in], p.queued[name] = append(p.queues[in], name), in
		p.mu.Unlock()
		p.tell()
		return false
	}
	delete(p.queued, name)
	p.mu.Unlock()
	return true
}

// leave gives a slot back.
func (p *slots) leave(of lane) {
	p.mu.Lock()
	p.count(of, -1)
	p.mu.Unlock()
	p.tell()
}

// drop has a Meeting wait no longer, because it needs no slot any more: none is kept for it, and it is in no other's way.
func (p *slots) drop(name types.NamespacedName) {
	p.mu.Lock()
	kept, told := p.told[name]
	_, queued := p.queued[name]
	if told {
		p.count(kept.lane, -1)
	}
	delete(p.told, name)
	delete(p.queued, name)
	p.mu.Unlock()
	if told || queued {
		p.tell()
	}
}

func (p *slots) fits(in lane) bool {
	return p.taken < p.all && p.ofNamespaces[in.namespace] < p.ofNamespace && p.ofServers[in.server] < p.ofServer
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

// tell wakes those whose turn it is, as many as there are slots.
func (p *slots) tell() {
	for _, name := range p.next() {
		p.wake(name)
	}
}

func (p *slots) next() (names []types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forgetLate()
	for in, may := p.turn(); may; in, may = p.turn() {
		p.lanes = slices.DeleteFunc(p.lanes, func(l lane) bool { return l == in })
		name, waits := p.first(in)
		if len(p.queues[in]) > 0 {
			p.lanes = append(p.lanes, in)
		}
		if waits {
			p.count(in, +1)
			p.told[name] = toldSlot{in, time.Now()}
			names = append(names, name)
		}
	}
	if len(names) > 0 { // The slot of one that does not come is for the next.
		time.AfterFunc(slotKept+time.Millisecond, p.tell)
	}
	return names
}

// turn is the next lane that gets a slot; false where no lane may have one. The namespace that has the fewest slots goes first.
func (p *slots) turn() (next lane, may bool) {
	for _, in := range p.lanes {
		if p.fits(in) && (!may || p.ofNamespaces[in.namespace] < p.ofNamespaces[next.namespace]) {
			next, may = in, true
		}
	}
	return next, may
}

// first takes out of the queue of a lane the first Meeting that still waits in the queue; false where none does.
func (p *slots) first(in lane) (name types.NamespacedName, waits bool) {
	queue := p.queues[in]
	for len(queue) > 0 && !waits {
		name, queue = queue[0], queue[1:]
		if at, is := p.queued[name]; is && at == in {
			delete(p.queued, name)
			waits = true
		}
	}
	if p.queues[in] = queue; len(queue) == 0 {
		delete(p.queues, in)
	}
	return name, waits
}

// forgetLate gives back the slots of Meetings that were woken and did not come. The caller holds the lock.
func (p *slots) forgetLate() {
	for name, kept := range p.told {
		if time.Since(kept.since) > slotKept {
			delete(p.told, name)
			p.count(kept.lane, -1)
		}
	}
}

// How many Meetings may wait for answers of media servers at a time. All together are fewer than the workers.
const (
	// callsAtOnce is for the Meetings on one server: one that does not answer holds up no other server's Meetings.
	callsAtOnce = 16
	// callsOfNamespace is for those of one namespace, which can have several such servers.
	callsOfNamespace     = 32
	callsOfAllNamespaces = 48
)

func newServerSlots(wake func(types.NamespacedName)) *slots {
	return newSlots(callsOfAllNamespaces, callsOfNamespace, callsAtOnce, wake)
}

// serverCalls are what one reconcile asks of the media server: it takes a slot at its first call and keeps it to the end.
type serverCalls struct {
	name types.NamespacedName
	lane
	// at is nil where there is no media server.
	at              *slots
	inside, waiting bool
}

// begin is errNoSlot where the Meeting has to wait.
func (c *serverCalls) begin() error {
	if c.at == nil || c.inside {
		return nil
	}
	if c.inside = c.at.enter(c.name, c.lane); !c.inside {
		c.waiting = true
		return errNoSlot
	}
	return nil
}

func (c *serverCalls) end() {
	switch {
	case c.inside:
		c.at.leave(c.lane)
	case c.at != nil && !c.waiting:
		c.at.drop(c.name)
	}
}
