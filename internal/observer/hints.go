// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"maps"
	"slices"
	"sync"
	"time"

	"convene.dev/convene/internal/engine"
)

const (
	// hintDelay gathers the hints of a burst of joins into one look.
	hintDelay = 200 * time.Millisecond
	// hintLife is after how long the hint of a Meeting whose room never shows up is dropped.
	hintLife = 10 * time.Second
)

// hints are rooms to look into because a webhook named them.
type hints struct {
	// added has an element when there are new hints.
	added chan struct{}

	mu    sync.Mutex
	since map[engine.RoomName]time.Time
}

func newHints() *hints {
	return &hints{added: make(chan struct{}, 1), since: map[engine.RoomName]time.Time{}}
}

func (h *hints) add(room engine.RoomName, now time.Time) {
	h.mu.Lock()
	h.since[room] = now
	h.mu.Unlock()
	select {
	case h.added <- struct{}{}:
	default:
	}
}

func (h *hints) all() []engine.RoomName {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.since))
}

// answer drops the hint of a room that was looked into; one that came after the look began stays.
func (h *hints) answer(room engine.RoomName, began time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.since[room].After(began) {
		delete(h.since, room)
	}
}

// drop drops the hints of rooms that never showed up.
func (h *hints) drop(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.since, func(_ engine.RoomName, since time.Time) bool { return now.Sub(since) > hintLife })
}
