// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
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
	if s := o.known(media.Server); s != nil {
		return s.seen(name)
	}
	return meeting.Seen{}
}

// Look looks at one room now. Decisions that rest on an empty room need that.
func (o *Observer) Look(ctx context.Context, media *tenant.Media, name engine.RoomName) meeting.Seen {
	if media == nil {
		return meeting.Seen{}
	}
	s := o.server(media)
	seen := s.seen(name)
	if !seen.UnavailableSince.IsZero() {
		return seen // The looks at the whole server find out when it is back. No reconcile waits for it here.
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	room, there, err := s.engine.Room(ctx, name)
	if err == nil && there {
		seen.Participants, err = s.engine.Participants(ctx, name)
		if err == nil && !s.holdParticipants(name, seen.Participants) {
			err = errManyParticipants
		}
		seen.Participants = s.withoutGhosts(name, seen.Participants)
	}
	if err != nil {
		// Since when the server has been unavailable, only looks without a break can tell.
		seen.Known = false
		return seen
	}
	seen.Known = true
	if seen.VisibleSince.IsZero() {
		seen.VisibleSince = o.env.Now()
	}
	seen.RoomExists, seen.State = there, room.State
	if !there {
		seen.Participants = nil
	}
	seen.AbsentSince = s.markAbsent(name, !there)
	return seen
}

// Told keeps what the pages of a room have been told, until the next look.
func (o *Observer) Told(media *tenant.Media, name engine.RoomName, state engine.RoomState) {
	if s := o.known(media.Server); s != nil {
		s.told(name, state)
	}
}

// seen is what was last seen of a room.
func (s *server) seen(name engine.RoomName) meeting.Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := meeting.Seen{
		Known: s.reach.answers(), VisibleSince: s.reach.visibleSince, UnavailableSince: s.reach.unavailableSince,
		SilentSince: s.reach.silentSince, Outages: s.reach.outagesUntil(s.env.Now()), AbsentSince: s.rooms.absent[name],
	}
	if r := s.rooms.listed[name]; r != nil {
		// A room that was listed and not yet looked into tells nothing.
		seen.Known = seen.Known && !r.lookedAt.IsZero()
		seen.RoomExists, seen.Participants, seen.State = true, r.participants, r.state
	}
	if r := s.rooms.listed[meeting.WaitingRoom(name)]; r != nil {
		seen.Waiting = r.participants
	}
	return seen
}

func (s *server) told(name engine.RoomName, state engine.RoomState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rooms.listed[name]; r != nil {
		r.state = state
	}
}

// markAbsent keeps since when a room has not been there, look after look.
func (s *server) markAbsent(name engine.RoomName, absent bool) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !absent {
		delete(s.rooms.absent, name)
		return time.Time{}
	}
	if s.rooms.absent[name].IsZero() {
		s.rooms.absent[name] = s.env.Now()
	}
	return s.rooms.absent[name]
}
