// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

const (
	// roomsEvery is how often each engine's list of rooms is read: one call however many rooms there are.
	roomsEvery = time.Second
	// participantsEvery is how often a room with people in it is looked into, because no webhook tells of mutes.
	participantsEvery = 2 * time.Second
	// hintDelay gathers the hints of a burst of joins into one look.
	hintDelay = 200 * time.Millisecond
	// lookTimeout bounds one look at one engine.
	lookTimeout = 5 * time.Second
	// parallelLooks bounds calls to one engine at once.
	parallelLooks = 8
	// hintLife is after how long a hint of a room that never shows up is dropped.
	hintLife = 10 * time.Second
)

// Tenants is what the controllers need of the tenant registry.
type Tenants interface {
	All() []*tenant.Tenant
}

// Meetings finds Meetings by UID, as the cache has them; nil when there is none.
type Meetings interface {
	WithUID(uid string) *v1alpha1.Meeting
}

// Observer looks at the engines again and again, and remembers what it saw. What it remembers is a cache: after a
// restart it knows nothing, and says so, until it has looked.
type Observer struct {
	Tenants  Tenants
	Meetings Meetings
	// API reads past the cache.
	API client.Reader
	Now func() time.Time
	Log logr.Logger
	// Changed is told of each Meeting whose room looks different.
	Changed func(*v1alpha1.Meeting)
	// EngineChanged is told when an engine comes into reach or goes out of it.
	EngineChanged func(engine.Server)

	mu      sync.Mutex
	engines map[engine.Server]*sight
	// looking are the engines that are being looked at now, asking those that are being asked who is really in.
	looking, asking map[engine.Server]bool
	// hints are rooms to look into, and since when.
	hints map[engine.RoomName]time.Time
	// fronts are the engines as browsers reach them.
	fronts map[front]*frontSight
	wake   chan struct{}
}

// NewObserver makes an Observer.
func NewObserver(tenants Tenants, meetings Meetings, api client.Reader, now func() time.Time, log logr.Logger) *Observer {
	return &Observer{
		Tenants: tenants, Meetings: meetings, API: api, Now: now, Log: log,
		Changed: func(*v1alpha1.Meeting) {}, EngineChanged: func(engine.Server) {},
		engines: map[engine.Server]*sight{}, looking: map[engine.Server]bool{}, asking: map[engine.Server]bool{},
		hints: map[engine.RoomName]time.Time{}, fronts: map[front]*frontSight{}, wake: make(chan struct{}, 1),
	}
}

// sight is what was last seen of one engine.
type sight struct {
	// visibleSince is the first look that was answered, lastSeen the last; awaySince is zero while looks are answered.
	visibleSince, lastSeen, awaySince time.Time
	// blind are times between answered looks in which others were not, oldest first. It is never changed in place.
	blind []meeting.Span
	err   error
	rooms map[engine.RoomName]*roomSight
	// absent are rooms that were asked for and not there, and since when.
	absent map[engine.RoomName]time.Time
	// strays are rooms without a live Meeting in the last full look, and since when.
	strays map[engine.RoomName]time.Time
}

type roomSight struct {
	participants []engine.Participant
	state        engine.RoomState
	lookedAt     time.Time
	roll         roll
}

// Hint asks for a look at a room soon. Hints may be lost.
func (o *Observer) Hint(room engine.RoomName) {
	o.mu.Lock()
	o.hints[room] = o.Now()
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
		case <-o.wake:
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(hintDelay):
			}
		}
		o.lookAll(ctx, &looks)
	}
}

// lookAll begins to look at every engine that a tenant uses. An engine that takes long holds up no other, and is not
// looked at twice at once.
func (o *Observer) lookAll(ctx context.Context, looks *sync.WaitGroup) {
	engines := map[engine.Server]engine.Engine{}
	for _, t := range o.Tenants.All() {
		if t.Media != nil {
			engines[t.Media.Server] = t.Media.Engine
		}
	}
	o.forgetOthers(engines)
	o.tryFronts(ctx, looks)
	for server, e := range engines {
		if o.begin(o.looking, server) {
			looks.Go(func() {
				defer o.finish(o.looking, server)
				o.look(ctx, server, e)
			})
		}
		if o.begin(o.asking, server) {
			looks.Go(func() {
				defer o.finish(o.asking, server)
				o.callTheRoll(ctx, server, e)
			})
		}
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

// forgetOthers drops what was kept of engines that nobody uses, and hints of rooms that never showed up.
func (o *Observer) forgetOthers(engines map[engine.Server]engine.Engine) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for server := range o.engines {
		if engines[server] == nil {
			delete(o.engines, server)
		}
	}
	for room, since := range o.hints {
		if o.Now().Sub(since) > hintLife {
			delete(o.hints, room)
		}
	}
}

// look reads one engine's rooms, and looks into those where something may have changed.
func (o *Observer) look(ctx context.Context, server engine.Server, e engine.Engine) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	rooms, err := e.Rooms(ctx, meeting.AllRooms)
	if ctx.Err() != nil && err == nil {
		err = ctx.Err()
	}
	for _, name := range o.record(server, rooms, err) {
		o.tell(name)
	}
	if err != nil {
		return
	}
	o.keepCounts(server, rooms)
	var into errgroup.Group
	into.SetLimit(parallelLooks)
	for _, room := range rooms {
		if o.due(server, room) {
			into.Go(func() error { return o.lookInto(ctx, server, e, room.Name) })
		}
	}
	if err := into.Wait(); err != nil {
		o.Log.V(1).Info("A room could not be looked into; trying again", "error", err.Error())
	}
	o.closeStrays(ctx, server, e, rooms)
}

