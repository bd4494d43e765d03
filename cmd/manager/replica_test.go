// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// patience is for what must happen; nothing is measured by it.
const patience = time.Minute

// configs is a cache of ConferenceConfigs alone, which changes them much faster than an API server does.
type configs struct {
	cache.Cache
	toolscache.SharedIndexInformer

	mu      sync.Mutex
	objects map[types.NamespacedName]*v1alpha1.ConferenceConfig
	handler toolscache.ResourceEventHandler
}

// GetInformer gets the one.
func (c *configs) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return c, nil
}

// AddEventHandler keeps the one.
func (c *configs) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	c.handler = h
	return c, nil
}

// RemoveEventHandler keeps it.
func (*configs) RemoveEventHandler(toolscache.ResourceEventHandlerRegistration) error { return nil }

// HasSynced is true: there is none at first.
func (*configs) HasSynced() bool { return true }

// List finds none.
func (*configs) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// Get reads one. Nothing is known of a Namespace.
func (c *configs) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	config, ok := o.(*v1alpha1.ConferenceConfig)
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, key.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[key].DeepCopyInto(config)
	return nil
}

// set has a ConferenceConfig as it is now, in a generation of its own.
func (c *configs) set(config *v1alpha1.ConferenceConfig, generation int64) {
	config = config.DeepCopy()
	config.Generation = generation
	c.mu.Lock()
	if c.objects == nil {
		c.objects = map[types.NamespacedName]*v1alpha1.ConferenceConfig{}
	}
	was := c.objects[client.ObjectKeyFromObject(config)]
	c.objects[client.ObjectKeyFromObject(config)] = config
	c.mu.Unlock()
	if was == nil {
		c.handler.OnAdd(config, false)
	} else {
		c.handler.OnUpdate(was, config)
	}
}

// tapped is a cache whose event handlers can be told of more than the API server has.
type tapped struct {
	cache.Cache
	handlers []toolscache.ResourceEventHandler
}

// GetInformer gets one that keeps its handlers.
func (c *tapped) GetInformer(ctx context.Context, o client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	informer, err := c.Cache.GetInformer(ctx, o, opts...)
	return tappedInformer{informer, c}, err
}

type tappedInformer struct {
	cache.Informer
	cache *tapped
}

// AddEventHandler keeps it.
func (i tappedInformer) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	i.cache.handlers = append(i.cache.handlers, h)
	return i.Informer.AddEventHandler(h)
}

// replica is what a manager is made of, with a cache of Meetings on a real API server.
type replica struct {
	*testkit.Cluster
	*parts
	t       *testing.T
	configs *configs
	// tapped has what is told of Meetings.
	tapped *tapped
	// changed has a signal after a change of a tenant.
	changed chan struct{}
	// asked counts the requests for the Lease of the controllers.
	asked atomic.Int32
}

func newReplica(t *testing.T) *replica {
	t.Helper()
	r := &replica{Cluster: testkit.ControlPlane(t), t: t, configs: &configs{}, changed: make(chan struct{}, 1)}
	config := rest.CopyConfig(r.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(q *http.Request) (*http.Response, error) {
			if strings.HasSuffix(q.URL.Path, "/leases/"+kube.LeaseName("")) {
				r.asked.Add(1)
			}
			return next.RoundTrip(q)
		})
	})
	httpClient, err := rest.HTTPClientFor(config)
	must(t, err)
	direct, err := kube.NewObjects(config, httpClient, testkit.Scheme(), r.Namespace, logr.Discard())
	must(t, err)
	o := cacheOptions(settings{namespace: r.Namespace, leaseNamespace: r.Namespace}, direct)
	o.Scheme = testkit.Scheme()
	shared, err := cache.New(config, o)
	must(t, err)
	secrets, err := kubernetes.NewForConfig(config)
	must(t, err)
	r.parts = &parts{
		settings: settings{leaderElect: true, leaseNamespace: r.Namespace, lease: leaseTimes{15 * time.Second, 10 * time.Second, 100 * time.Millisecond}},
		config:   config, scheme: testkit.Scheme(), log: logr.Discard(), clock: kube.NewClock(), cache: shared,
		direct:  direct,
		tenants: tenant.NewRegistry(tenant.Options{Cache: r.configs, Client: secrets.CoreV1().RESTClient(), Dial: livekit.New}),
	}
	r.leader, err = r.newLeader()
	must(t, err)
	r.objects, err = client.New(config, client.Options{Scheme: testkit.Scheme(), Cache: &client.CacheOptions{
		Reader: shared, EnableReadYourWritesConsistency: ptr.To(true),
	}})
	must(t, err)
	r.tapped = &tapped{Cache: shared}
	r.directory, err = directory.New(t.Context(), directory.Options{Cache: r.tapped, Now: time.Now})
	must(t, err)
	r.conference = conference.New(r.Client, r.directory, time.Now)
	r.tenants.Notify(func(types.NamespacedName) {
		select {
		case r.changed <- struct{}{}:
		default:
		}
	})
	r.run(shared.Start, r.tenants.Start)
	if !shared.WaitForCacheSync(t.Context()) {
		t.Fatal("the cache does not start")
	}
	<-r.tenants.Ready()
	return r
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip asks.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run runs parts until the test ends or stop is called.
func (r *replica) run(all ...func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, part := range all {
		running.Go(func() {
			if err := part(ctx); err != nil && ctx.Err() == nil {
				r.t.Error(err)
			}
		})
	}
	stop = func() {
		cancel()
		running.Wait()
	}
	r.t.Cleanup(stop)
	return stop
}

// heldByAnother has another replica hold the Lease of the controllers.
func (r *replica) heldByAnother() {
	r.t.Helper()
	now := metav1.NewMicroTime(time.Now())
	r.Create(r.t, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: kube.LeaseName("")},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("another"), LeaseDurationSeconds: ptr.To(int32(3600)), AcquireTime: &now, RenewTime: &now,
		},
	})
}

// tenantOf is a ConferenceConfig whose one key is in the Secret keys.
func (r *replica) tenantOf(name string) *v1alpha1.ConferenceConfig {
	return &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: name, UID: types.UID(name)},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: "https://" + name + ".example",
			API: &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "keys", Key: "current"}}},
		},
	}
}

// served waits until a tenant is served as its ConferenceConfig is in a generation.
func (r *replica) served(name types.NamespacedName, generation int64) {
	r.t.Helper()
	for {
		if t, ok := r.tenants.Get(name); ok && t.Generation == generation {
			return
		}
		select {
		case <-r.changed:
		case <-time.After(patience):
			r.t.Fatalf("generation %d of %s is not served", generation, name.Name)
		}
	}
}

func (r *replica) accepts(name types.NamespacedName, key string, want bool) {
	r.t.Helper()
	testkit.Eventually(r.t, patience, func() error {
		t, ok := r.tenants.Get(name)
		if !ok {
			return fmt.Errorf("there is no tenant %s", name.Name)
		}
		if _, is := t.Keys.Match(key); is != want {
			return fmt.Errorf("%s is accepted: %t", key, is)
		}
		return nil
	})
}
