// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"slices"
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
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit/faultyengine"
)

var monday = faultyengine.Monday

// looker is an Observer of faulty engines whose clock stands still until it is set.
type looker struct {
	*Observer
	t       *testing.T
	clock   time.Time
	tenants []*tenant.Tenant
	// meetings are those that the cache has, newer those that only the API server knows, which fails with apiError.
	meetings, newer []v1alpha1.Meeting
	apiError        error
	// configs are the ConferenceConfigs that the API server knows, by name, graves those Meetings whose objects have gone.
	configs map[string]types.UID
	graves  map[string]meeting.View
	// idle says that no live meeting is placed anywhere.
	idle bool
	// asked counts what the API server was asked.
	asked int

	mu      sync.Mutex
	changed []string
	turned  []string
	// full are the Meetings that had no place for a participant.
	full []string
}

func newLooker(t *testing.T) *looker {
	l := &looker{t: t, clock: monday}
	note := func(m *v1alpha1.Meeting) { l.mu.Lock(); defer l.mu.Unlock(); l.changed = append(l.changed, m.Name) }
	full := func(m *v1alpha1.Meeting) { l.mu.Lock(); defer l.mu.Unlock(); l.full = append(l.full, m.Name) }
	l.Observer = New(Options{
		Tenants: l, MediaServers: mediaServers{l}, Meetings: l, LoadOf: l.loadOf, API: api{l}, Now: l.now, Log: testr.New(t), CallsPerSecond: DefaultCallsPerSecond,
		Changed: note, Details: note, Full: full, ReachChanged: l.turn, MediaChanged: func(types.NamespacedName) {},
	})
	l.env.monotonic = l.now
	return l
}

func (l *looker) loadOf(types.NamespacedName) int {
	if l.idle {
		return 0
	}
	return 1
}

func (l *looker) now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock
}

// turn notes whether the media server of a tenant answers, as the controller does that is told.
func (l *looker) turn(config types.NamespacedName) {
	for _, t := range l.tenants {
		if t.NamespacedName == config {
			since, err := l.Reach(t.Media[0].Server)
			l.mu.Lock()
			defer l.mu.Unlock()
			l.turned = append(l.turned, t.Media[0].Server.URL+map[bool]string{true: " away", false: " there"}[since.IsZero() || err != nil])
			return
		}
	}
}

// All are the tenants.
func (l *looker) All() []*tenant.Tenant { return l.tenants }

// mediaServers are those that the tenants use.
type mediaServers struct{ Tenants }

func (s mediaServers) All() (all []*tenant.MediaServer) {
	for _, t := range s.Tenants.All() {
		for _, m := range t.Media {
			all = append(all, &tenant.MediaServer{Media: *m})
		}
	}
	return all
}

// engine adds a tenant with an engine of its own.
func (l *looker) engine(name string) (*tenant.Media, *faultyengine.Engine) {
	f := faultyengine.New()
	media := &tenant.Media{Server: engine.Server{URL: "http://" + name}, Engine: f}
	l.tenants = append(l.tenants, &tenant.Tenant{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}, UID: types.UID(name), Media: []*tenant.Media{media}})
	return media, f
}

// meeting adds a Meeting to the cache.
func (l *looker) meeting(name string, phase v1alpha1.MeetingPhase) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.meetings = append(l.meetings, v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)}, Status: v1alpha1.MeetingStatus{Phase: phase}})
}

// pass sets the clock forward and looks at everything.
func (l *looker) pass(d time.Duration) {
	l.mu.Lock()
	l.clock = l.clock.Add(d)
	l.mu.Unlock()
	l.lookAll(l.t.Context())
	l.env.work.Wait()
}

// heard are the Meetings that were woken, and the engines that came or went, since the last time.
func (l *looker) heard() (changed, turned []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed, turned = l.changed, l.turned
	l.changed, l.turned = nil, nil
	return changed, turned
}

func roomName(config, m string) engine.RoomName { return meeting.EngineRoom(config, m) }

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
func (l *looker) ByUID(_ *tenant.Tenant, uid string) (meeting.View, bool) {
	m := l.WithUID(uid)
	if m == nil {
		view, there := l.graves[uid]
		return view, there
	}
	return meeting.View{UID: uid, Redirect: meeting.Redirect(m)}, true
}

// api lists what the API server knows.
type api struct{ *looker }

// Get finds ConferenceConfigs, and Meetings that are newer than those of the cache.
func (a api) Get(_ context.Context, key client.ObjectKey, found client.Object, _ ...client.GetOption) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	if m, ok := found.(*v1alpha1.Meeting); ok {
		i := slices.IndexFunc(a.newer, func(newer v1alpha1.Meeting) bool { return newer.Name == key.Name })
		if i < 0 {
			return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
		}
		a.newer[i].DeepCopyInto(m)
		return a.apiError
	}
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
