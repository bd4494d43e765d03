// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"container/list"
	"iter"
	"time"

	"convene.dev/convene/internal/engine"
)

// rotation holds rooms in the order of their last turns: the room that has waited longest is first. A pass takes from the front, however many
// rooms there are.
type rotation struct {
	order *list.List
	at    map[engine.RoomName]*list.Element
}

// turn is a room in a rotation, and when its last turn was.
type turn struct {
	name engine.RoomName
	last time.Time
}

func newRotation() rotation {
	return rotation{order: list.New(), at: map[engine.RoomName]*list.Element{}}
}

// first puts a room to the front, as if it had never had a turn.
func (r rotation) first(name engine.RoomName) {
	r.remove(name)
	r.at[name] = r.order.PushFront(turn{name: name})
}

// last puts a room that has its turn now to the end.
func (r rotation) last(name engine.RoomName, now time.Time) {
	r.remove(name)
	r.at[name] = r.order.PushBack(turn{name, now})
}

func (r rotation) remove(name engine.RoomName) {
	if e := r.at[name]; e != nil {
		r.order.Remove(e)
		delete(r.at, name)
	}
}

// due yields the rooms that had no turn after a time. The room that is yielded may be moved.
func (r rotation) due(until time.Time) iter.Seq[engine.RoomName] {
	return func(yield func(engine.RoomName) bool) {
		for e := r.order.Front(); e != nil; {
			p, next := e.Value.(turn), e.Next()
			if p.last.After(until) || !yield(p.name) {
				return
			}
			e = next
		}
	}
}
