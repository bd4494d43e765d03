// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	// goneFor is how long it is remembered where the rooms of a ConferenceConfig were that has gone: its LiveKit may
	// have been away when its meetings ended.
	goneFor = 24 * time.Hour
	// goneQuiet is after how long that is forgotten when none of its rooms is there: no access token makes one then.
	goneQuiet = 15 * time.Minute
)

// owner is a ConferenceConfig whose rooms are on an engine.
type owner struct {
	tenant *tenant.Tenant
	// goneAt is when it was first missing, by monotonic time; zero while it is there.
	goneAt time.Time
}

func (c *owner) server() engine.Server { return c.tenant.Media.Server }

// assign works out whose rooms are on which engine, and names the engines to look at.
func (o *Observer) assign() map[engine.Server]engine.Engine {
	tenants, now := o.Tenants.All(), o.monotonic()
	o.mu.Lock()
	defer o.mu.Unlock()
	there := make(map[string]bool, len(tenants))
	for _, t := range tenants {
		uid := string(t.UID)
		there[uid] = true
		if t.Media == nil {
			delete(o.configs, uid)
			continue
		}
		o.configs[uid] = &owner{tenant: t}
	}
	engines := map[engine.Server]engine.Engine{}
	for uid, c := range o.configs {
		switch {
		case there[uid]:
		case c.goneAt.IsZero():
			c.goneAt = now
		case now.Sub(c.goneAt) >= goneFor:
			delete(o.configs, uid)
			continue
		}
		engines[c.server()] = c.tenant.Media.Engine
	}
	return engines
}

// ownerOf is whose room this is; nil when it belongs to no ConferenceConfig that is known. The caller holds the lock.
func (o *Observer) ownerOf(name engine.RoomName) *owner {
	config, _, ok := meeting.ParseEngineRoom(name)
	if !ok {
		return nil
	}
	return o.configs[config]
}

// ours are the rooms of the ConferenceConfigs of one engine: those of other installations, and of ConferenceConfigs that
// reach the same LiveKit with another key, cost no call. A ConferenceConfig that has gone is forgotten when it has no room
// any more.
func (o *Observer) ours(server engine.Server, rooms []engine.Room, answered bool) (ours []engine.Room) {
	now := o.monotonic()
	o.mu.Lock()
	defer o.mu.Unlock()
	has := map[*owner]bool{}
	for _, room := range rooms {
		if c := o.ownerOf(room.Name); c != nil && c.server() == server {
			ours = append(ours, room)
			has[c] = true
		}
	}
	for uid, c := range o.configs {
		if answered && !c.goneAt.IsZero() && c.server() == server && !has[c] && now.Sub(c.goneAt) >= goneQuiet {
			delete(o.configs, uid)
		}
	}
	return ours
}
