// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	// roomsEvery is how often each media server's list of rooms is read: one call however many rooms there are.
	roomsEvery = time.Second
	// participantsEvery is how often a room with participants is looked into, because no webhook tells of mutes. With
	// more rooms than the budget of calls allows, it is as often as that allows.
	participantsEvery = 2 * time.Second
	// hintDelay gathers the hints of a burst of joins into one look.
	hintDelay = 200 * time.Millisecond
	// lookTimeout bounds one call to a media server.
	lookTimeout = 5 * time.Second
	// passTime is after how long a pass over the rooms of one media server begins no more looks, so that the list of
	// rooms and the hints do not wait for it. The next pass goes on with the rooms that waited longest.
	passTime = 750 * time.Millisecond
	// parallelLooks bounds calls to one media server at once.
	parallelLooks = 32
	// hintLife is after how long a hint of a room that never shows up is dropped.
	hintLife = 10 * time.Second
)

// Tenants is what the controllers need of the tenant registry.
type Tenants interface {
	All() []*tenant.Tenant
}

// Meetings finds Meetings by UID, as the cache has them.
type Meetings interface {
	// WithUID is nil when there is none.
	WithUID(uid string) *v1alpha1.Meeting
	// ByUID also finds those whose objects have gone a moment ago.
	ByUID(ctx context.Context, t *tenant.Tenant, uid string) (meeting.View, bool)
}

// Observer polls the engines and remembers what it saw. What it remembers is a cache: after a
// restart it knows nothing, and says so, until it has looked.
type Observer struct {
	Tenants  Tenants
	Meetings Meetings
	// API reads past the cache.
	API client.Reader
	// Now is the cluster's time, for what is compared with times in Meetings.
	Now func() time.Time
	Log logr.Logger
	// CallsPerSecond is the budget of looks into the rooms of one media server.
	CallsPerSecond int
	// Changed is told of each Meeting whose room looks different, Details where the same participants are in.
	Changed, Details func(*v1alpha1.Meeting)
	// EngineChanged is told when an engine comes into reach or goes out of it.
	EngineChanged func(engine.Server)

	// monotonic paces looks. A clock that is set does not move it.
	monotonic func() time.Time

	mu      sync.Mutex
	engines map[engine.Server]*observedServer
	// configs are the ConferenceConfigs whose rooms are looked for, by UID, those that have gone lately included.
	configs map[string]*owner
	// paces are by the URL of the media server: what it can bear does not depend on the key.
	paces map[string]*pace
	// looking are the engines that are being looked at now, asking those that are being asked who is really in, closing
	// those where strays are being closed.
	looking, asking, closing map[engine.Server]bool
	// hints are rooms to look into, and since when.
	hints map[engine.RoomName]time.Time
	// browserURLs are the engines as browsers reach them.
	browserURLs map[browserURL]*browserURLState
	wake        chan struct{}
}

// NewObserver makes an Observer.
func NewObserver(tenants Tenants, meetings Meetings, api client.Reader, now func() time.Time, log logr.Logger) *Observer {
	return &Observer{
		Tenants: tenants, Meetings: meetings, API: api, Now: now, Log: log, CallsPerSecond: DefaultCallsPerSecond,
		Changed: func(*v1alpha1.Meeting) {}, Details: func(*v1alpha1.Meeting) {}, EngineChanged: func(engine.Server) {},
		monotonic: time.Now,
		engines:   map[engine.Server]*observedServer{}, configs: map[string]*owner{}, paces: map[string]*pace{},
		looking: map[engine.Server]bool{}, asking: map[engine.Server]bool{}, closing: map[engine.Server]bool{},
		hints: map[engine.RoomName]time.Time{}, browserURLs: map[browserURL]*browserURLState{}, wake: make(chan struct{}, 1),
	}
}

