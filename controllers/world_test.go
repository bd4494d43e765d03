// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/observer"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// world runs the controllers on a real API server with a clock that can be set and an engine that can fail. Every
// version of every Meeting and ConferenceConfig is held against the invariants.
type world struct {
	*testkit.Cluster
	t *testing.T
	// engine is that of the ConferenceConfig default, other that of those at otherAddress.
	engine, other *faultyengine.Engine
	observer      *observer.Observer
	tenants       *tenant.Registry
	directory     *directory.Directory
	gauges        Gauges
	meetings      *MeetingReconciler

	mu    sync.Mutex
	ahead time.Duration
	seen  int
}

const patience = time.Minute

var monday = faultyengine.Monday

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Cluster: testkit.ControlPlane(t), t: t, engine: faultyengine.New(), other: faultyengine.New()}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	t.Cleanup(func() {
		stop()
		all.Wait()
		if w.seen == 0 {
			t.Error("no version of anything was held against the invariants")
		}
	})
	run := func(part func(context.Context) error) {
		all.Go(func() {
			if err := part(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	shared, err := cache.New(w.Config, cache.Options{Scheme: testkit.Scheme(), DefaultNamespaces: map[string]cache.Config{w.Namespace: {}}})
	w.must(err)
	w.directory, err = directory.New(ctx, directory.Options{Cache: shared, Now: w.now})
	w.must(err)
	objects, err := client.New(w.Config, client.Options{Scheme: testkit.Scheme(), Cache: &client.CacheOptions{Reader: shared, EnableReadYourWritesConsistency: ptr.To(true)}})
	w.must(err)
	secrets, err := kubernetes.NewForConfig(w.Config)
	w.must(err)
	w.Create(t, testkit.MediaServer(w.Namespace, "http://livekit:7880"))
	w.tenants = tenant.NewRegistry(tenant.Options{
		Cache: shared, Client: secrets.CoreV1().RESTClient(), Dial: w.dial, PlacesOf: w.directory.PlacesOf,
	})
	w.watch(ctx, &all, &v1alpha1.MeetingList{}, &v1alpha1.ConferenceConfigList{})
	run(shared.Start)
	run(w.tenants.Start)
	<-w.tenants.Ready()
	run(w.controllers(shared, objects, w.tenants).Start)
	return w
}

const otherAddress = "http://other:7880"

func (w *world) dial(_ string, at engine.Server) (engine.Engine, error) {
	if at.URL == otherAddress {
		return w.other, nil
	}
	return w.engine, nil
}

// otherConfig makes another ConferenceConfig, with a LiveKit of its own, beside the one of config.
func (w *world) otherConfig(name string) *v1alpha1.ConferenceConfig {
	w.t.Helper()
	c := &v1alpha1.ConferenceConfig{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}, Spec: configSpec()}
	c.Spec.BaseURL, c.Spec.MediaRefs = "https://"+name+".example", testkit.MediaRefs("other")
	other := testkit.MediaServer(w.Namespace, otherAddress)
	other.Name = "other"
	w.must(w.Client.Create(w.t.Context(), other))
	w.must(w.Client.Create(w.t.Context(), c))
	return c
}

func configSpec() v1alpha1.ConferenceConfigSpec {
	return v1alpha1.ConferenceConfigSpec{
		Variant: v1alpha1.VariantA, BaseURL: "https://x.example",
		API:       &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "keys", Key: "key"}}},
		MediaRefs: testkit.MediaRefs("livekit"),
	}
}

