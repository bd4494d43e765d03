// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
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

// owner is a ConferenceConfig whose rooms are on media servers.
type owner struct {
	tenant *tenant.Tenant
	// goneAt is when it was first missing, by monotonic time; zero while it is there.
	goneAt time.Time
	// quiet are the media servers that listed none of its rooms lately, once it has gone for goneQuiet.
	quiet map[engine.Server]bool
}

// serverOf is the media server that a Meeting of the owner is on; false when that is not known.
func (c owner) serverOf(m *v1alpha1.Meeting) (engine.Server, bool) {
	if m == nil || c.tenant == nil {
		return engine.Server{}, false
	}
	if media := c.tenant.MediaAt(meeting.PlaceOf(m)); media != nil {
		return media.Server, true
	}
	return engine.Server{}, false
}

func (c owner) gone() bool { return !c.goneAt.IsZero() }

func newOwners() *owners { return &owners{byUID: map[string]owner{}} }

// assign works out whose rooms are on which media servers, and names the media servers to look at: those that tenants use,
// and those that none uses yet.
func (o *owners) assign(tenants []*tenant.Tenant, servers []*tenant.MediaServer, now time.Time) map[engine.Server]*tenant.Media {
	o.mu.Lock()
	defer o.mu.Unlock()
	there := make(map[string]bool, len(tenants))
	for _, t := range tenants {
		uid := string(t.UID)
		there[uid] = true
		if len(t.Media) == 0 {
			delete(o.byUID, uid)
			continue
		}
		o.byUID[uid] = owner{tenant: t}
	}
	used := map[engine.Server]*tenant.Media{}
	for _, s := range servers {
		if s.Engine != nil {
			used[s.Server] = &s.Media
		}
	}
	for uid, c := range o.byUID {
		switch {
		case there[uid]:
		case !c.gone():
			c.goneAt, c.quiet = now, map[engine.Server]bool{}
			o.byUID[uid] = c
		case now.Sub(c.goneAt) >= goneFor:
			delete(o.byUID, uid)
			continue
		}
		for _, media := range c.tenant.Media {
			used[media.Server] = media
		}
	}
	return used
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

// former is what was last known of a ConferenceConfig that has been deleted; nil where that is nothing.
func (o *owners) former(config types.NamespacedName) *tenant.Tenant {
	o.mu.Lock()
	defer o.mu.Unlock()
	var last owner
	for _, c := range o.byUID {
		if c.tenant.NamespacedName == config && (last.tenant == nil || !c.gone() || last.gone() && c.goneAt.After(last.goneAt)) {
			last = c
		}
	}
	return last.tenant
}

// used are the media servers of ConferenceConfigs that have not gone and may use them.
func (o *owners) used() map[engine.Server]bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	used := map[engine.Server]bool{}
	for _, c := range o.byUID {
		for _, media := range c.tenant.Media {
			if !c.gone() && !media.Retired {
				used[media.Server] = true
			}
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
		if c, known := o.ofLocked(room.Name); known && c.tenant.UsesServer(at) {
			own = append(own, room)
			has[c.tenant] = true
		}
	}
	for uid, c := range o.byUID {
		if !c.gone() || !c.tenant.UsesServer(at) {
			continue
		}
		c.quiet[at] = !has[c.tenant] && now.Sub(c.goneAt) >= goneQuiet
		if !slices.ContainsFunc(c.tenant.Media, func(m *tenant.Media) bool { return !c.quiet[m.Server] }) {
			delete(o.byUID, uid)
		}
	}
	return own
}