// record keeps a look at the list of rooms and names those that have gone since the last, or tell their pages something
// else.
func (o *Observer) record(server engine.Server, rooms []engine.Room, err error) (changed []engine.RoomName) {
	turned, changed := o.recordLocked(server, rooms, err)
	if turned {
		o.EngineChanged(server)
	}
	return changed
}

// recordLocked also says whether the engine has come into reach or gone out of it.
func (o *Observer) recordLocked(server engine.Server, rooms []engine.Room, err error) (turned bool, changed []engine.RoomName) {
	now := o.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.sightOf(server)
	if s.err = err; err != nil {
		if turned = s.awaySince.IsZero(); turned {
			s.awaySince = now
		}
		return turned, nil
	}
	turned = s.visible(now)
	there := make(map[engine.RoomName]bool, len(rooms))
	for _, r := range rooms {
		there[r.Name] = true
		delete(s.absent, r.Name)
		switch seen := s.rooms[r.Name]; {
		case seen == nil:
			s.rooms[r.Name] = &roomSight{state: r.State}
		case !seen.state.ExpiresAt.Equal(r.State.ExpiresAt):
			seen.state = r.State
			changed = append(changed, r.Name)
		}
	}
	for name := range s.rooms {
		if !there[name] {
			delete(s.rooms, name)
			changed = append(changed, name)
		}
	}
	return turned, changed
}

// sightOf is what is remembered of an engine. The caller holds the lock.
func (o *Observer) sightOf(server engine.Server) *sight {
	s := o.engines[server]
	if s == nil {
		s = &sight{rooms: map[engine.RoomName]*roomSight{}, absent: map[engine.RoomName]time.Time{}, strays: map[engine.RoomName]time.Time{}}
		o.engines[server] = s
	}
	return s
}

// sightOfRoom is what is remembered of a room; nil when the engine has not listed it. The caller holds the lock.
func (o *Observer) sightOfRoom(server engine.Server, name engine.RoomName) *roomSight {
	if s := o.engines[server]; s != nil {
		return s.rooms[name]
	}
	return nil
}

// due says whether a room has to be looked into now.
func (o *Observer) due(server engine.Server, room engine.Room) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, hinted := o.hints[room.Name]; hinted {
		delete(o.hints, room.Name)
		return true
	}
	seen := o.sightOf(server).rooms[room.Name]
	if seen == nil || seen.lookedAt.IsZero() {
		return true
	}
	busy := room.Participants > 0 || len(seen.participants) > 0
	return busy && o.Now().Sub(seen.lookedAt) >= participantsEvery-roomsEvery/10
}

func (o *Observer) lookInto(ctx context.Context, server engine.Server, e engine.Engine, name engine.RoomName) error {
	participants, err := e.Participants(ctx, name)
	if err != nil {
		return err
	}
	participants = o.withoutGhosts(server, name, participants)
	if o.keep(server, name, participants) {
		o.tell(name)
	}
	o.enforce(ctx, e, name, participants)
	return nil
}

// keep remembers who is in a room and says whether that is news.
func (o *Observer) keep(server engine.Server, name engine.RoomName, participants []engine.Participant) (changed bool) {
	slices.SortFunc(participants, func(a, b engine.Participant) int {
		if a.Identity < b.Identity {
			return -1
		}
		return 1
	})
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := o.sightOfRoom(server, name)
	if seen == nil {
		return false
	}
	changed = seen.lookedAt.IsZero() || !slices.Equal(seen.participants, participants)
	seen.participants, seen.lookedAt = participants, o.Now()
	return changed
}

// tell wakes the Meeting of a room.
func (o *Observer) tell(name engine.RoomName) {
	if m := o.meetingOf(name); m != nil {
		o.Changed(m)
	}
}

func (o *Observer) meetingOf(name engine.RoomName) *v1alpha1.Meeting {
	_, uid, ok := meeting.ParseEngineRoom(name)
	if !ok {
		return nil
	}
	return o.Meetings.WithUID(uid)
}
