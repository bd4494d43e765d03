// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/http"
	"slices"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

// errNoRecipient is the same for a participant who is not there and for one who watches unseen: nobody finds out who watches.
var errNoRecipient = fault.NotFound("This participant has left, or has no chat; choose another recipient")

// private reports whether a message is for one participant alone.
func (m chatMessage) private() bool { return m.To != "" || m.ToName != "" }

// sayPrivately sends a message to one participant, and gives it to its author, as it was sent. It has no stamp: the gateway passes
// it on to nobody later.
func (h *handler) sayPrivately(ctx context.Context, q *httpserver.Request, p participant, m chatMessage, to engine.Identity) (httpserver.Answer, error) {
	if err := h.present(ctx, q, p); err != nil {
		return nil, err
	}
	recipient, err := h.recipientOf(ctx, q, p, to)
	if err != nil {
		return nil, err
	}
	m.To, m.ToName = recipient.Identity, recipient.Name
	if err := h.tell(ctx, q, p, m.To, chatTopic, m); err != nil {
		return nil, err
	}
	return httpserver.JSON{Status: http.StatusOK, Value: m}, nil
}

// recipientOf is another participant who is in the meeting and seen, and reads the chat. Those who wait are in another room.
func (h *handler) recipientOf(ctx context.Context, q *httpserver.Request, p participant, to engine.Identity) (engine.Participant, error) {
	if to == p.identity() {
		return engine.Participant{}, fault.Invalid("to", "to is your own identity; choose another participant")
	}
	find := func(people []engine.Participant) int {
		return slices.IndexFunc(people, func(other engine.Participant) bool { return other.Identity == to && !other.Hidden && other.Chat })
	}
	people, err := h.admission.RecentParticipants(ctx, q.Tenant, p.view, func(people []engine.Participant) bool { return find(people) >= 0 })
	if err != nil {
		return engine.Participant{}, err
	}
	if at := find(people); at >= 0 {
		return people[at], nil
	}
	return engine.Participant{}, errNoRecipient
}
