// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// faulty is an engine that fails, hangs and forgets when it is told to. That is all it is for: what a LiveKit does is
// tested with LiveKit.
type faulty struct {
	mu    sync.Mutex
	rooms map[engine.RoomName][]engine.Participant
	// states are what the rooms' pages were told last.
	states map[engine.RoomName]engine.RoomState
	// fail makes a verb fail, hang makes it wait for the channel.
	fail map[string]error
	hang map[string]chan struct{}
	// ghosts are listed and not there.
	ghosts map[engine.Identity]bool
	// calls are the verbs with their rooms, in order.
	calls []string
	// redirects are where the people of rooms that were closed were sent.
	redirects map[engine.RoomName]string
}

func newFaulty() *faulty {
	return &faulty{
		rooms: map[engine.RoomName][]engine.Participant{}, states: map[engine.RoomName]engine.RoomState{},
		fail: map[string]error{}, hang: map[string]chan struct{}{}, ghosts: map[engine.Identity]bool{},
		redirects: map[engine.RoomName]string{},
	}
}

var errAway = fault.Unavailable("LiveKit does not answer")

// do runs a verb, under its faults.
func (f *faulty) do(ctx context.Context, verb string, room engine.RoomName, act func()) error {
	f.mu.Lock()
	hang := f.hang[verb]
	f.calls = append(f.calls, strings.TrimSpace(verb+" "+string(room)))
	f.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fail[verb]; err != nil {
		return err
	}
	act()
	return nil
}

// Rooms lists.
func (f *faulty) Rooms(ctx context.Context, prefix engine.RoomName) (rooms []engine.Room, err error) {
	err = f.do(ctx, "rooms", "", func() {
		for _, name := range slices.Sorted(maps.Keys(f.rooms)) {
			if strings.HasPrefix(string(name), string(prefix)) {
				rooms = append(rooms, engine.Room{Name: name, Participants: len(f.rooms[name]), State: f.states[name]})
			}
		}
	})
	return rooms, err
}

// Room finds one.
func (f *faulty) Room(ctx context.Context, name engine.RoomName) (room engine.Room, there bool, err error) {
	err = f.do(ctx, "room", name, func() {
		var people []engine.Participant
		people, there = f.rooms[name]
		room = engine.Room{Name: name, Participants: len(people), State: f.states[name]}
	})
	return room, there, err
}

// Participants lists.
func (f *faulty) Participants(ctx context.Context, room engine.RoomName) (people []engine.Participant, err error) {
	err = f.do(ctx, "participants", room, func() { people = slices.Clone(f.rooms[room]) })
	return people, err
}

// Present knows ghosts.
func (f *faulty) Present(ctx context.Context, room engine.RoomName, who engine.Identity) (there bool, err error) {
	err = f.do(ctx, "present", room, func() { there = !f.ghosts[who] })
	return there, err
}

// FoundAt may fail.
func (f *faulty) FoundAt(ctx context.Context, _ string) error {
	return f.do(ctx, "found", "", func() {})
}

// Ensure makes.
func (f *faulty) Ensure(ctx context.Context, room engine.RoomName, _ engine.RoomOptions, state engine.RoomState) error {
	return f.do(ctx, "ensure", room, func() {
		f.rooms[room], f.states[room] = append(f.rooms[room], []engine.Participant{}...), state
	})
}

// Close deletes.
func (f *faulty) Close(ctx context.Context, room engine.RoomName, redirect string) error {
	return f.do(ctx, "close", room, func() {
		delete(f.rooms, room)
		delete(f.states, room)
		f.redirects[room] = redirect
	})
}

// Act does nothing.
func (f *faulty) Act(ctx context.Context, room engine.RoomName, _ engine.Action) error {
	return f.do(ctx, "act", room, func() {})
}

// Grant is not for these tests.
func (*faulty) Grant(engine.Grant) (string, error) { return "", errors.New("not here") }

// Inspect is not for these tests.
func (*faulty) Inspect(string) (engine.RoomName, engine.Identity, error) {
	return "", "", errors.New("not here")
}

// Signed is not for these tests.
func (*faulty) Signed(string) bool { return false }

// Hint is not for these tests.
func (*faulty) Hint(string, []byte) (engine.RoomName, error) { return "", errors.New("not here") }

// set puts people into a room, which is made.
func (f *faulty) set(room engine.RoomName, names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	people := []engine.Participant{}
	for _, name := range names {
		people = append(people, engine.Participant{Identity: engine.Identity(name), Name: name, JoinedAt: monday})
	}
	f.rooms[room] = people
}

