// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// whileLeading begins something once this replica leads, and stops it when it leads no longer.
type whileLeading func() (stop func())

// Start begins, and stops when the context ends.
func (begin whileLeading) Start(ctx context.Context) error {
	defer begin()()
	<-ctx.Done()
	return nil
}

// hints go from the gateway's webhook to the observer of the replica that leads.
type hints struct {
	// forward sends the name of a room to the other replicas; nil where there are none.
	forward func(room string)
	// known says whether a room is that of a Meeting.
	known    func(engine.RoomName) bool
	mu       sync.Mutex
	receiver func(engine.RoomName)
}

func (h *hints) to(receiver func(engine.RoomName)) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.receiver = receiver
	return func() { h.to(nil) }
}

// give takes a hint of a webhook. A webhook reaches any replica.
func (h *hints) give(_ *tenant.Tenant, room engine.RoomName) {
	if !h.observe(room) && h.forward != nil {
		h.forward(string(room))
	}
}

// forwarded takes a hint of another replica. It is not authenticated: what it costs is bounded by the Meetings that there
// are, and it goes no further.
func (h *hints) forwarded(room string) {
	if name := engine.RoomName(room); h.known(name) {
		h.observe(name)
	}
}

// observe is false where this replica does not lead.
func (h *hints) observe(room engine.RoomName) bool {
	h.mu.Lock()
	receiver := h.receiver
	h.mu.Unlock()
	if receiver == nil {
		return false
	}
	receiver(room)
	return true
}

// knownRoom says whether a room is that of a Meeting.
func (p *parts) knownRoom(room engine.RoomName) bool {
	_, uid, ok := meeting.ParseEngineRoom(room)
	return ok && p.directory.WithUID(uid) != nil
}
