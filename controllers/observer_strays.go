// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// closeStrays closes rooms of ours that belong to no live Meeting: left over from a time when the engine, or we, were
// away, or made again by a join that was in flight at the end. A room counts as a stray when two looks in a row find
// it so, because the cache may not have a new Meeting yet.
func (o *Observer) closeStrays(ctx context.Context, server engine.Server, e engine.Engine, rooms []engine.Room) {
	ours := map[string]bool{}
	for _, t := range o.Tenants.All() {
		ours[string(t.UID)] = true
	}
	strays := map[engine.RoomName]bool{}
	for _, room := range rooms {
		config, _, ok := meeting.ParseEngineRoom(room.Name)
		if !ok || !ours[config] {
			continue
		}
		if m := o.meetingOf(ctx, room.Name); m == nil || meeting.IsOver(m) {
			strays[room.Name] = true
		}
	}
	o.mu.Lock()
	before := map[engine.RoomName]bool{}
	if s := o.engines[server]; s != nil {
		before, s.strays = s.strays, strays
	}
	o.mu.Unlock()
	for name := range strays {
		if !before[name] {
			continue
		}
		if err := e.Close(ctx, name, ""); err != nil {
			o.Log.Info("A room without a live Meeting could not be closed; trying again", "room", name, "error", err.Error())
			continue
		}
		o.Log.Info("Closed a room without a live Meeting", "room", name)
	}
}
