// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"net/url"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// lookTimeout bounds one call to a media server.
const lookTimeout = 5 * time.Second

// Tenants lists the tenants that are served.
type Tenants interface {
	All() []*tenant.Tenant
}

// MediaServers lists the MediaServers that there are, in use or not.
type MediaServers interface {
	All() []*tenant.MediaServer
}

// Meetings finds Meetings by UID, as the cache has them.
type Meetings interface {
	// WithUID is nil when there is none.
	WithUID(uid string) *v1alpha1.Meeting
	// ByUID also finds those whose objects have gone a moment ago.
	ByUID(t *tenant.Tenant, uid string) (meeting.View, bool)
}

// Options are what an Observer needs.
type Options struct {
	Tenants      Tenants
	MediaServers MediaServers
	Meetings     Meetings
	// API reads past the cache.
	API client.Reader
	// Now is the cluster's time, for what is compared with times in Meetings.
	Now func() time.Time
	Log logr.Logger
	// LoadOf is zero for a MediaServer on which no live meeting is placed.
	LoadOf func(types.NamespacedName) int
	// CallsPerSecond is the budget of looks into the rooms of one media server.
	CallsPerSecond int
	// Changed is called for each Meeting whose room looks different, Details where the same participants are in.
	Changed, Details func(*v1alpha1.Meeting)
	// Full is called for each telephone or stream that is removed because the meeting has no place.
	Full func(*v1alpha1.Meeting)
	// MediaChanged is called for each MediaServer that becomes available or unavailable, ReachChanged for each ConferenceConfig
	// that uses it.
	MediaChanged, ReachChanged func(types.NamespacedName)
}

// environment is what the parts of an Observer share.
type environment struct {
	Options
	// monotonic paces looks. A clock that is set does not move it.
	monotonic func() time.Time
	owners    *owners
	hints     *hints
	memory    *limit.Budget
	// work is what goes on in the background.
	work sync.WaitGroup
}

// Observer looks at the media servers of all tenants.
type Observer struct {
	env *environment

	mu      sync.Mutex
	servers map[engine.Server]*server
}

// New makes an Observer.
func New(options Options) *Observer {
	env := &environment{Options: options, monotonic: time.Now, owners: newOwners(), hints: newHints(), memory: limit.NewMemoryBudget(allMemory, oneMemory)}
	return &Observer{env: env, servers: map[engine.Server]*server{}}
}

// Hint asks for a look at a room soon. Hints may be lost, and a room of no Meeting that the cache has gets no look: whoever has the key of a
// media server can name any number of rooms, in names of any length.
func (o *Observer) Hint(room engine.RoomName) {
	if o.env.meetingOf(room) != nil {
		o.env.hints.add(room, o.env.monotonic())
	}
}

// Start looks until the context ends.
func (o *Observer) Start(ctx context.Context) error {
	tick := time.NewTicker(listEvery)
	defer tick.Stop()
	defer o.env.work.Wait()
	o.lookAll(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			o.lookAll(ctx)
		case <-o.env.hints.added:
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(hintDelay):
			}
			o.lookWhereHinted(ctx)
		}
	}
}

// lookAll begins to look at every media server that a tenant uses. One that takes long holds up no other, and is not
// looked at twice at once.
func (o *Observer) lookAll(ctx context.Context) {
	now := o.env.monotonic()
	tenants := o.env.Tenants.All()
	o.env.hints.drop(now)
	servers := o.env.MediaServers.All()
	busy := o.env.busy(servers)
	for _, s := range o.inUse(o.env.owners.assign(tenants, servers, now)) {
		s.noteBusy(busy[s.at], now)
		o.env.unlessRunning(&s.looking, func() { s.look(ctx) })
		o.env.unlessRunning(&s.checking, func() { s.checkPresence(ctx) })
	}
}

// busy are the media servers on which live meetings are placed.
func (e *environment) busy(servers []*tenant.MediaServer) map[engine.Server]bool {
	busy := map[engine.Server]bool{}
	for _, s := range servers {
		busy[s.Server] = busy[s.Server] || e.LoadOf(s.Name) > 0
	}
	return busy
}

