// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/store"
)

// unknownAfter is how long a room without any Meeting must have been seen before it is closed: the cache may not have
// the Meeting yet, and to close its room would throw people out.
const unknownAfter = 10 * time.Second

// closeStrays closes rooms of ours that belong to no live Meeting: left over from a time when the engine, or we, were
// away, or made again by a join that was in flight at the end. A room counts as a stray when two looks in a row find
// it so.
func (o *Observer) closeStrays(ctx context.Context, server engine.Server, e engine.Engine, rooms []engine.Room) {
	ours := map[string]bool{}
	for _, t := range o.Tenants.All() {
		ours[string(t.UID)] = true
	}
	strays, over := map[engine.RoomName]time.Time{}, map[engine.RoomName]bool{}
	for _, room := range rooms {
		config, _, ok := meeting.ParseEngineRoom(room.Name)
		if !ok || !ours[config] {
			continue
		}
		if m := o.meetingOf(room.Name); m == nil || meeting.IsOver(m) {
			strays[room.Name], over[room.Name] = o.Now(), m != nil
		}
	}
	var closing, unknown []engine.RoomName
	for name, since := range o.keepStrays(server, strays) {
		switch {
		case over[name]:
			closing = append(closing, name)
		case o.Now().Sub(since) >= unknownAfter:
			unknown = append(unknown, name)
		}
	}
	closing = append(closing, o.withoutMeeting(ctx, server, unknown)...)
	var all errgroup.Group
	all.SetLimit(parallelLooks)
	for _, name := range closing {
		all.Go(func() error {
			o.closeStray(ctx, e, name)
			return nil
		})
	}
	_ = all.Wait()
}

// withoutMeeting are the rooms of which the cluster's API does not know a Meeting either: the cache may be behind for
// as long as a watch is held up, and people meet by way of another replica.
func (o *Observer) withoutMeeting(ctx context.Context, server engine.Server, unknown []engine.RoomName) (sure []engine.RoomName) {
	if len(unknown) == 0 {
		return nil
	}
	meetings := map[string]bool{}
	for _, t := range o.Tenants.All() {
		if t.Media == nil || t.Media.Server != server {
			continue
		}
		if err := store.UIDs(ctx, o.API, t.Namespace, meetings); err != nil {
			o.Log.Info("A room without a known Meeting is left alone; trying again", "error", err.Error())
			return nil
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range unknown {
		if _, uid, _ := meeting.ParseEngineRoom(name); !meetings[uid] {
			sure = append(sure, name)
			continue
		}
		o.sightOf(server).strays[name] = o.Now() // asked again after a while
	}
	return sure
}

// keepStrays remembers the strays of this look, and returns those that were there in the last, since when.
func (o *Observer) keepStrays(server engine.Server, strays map[engine.RoomName]time.Time) map[engine.RoomName]time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.sightOf(server)
	again := map[engine.RoomName]time.Time{}
	for name := range strays {
		if since, before := s.strays[name]; before {
			strays[name], again[name] = since, since
		}
	}
	s.strays = strays
	return again
}

func (o *Observer) closeStray(ctx context.Context, e engine.Engine, name engine.RoomName) {
	if err := e.Close(ctx, name, ""); err != nil {
		o.Log.Info("A room without a live Meeting could not be closed; trying again", "room", name, "error", err.Error())
		return
	}
	o.Log.Info("Closed a room without a live Meeting", "room", name)
}
