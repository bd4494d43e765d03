// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"net/url"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Seen is what was last seen of a room.
func (o *Observer) Seen(media *tenant.Media, name engine.RoomName) meeting.Seen {
	if media == nil {
		return meeting.Seen{}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.engines[media.Server]
	if s == nil {
		return meeting.Seen{}
	}
	seen := meeting.Seen{
		Known: !s.visibleSince.IsZero() && s.unavailableSince.IsZero(), VisibleSince: s.visibleSince, UnavailableSince: s.unavailableSince,
		Outages: s.outagesUntil(o.Now()), AbsentSince: s.absent[name],
	}
	if room := s.rooms[name]; room != nil {
		// A room that was listed and not yet looked into tells nothing.
		seen.Known = seen.Known && !room.lookedAt.IsZero()
		seen.RoomExists, seen.Participants, seen.State = true, room.participants, room.state
	}
	return seen
}

// Look looks at one room now. Decisions that rest on an empty room need that.
func (o *Observer) Look(ctx context.Context, media *tenant.Media, name engine.RoomName) meeting.Seen {
	if media == nil {
		return meeting.Seen{}
	}
	seen := o.Seen(media, name)
	if !seen.UnavailableSince.IsZero() {
		return seen // The looks at the whole engine find out when it is back. No reconcile waits for it here.
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	room, there, err := media.Engine.Room(ctx, name)
	if err == nil && there {
		seen.Participants, err = media.Engine.Participants(ctx, name)
		seen.Participants = o.withoutGhosts(media.Server, name, seen.Participants)
	}
	if err != nil {
		// Since when the engine has been away, only looks without a break can tell.
		seen.Known = false
		return seen
	}
	seen.Known = true
	if seen.VisibleSince.IsZero() {
		seen.VisibleSince = o.Now()
	}
	seen.RoomExists, seen.State = there, room.State
	if !there {
		seen.Participants = nil
	}
	seen.AbsentSince = o.markAbsent(media.Server, name, !there)
	return seen
}

// Told keeps what the pages of a room have been told, until the next look.
func (o *Observer) Told(media *tenant.Media, name engine.RoomName, state engine.RoomState) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if seen := o.roomState(media.Server, name); seen != nil {
		seen.state = state
	}
}

// markAbsent keeps since when a room has not been there, look after look.
func (o *Observer) markAbsent(server engine.Server, name engine.RoomName, absent bool) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.serverState(server)
	if !absent {
		delete(s.absent, name)
		return time.Time{}
	}
	if s.absent[name].IsZero() {
		s.absent[name] = o.Now()
	}
	return s.absent[name]
}

// Forget drops what was kept of a room whose Meeting is over.
func (o *Observer) Forget(media *tenant.Media, name engine.RoomName) {
	if media == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.engines[media.Server]; s != nil {
		delete(s.absent, name)
	}
}

// Reach says since when an engine has answered, or why it does not. Both are zero before the first look.
func (o *Observer) Reach(server engine.Server) (since time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.engines[server]; s != nil {
		return s.visibleSince, s.err
	}
	return time.Time{}, nil
}

// reachable says of each address of an engine that has been looked at whether it answered. Of several keys for one
// address all must have been good.
func (o *Observer) reachable() map[string]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make(map[string]bool, len(o.engines))
	used := map[engine.Server]bool{}
	for _, c := range o.configs {
		used[c.server()] = used[c.server()] || c.goneAt.IsZero()
	}
	for server, s := range o.engines {
		if !used[server] {
			continue
		}
		at := server.URL
		if u, err := url.Parse(at); err == nil {
			at = u.Redacted()
		}
		before, known := all[at]
		all[at] = s.err == nil && (before || !known)
	}
	return all
}
