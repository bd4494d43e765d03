// SPDX-License-Identifier: Apache-2.0

// Package admission decides who may enter a meeting and as whom. Every way into a meeting goes through it.
package admission

import (
	"context"
	"net/netip"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Meetings finds meetings, and writes down what has to outlast a connection. Its errors are faults.
type Meetings interface {
	// Enter finds the live meeting of a room, or starts again one that ended unjoined or empty. Lineage is the
	// ticket's, empty for a room link. The errors are NotFound, and Gone for a meeting that has ended or a ticket of an
	// older one; with Gone the view is the meeting that ended, as far as it is known.
	Enter(ctx context.Context, t *tenant.Tenant, room, lineage string) (meeting.View, error)
	// Preview finds what Enter does, and changes nothing: a meeting that Enter would start again is shown as it would be. Opens says that
	// the person may open rooms: a room without a meeting that Open would make is then shown without a UID.
	Preview(ctx context.Context, t *tenant.Tenant, room, lineage string, opens bool) (meeting.View, error)
	// Open finds or makes the meeting of a room, when Enter found none, for a person who may open rooms. It is Gone while it
	// is known that the meeting ended for good, and TooMany where as many rooms are open as the tenant allows.
	Open(ctx context.Context, t *tenant.Tenant, o meeting.Opening) (meeting.View, error)
	// MarkOpened records, before the engine is asked, that a room may exist there, and shows the meeting as it is then. The first call has
	// a leader, if it names one, lead the meeting (meeting.Lead).
	MarkOpened(ctx context.Context, t *tenant.Tenant, v meeting.View, leader engine.Identity, username string) (meeting.View, error)
	// PasswordMark is the mark of the password that a meeting has now; empty for none.
	PasswordMark(ctx context.Context, t *tenant.Tenant, v meeting.View) (string, error)
	CheckPassword(ctx context.Context, t *tenant.Tenant, v meeting.View, site netip.Prefix, presented string) (bool, error)
	// Known is the meeting of a UID, also one that has ended. Where it is not known whether it has, it is Unavailable: above all for an empty
	// room, with which a meeting that this replica does not know is not looked for.
	Known(ctx context.Context, t *tenant.Tenant, uid, room string) (meeting.View, error)
}

// Service admits participants.
type Service struct {
	meetings Meetings
	places   *places
	lists    lists
	knocks   knocks
}

// New makes a Service.
func New(meetings Meetings) *Service {
	return &Service{
		meetings: meetings, places: newPlaces(), lists: lists{all: map[place]*list{}}, knocks: knocks{pending: map[engine.RoomName]bool{}},
	}
}