func (f *faulty) lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rooms, f.states = map[engine.RoomName][]engine.Participant{}, map[engine.RoomName]engine.RoomState{}
}

func (f *faulty) breakVerb(verb string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail[verb] = err
	if verb == "rooms" {
		f.fail["room"] = err // They are one call to LiveKit.
	}
}

// took are the calls since the last time.
func (f *faulty) took() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

var monday = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// looker is an Observer of faulty engines whose clock stands still until it is set.
type looker struct {
	*Observer
	t       *testing.T
	clock   time.Time
	tenants []*tenant.Tenant
	// meetings are those that the cache has, newer those that only the cluster's API knows, which fails with apiError.
	meetings, newer []v1alpha1.Meeting
	apiError        error
	// configs are the ConferenceConfigs that the cluster's API knows, by name, graves those Meetings whose objects have gone.
	configs map[string]types.UID
	graves  map[string]meeting.View
	// asked counts what the cluster's API was asked.
	asked int

	mu      sync.Mutex
	changed []string
	turned  []string
}

func newLooker(t *testing.T) *looker {
	l := &looker{t: t, clock: monday}
	l.Observer = NewObserver(l, l, api{l}, func() time.Time { l.mu.Lock(); defer l.mu.Unlock(); return l.clock }, testr.New(t))
	l.monotonic = l.Now
	l.Changed = func(m *v1alpha1.Meeting) { l.mu.Lock(); defer l.mu.Unlock(); l.changed = append(l.changed, m.Name) }
	l.Details = l.Changed
	l.EngineChanged = func(s engine.Server) {
		since, err := l.Reach(s) // Whoever is told looks.
		l.mu.Lock()
		defer l.mu.Unlock()
		l.turned = append(l.turned, s.URL+map[bool]string{true: " away", false: " there"}[since.IsZero() || err != nil])
	}
	return l
}

// All are the tenants.
func (l *looker) All() []*tenant.Tenant { return l.tenants }

// engine adds a tenant with an engine of its own.
func (l *looker) engine(name string) (*tenant.Media, *faulty) {
	f := newFaulty()
	media := &tenant.Media{Server: engine.Server{URL: "http://" + name}, Engine: f}
	l.tenants = append(l.tenants, &tenant.Tenant{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}, UID: types.UID(name), Media: media})
	return media, f
}

// meeting adds a Meeting to the cache.
func (l *looker) meeting(name string, phase v1alpha1.MeetingPhase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.meetings = append(l.meetings, v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)}, Status: v1alpha1.MeetingStatus{Phase: phase}})
}

// pass sets the clock forth and looks at everything.
func (l *looker) pass(d time.Duration) {
	l.mu.Lock()
	l.clock = l.clock.Add(d)
	l.mu.Unlock()
	var looks sync.WaitGroup
	l.lookAll(l.t.Context(), &looks)
	looks.Wait()
}

// heard are the Meetings that were woken, and the engines that came or went, since the last time.
func (l *looker) heard() (changed, turned []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed, turned = l.changed, l.turned
	l.changed, l.turned = nil, nil
	return changed, turned
}

func room(config, m string) engine.RoomName { return meeting.EngineRoom(config, m) }

// WithUID finds those that the cache has.
func (l *looker) WithUID(uid string) *v1alpha1.Meeting {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.meetings {
		if string(m.UID) == uid {
			return &m
		}
	}
	return nil
}

// ByUID finds those that the cache has.
func (l *looker) ByUID(_ context.Context, _ *tenant.Tenant, uid string) (meeting.View, bool) {
	m := l.WithUID(uid)
	if m == nil {
		view, there := l.graves[uid]
		return view, there
	}
	return meeting.View{UID: uid, Redirect: meeting.Redirect(m)}, true
}

// api lists what the cluster's API knows.
type api struct{ *looker }

// Get finds ConferenceConfigs.
func (a api) Get(_ context.Context, key client.ObjectKey, found client.Object, _ ...client.GetOption) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	uid, there := a.configs[key.Name]
	if a.apiError == nil && !there {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	found.SetUID(uid)
	return a.apiError
}

// List lists metadata.
func (a api) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	found := list.(*metav1.PartialObjectMetadataList)
	in := (&client.ListOptions{}).ApplyOptions(options).Namespace
	for _, m := range slices.Concat(a.meetings, a.newer) {
		if m.Namespace != "" && m.Namespace != in {
			continue
		}
		found.Items = append(found.Items, metav1.PartialObjectMetadata{ObjectMeta: m.ObjectMeta})
	}
	return a.apiError
}
