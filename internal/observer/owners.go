// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"sync"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	// goneFor is how long it is remembered where the rooms of a ConferenceConfig were that has gone: its LiveKit may
	// have been unavailable when its meetings ended.
	goneFor = 24 * time.Hour
	// goneQuiet is after how long that is forgotten when none of its rooms is there: no access token makes one then.
	goneQuiet = 15 * time.Minute
)

// owners are the ConferenceConfigs whose rooms are looked for, by UID, those that have gone lately included.
type owners struct {
	mu    sync.Mutex
	byUID map[string]owner
}

// owner is a ConferenceConfig whose rooms are on a media server.
type owner struct {
	tenant *tenant.Tenant
	// goneAt is when it was first missing, by monotonic time; zero while it is there.
	goneAt time.Time
}

func (c owner) server() engine.Server { return c.tenant.Media.Server }

func (c owner) gone() bool { return !c.goneAt.IsZero() }

func newOwners() *owners { return &owners{byUID: map[string]owner{}} }

// assign works out whose rooms are on which media server, and names the media servers to look at.
func (o *owners) assign(tenants []*tenant.Tenant, now time.Time) map[engine.Server]engine.Engine {
	o.mu.Lock()
	defer o.mu.Unlock()
	there := make(map[string]bool, len(tenants))
	for _, t := range tenants {
		uid := string(t.UID)
		there[uid] = true
		if t.Media == nil {
			delete(o.byUID, uid)
			continue
		}
		o.byUID[uid] = owner{tenant: t}
	}
	engines := map[engine.Server]engine.Engine{}
	for uid, c := range o.byUID {
		switch {
		case there[uid]:
		case !c.gone():
			c.goneAt = now
			o.byUID[uid] = c
		case now.Sub(c.goneAt) >= goneFor:
			delete(o.byUID, uid)
			continue
		}
		engines[c.server()] = c.tenant.Media.Engine
	}
	return engines
}

// of is whose room this is; false when it belongs to no ConferenceConfig that is known.
func (o *owners) of(name engine.RoomName) (owner, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ofLocked(name)
}

func (o *owners) ofLocked(name engine.RoomName) (owner, bool) {
	config, _, ok := meeting.ParseEngineRoom(name)
	if !ok {
		return owner{}, false
	}
	c, known := o.byUID[config]
	return c, known
}

// used are the media servers of ConferenceConfigs that have not gone.
func (o *owners) used() map[engine.Server]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	used := map[engine.Server]bool{}
	for _, c := range o.byUID {
		if !c.gone() {
			used[c.server()] = true
		}
	}
	return used
}

// ownRooms are the rooms of the ConferenceConfigs of one media server and key: those of other installations, and of
// ConferenceConfigs that reach the same LiveKit with another key, cost no call. A ConferenceConfig that has gone is
// forgotten when it has no room any more.
func (o *owners) ownRooms(at engine.Server, list []engine.Room, now time.Time) (own []engine.Room) {
	o.mu.Lock()
	defer o.mu.Unlock()
	has := map[*tenant.Tenant]bool{}
	for _, room := range list {
		if c, known := o.ofLocked(room.Name); known && c.server() == at {
			own = append(own, room)
			has[c.tenant] = true
		}
	}
	for uid, c := range o.byUID {
		if c.gone() && c.server() == at && !has[c.tenant] && now.Sub(c.goneAt) >= goneQuiet {
			delete(o.byUID, uid)
		}
	}
	return own
}