// lookWhereHinted probes the rooms that webhooks named, and reads the list of all rooms where that is due: a tick that finds this pass running is
// lost. While another pass over the media server runs, the next one includes the named rooms.
func (o *Observer) lookWhereHinted(ctx context.Context) {
	hinted := map[*server][]engine.RoomName{}
	for _, name := range o.env.hints.all() {
		owner, _ := o.env.owners.of(name)
		if at, ok := owner.serverOf(o.env.meetingOf(name)); ok {
			if s := o.known(at); s != nil && s.answers() {
				hinted[s] = append(hinted[s], name)
			}
		}
	}
	for s, names := range hinted {
		o.env.unlessRunning(&s.looking, func() {
			s.find(ctx, names)
			s.look(ctx)
		})
	}
}

// unlessRunning begins what a lock stands for in the background, unless it still runs.
func (e *environment) unlessRunning(running *sync.Mutex, do func()) {
	if running.TryLock() {
		e.work.Go(func() {
			defer running.Unlock()
			do()
		})
	}
}

// reachChanged tells the MediaServers that stand for a media server, and the ConferenceConfigs that use it.
func (e *environment) reachChanged(at engine.Server) {
	for _, s := range e.MediaServers.All() {
		if s.Server == at {
			e.MediaChanged(s.Name)
		}
	}
	for _, t := range e.Tenants.All() {
		if t.UsesServer(at) {
			e.ReachChanged(t.NamespacedName)
		}
	}
}

// inUse are the media servers to look at. What was kept of others is dropped.
func (o *Observer) inUse(used map[engine.Server]*tenant.Media) (all []*server) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for at, s := range o.servers {
		if used[at] == nil {
			s.drop()
			delete(o.servers, at)
		}
	}
	for _, media := range used {
		all = append(all, o.serverLocked(media))
	}
	return all
}

// known is what is known of a media server; nil before the first look.
func (o *Observer) known(at engine.Server) *server {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.servers[at]
}

// server is what is known of a media server, even if that is nothing yet.
func (o *Observer) server(at *tenant.Media) *server {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.serverLocked(at)
}

func (o *Observer) serverLocked(at *tenant.Media) *server {
	if o.servers[at.Server] == nil {
		o.servers[at.Server] = newServer(o.env, at, o.paceLocked(at.Server.URL))
	}
	return o.servers[at.Server]
}

// paceLocked is the pace for a URL: what a media server can bear does not depend on the key.
func (o *Observer) paceLocked(at string) *pace {
	for other, s := range o.servers {
		if other.URL == at {
			return s.pace
		}
	}
	return newPace(o.env.CallsPerSecond, o.env.monotonic())
}

// Former is the Tenant of a ConferenceConfig that has been deleted: how LiveKit was reached that its meetings are on. It is nil where this
// observer has not seen the ConferenceConfig.
func (o *Observer) Former(config types.NamespacedName) *tenant.Tenant {
	last := o.env.owners.former(config)
	if last == nil {
		return nil
	}
	former := *last
	former.Deleting = true
	return &former
}

// Reach says since when a media server has answered, or why it does not. Both are zero before the first look.
func (o *Observer) Reach(at engine.Server) (since time.Time, err error) {
	if s := o.known(at); s != nil {
		return s.reached()
	}
	return time.Time{}, nil
}

// Counts are the rooms of Convene's that a media server had when they were last listed, and the participants in them.
func (o *Observer) Counts(at engine.Server) (rooms, participants int) {
	if s := o.known(at); s != nil {
		return s.counts()
	}
	return 0, 0
}

// Reachable says of each address of a media server in use whether it answered. Of several keys for one address all must
// have been good.
func (o *Observer) Reachable() map[string]bool {
	used := o.env.owners.used()
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make(map[string]bool, len(o.servers))
	for server, s := range o.servers {
		if !used[server] {
			continue
		}
		at := server.URL
		if u, err := url.Parse(at); err == nil {
			at = u.Redacted()
		}
		_, err := s.reached()
		before, known := all[at]
		all[at] = err == nil && (before || !known)
	}
	return all
}