// controllers puts them together, as cmd/manager does.
func (w *world) controllers(shared cache.Cache, objects client.Client, tenants *tenant.Registry) ctrl.Manager {
	mgr, err := ctrl.NewManager(w.Config, ctrl.Options{
		Scheme: testkit.Scheme(), Logger: logr.Discard(),
		NewCache:   func(*rest.Config, cache.Options) (cache.Cache, error) { return started{shared}, nil },
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	w.must(err)
	events := mgr.GetEventRecorder("convene")
	w.meetings = &MeetingReconciler{Client: objects, API: w.Client, Tenants: tenants, Meetings: w.directory, Events: events, Now: w.now}
	configs := &ConfigReconciler{
		Client: objects, Secrets: w.Client, Tenants: tenants, Meetings: w.directory, HostProblems: tenants.HostProblems, Events: events, Now: w.now,
	}
	media := &MediaReconciler{Client: objects, Servers: tenants.MediaServers, Tenants: tenants, Events: events, Now: w.now}
	w.observer = observer.New(observer.Options{
		Tenants: tenants, MediaServers: tenants.MediaServers, Meetings: w.directory, LoadOf: w.directory.LoadOf, API: w.Client, Now: w.now, Log: mgr.GetLogger(),
		CallsPerSecond: observer.DefaultCallsPerSecond,
		Changed:        w.meetings.Changed, Details: w.meetings.Details, Full: TellFull(events), MediaChanged: media.Wake,
		ReachChanged: func(config types.NamespacedName) {
			configs.Wake(config)
			w.meetings.OfConfig(config)
		},
	})
	api, err := discovery.NewDiscoveryClientForConfig(mgr.GetConfig())
	w.must(err)
	definitions := kube.NewDefinitions(api.OpenAPIV3(), mgr.GetLogger(), func() {})
	w.meetings.Observer, configs.Observer, media.Observer, configs.MissingFields = w.observer, w.observer, w.observer, definitions.Missing
	w.must(w.meetings.SetupWithManager(mgr))
	w.must(configs.SetupWithManager(mgr))
	w.must(media.SetupWithManager(mgr))
	w.gauges = Gauges{Cache: shared, Tenants: tenants, Meetings: w.directory, Reachable: w.observer.Reachable, MissingFields: definitions.Missing, Now: w.now}
	w.must(mgr.Add(definitions))
	w.must(mgr.Add(w.observer))
	return mgr
}

// started is a cache that runs already.
type started struct{ cache.Cache }

// Start waits.
func (started) Start(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

// pass sets the clock forth, and has every Meeting looked at.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.mu.Lock()
	w.ahead += d
	w.mu.Unlock()
	w.touch()
}

// nextSecond waits until an object that is created now is younger than m: the API server dates objects by its own clock, which
// no test sets, in whole seconds.
func (w *world) nextSecond(m *v1alpha1.Meeting) {
	w.t.Helper()
	w.eventually(func() error {
		if now := time.Now().Truncate(time.Second); !now.After(m.CreationTimestamp.Time) {
			return fmt.Errorf("it is still %s", now)
		}
		return nil
	})
}

// touch writes an annotation on every Meeting, which wakes its reconciler.
func (w *world) touch() {
	w.t.Helper()
	var all v1alpha1.MeetingList
	w.must(w.Client.List(context.Background(), &all, client.InNamespace(w.Namespace)))
	for i := range all.Items {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"touched":%q}}}`, time.Now())
		w.must(client.IgnoreNotFound(w.Client.Patch(context.Background(), &all.Items[i], client.RawPatch(types.MergePatchType, []byte(patch)))))
	}
}

// watch holds every version against the invariants.
func (w *world) watch(ctx context.Context, all *sync.WaitGroup, lists ...client.ObjectList) {
	watcher, err := client.NewWithWatch(w.Config, client.Options{Scheme: testkit.Scheme()})
	w.must(err)
	for _, list := range lists {
		versions, err := watcher.Watch(ctx, list, client.InNamespace(w.Namespace))
		w.must(err)
		all.Go(func() {
			defer versions.Stop()
			before := map[types.UID]client.Object{}
			for event := range versions.ResultChan() {
				now, ok := event.Object.(client.Object)
				if !ok {
					return
				}
				w.check(before[now.GetUID()], now)
				before[now.GetUID()] = now
			}
		})
	}
}

func (w *world) check(was, is client.Object) {
	var broken []string
	var status any
	switch now := is.(type) {
	case *v1alpha1.Meeting:
		before, _ := was.(*v1alpha1.Meeting)
		broken, status = meetingInvariants(before, now), now.Status
	case *v1alpha1.ConferenceConfig:
		before, _ := was.(*v1alpha1.ConferenceConfig)
		broken, status = configInvariants(before, now), now.Status
	}
	if len(broken) > 0 {
		w.t.Errorf("%s breaks:\n  %s\n  %+v", is.GetName(), say(broken), status)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen++
}

// config makes the ConferenceConfig default, which has an engine.
func (w *world) config(change ...func(*v1alpha1.ConferenceConfigSpec)) *v1alpha1.ConferenceConfig {
	w.t.Helper()
	w.secrets()
	return w.configAlone(change...)
}

// secrets makes those that config names.
func (w *world) secrets() {
	w.t.Helper()
	w.Secret(w.t, v1alpha1.UsedByConferenceConfig, "keys", map[string]string{"key": "4d1f0c7be2a94b0f8e6a"})
	w.Secret(w.t, v1alpha1.UsedByMediaServer, "livekit", map[string]string{"apiKey": "key", "apiSecret": "secret"})
}

// configAlone is config without the Secrets.
func (w *world) configAlone(change ...func(*v1alpha1.ConferenceConfigSpec)) *v1alpha1.ConferenceConfig {
	w.t.Helper()
	c := &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "default"},
		Spec:       configSpec(),
	}
	for _, f := range change {
		f(&c.Spec)
	}
	w.must(w.Client.Create(w.t.Context(), c))
	return c
}

// meeting makes a Meeting as the API does.
func (w *world) meeting(name string, change ...func(*v1alpha1.Meeting)) *v1alpha1.Meeting {
	w.t.Helper()
	m := &v1alpha1.Meeting{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name, Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByAPI}},
		Spec:       v1alpha1.MeetingSpec{Room: name},
	}
	for _, f := range change {
		f(m)
	}
	w.must(w.Client.Create(w.t.Context(), m))
	return m
}

// enter lets people in, as the gateway and a LiveKit would.
func (w *world) enter(c *v1alpha1.ConferenceConfig, m *v1alpha1.Meeting, names ...string) engine.RoomName {
	w.t.Helper()
	w.patch(m, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.AnnotationRoomOpened, w.now().Format(time.RFC3339)))
	name := meeting.EngineRoom(string(c.UID), string(m.UID))
	w.engine.Set(name, names...)
	w.observer.Hint(name)
	return name
}

func (w *world) patch(o client.Object, text string) {
	w.t.Helper()
	w.must(w.Client.Patch(w.t.Context(), o, client.RawPatch(types.MergePatchType, []byte(text))))
}

func (w *world) eventually(check func() error) {
	w.t.Helper()
	testkit.Eventually(w.t, patience, check)
}

// is waits for a phase and what else has to be so.
func (w *world) is(name string, phase v1alpha1.MeetingPhase, and ...func(*v1alpha1.Meeting) bool) *v1alpha1.Meeting {
	w.t.Helper()
	var m v1alpha1.Meeting
	w.eventually(func() error {
		m = v1alpha1.Meeting{}
		if err := w.Client.Get(context.Background(), client.ObjectKey{Namespace: w.Namespace, Name: name}, &m); err != nil {
			return err
		}
		ok := m.Status.Phase == phase
		for _, f := range and {
			ok = ok && f(&m)
		}
		if !ok {
			return fmt.Errorf("%s is %+v", name, m.Status)
		}
		return nil
	})
	return &m
}

// media is how the tenant of a config reaches the engine.
func (w *world) media(c *v1alpha1.ConferenceConfig) *tenant.Media {
	t, _ := w.tenants.Get(client.ObjectKeyFromObject(c))
	own := *t.Media[0]
	return &own
}