// observedServer is what was last seen of one engine.
type observedServer struct {
	// visibleSince is the first look that was answered, lastSeen the last; unavailableSince is zero while looks are answered.
	visibleSince, lastSeen, unavailableSince time.Time
	// outages are times between answered looks in which others were not answered, oldest first. The slice is never changed in
	// place.
	outages []meeting.Span
	err     error
	// throttled says that the last look was answered with "too many calls": the server is there, and says nothing.
	throttled bool
	// listedAt is when the rooms were last listed, by monotonic time.
	listedAt time.Time
	rooms    map[engine.RoomName]*observedRoom
	// absent are rooms that were asked for and not there, and since when.
	absent map[engine.RoomName]time.Time
	// strays are rooms without a live Meeting in the last full look.
	strays map[engine.RoomName]*stray
}

type observedRoom struct {
	participants []engine.Participant
	state        engine.RoomState
	// lookedAt is the last look that was answered, triedAt the last one, by monotonic time.
	lookedAt, triedAt time.Time
	// inFlight says that a look is on its way.
	inFlight bool
	// news says that the engine counts other participants than at the last look.
	news     bool
	presence presence
}

// Hint asks for a look at a room soon. Hints may be lost.
func (o *Observer) Hint(room engine.RoomName) {
	o.mu.Lock()
	o.hints[room] = o.monotonic()
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Start looks until the context ends.
func (o *Observer) Start(ctx context.Context) error {
	tick := time.NewTicker(roomsEvery)
	defer tick.Stop()
	var looks sync.WaitGroup
	defer looks.Wait()
	o.lookAll(ctx, &looks)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			o.lookAll(ctx, &looks)
		case <-o.wake:
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(hintDelay):
			}
			o.lookWhereHinted(ctx, &looks)
		}
	}
}

// lookAll begins to look at every engine that a tenant uses. An engine that takes long holds up no other, and is not
// looked at twice at once.
func (o *Observer) lookAll(ctx context.Context, looks *sync.WaitGroup) {
	engines := o.assign()
	o.forgetOthers(engines)
	o.checkBrowserURLs(ctx, looks)
	for server, e := range engines {
		o.once(looks, o.looking, server, func() { o.look(ctx, looks, server, e) })
		o.once(looks, o.asking, server, func() { o.checkPresence(ctx, server, e) })
	}
}

// once begins what is not going on yet for a server.
func (o *Observer) once(looks *sync.WaitGroup, going map[engine.Server]bool, server engine.Server, do func()) {
	if o.begin(going, server) {
		looks.Go(func() {
			defer o.finish(going, server)
			do()
		})
	}
}

// begin is false while what it begins is still going on.
func (o *Observer) begin(going map[engine.Server]bool, server engine.Server) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if going[server] {
		return false
	}
	going[server] = true
	return true
}

func (o *Observer) finish(going map[engine.Server]bool, server engine.Server) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(going, server)
}

// forgetOthers drops what was kept of engines that no tenant uses, and hints of rooms that never showed up.
func (o *Observer) forgetOthers(engines map[engine.Server]engine.Engine) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for server := range o.engines {
		if engines[server] == nil {
			delete(o.engines, server)
		}
	}
	for room, since := range o.hints {
		if o.monotonic().Sub(since) > hintLife {
			delete(o.hints, room)
		}
	}
}

// serverState is what is remembered of an engine. The caller holds the lock.
func (o *Observer) serverState(server engine.Server) *observedServer {
	s := o.engines[server]
	if s == nil {
		s = &observedServer{rooms: map[engine.RoomName]*observedRoom{}, absent: map[engine.RoomName]time.Time{}, strays: map[engine.RoomName]*stray{}}
		o.engines[server] = s
	}
	return s
}

// roomState is what is remembered of a room; nil when the engine has not listed it. The caller holds the lock.
func (o *Observer) roomState(server engine.Server, name engine.RoomName) *observedRoom {
	if s := o.engines[server]; s != nil {
		return s.rooms[name]
	}
	return nil
}
