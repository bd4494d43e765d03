// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync/atomic"

	"convene.dev/convene/internal/engine"
)

// hints go from the gateway's webhooks to the observer while this replica leads. Other replicas drop them: the leader
// lists the rooms of every media server each second, so it learns of a change without a webhook, too.
type hints struct {
	// receiver is nil where this replica does not lead.
	receiver atomic.Pointer[func(engine.RoomName)]
}

// give takes a hint of a webhook.
func (h *hints) give(room engine.RoomName) {
	if receive := h.receiver.Load(); receive != nil {
		(*receive)(room)
	}
}

// to gives hints to a receiver until the context ends.
func (h *hints) to(ctx context.Context, receive func(engine.RoomName)) {
	h.receiver.Store(&receive)
	defer h.receiver.Store(nil)
	<-ctx.Done()
}
