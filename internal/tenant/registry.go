// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

const (
	// syncLimit bounds how long a ConferenceConfig waits for the Secrets that it names: one that cannot be read is a
	// missing one.
	syncLimit = 5 * time.Second
	syncPoll  = 10 * time.Millisecond
	// retryAfter is before the next try of what failed for a reason that passes.
	retryAfter = time.Second
)

// Options are what a Registry needs.
type Options struct {
	// Cache tells of ConferenceConfigs.
	Cache cache.Cache
	// Client watches the Secrets and ConfigMaps that they name.
	Client kubernetes.Interface
	// Dial makes engines.
	Dial engine.Dialer
	// Evaluate reads config.js files.
	Evaluate Evaluator
	// Default is the ConferenceConfig for hosts that none asks for; empty means the only one.
	Default types.NamespacedName
}

// Registry keeps the Tenants of all ConferenceConfigs current. It runs on every replica.
type Registry struct {
	options Options
	objects *objects
	queue   workqueue.TypedDelayingInterface[types.NamespacedName]
	ready   chan struct{}

	mu        sync.Mutex
	tenants   map[types.NamespacedName]*Tenant
	wanted    map[types.NamespacedName]map[object]bool
	engines   map[engine.Server]engine.Engine
	listeners []*func(types.NamespacedName)

	hosts atomic.Pointer[hosts]
}

// NewRegistry makes a Registry. It works once it runs.
func NewRegistry(o Options) *Registry {
	r := &Registry{
		options: o,
		queue:   workqueue.NewTypedDelayingQueue[types.NamespacedName](),
		ready:   make(chan struct{}),
		tenants: map[types.NamespacedName]*Tenant{},
		wanted:  map[types.NamespacedName]map[object]bool{},
		engines: map[engine.Server]engine.Engine{},
	}
	r.objects = newObjects(o.Client, r.objectChanged)
	r.hosts.Store(newHosts(nil, o.Default))
	return r
}

// NeedLeaderElection is false: every replica answers requests.
func (r *Registry) NeedLeaderElection() bool { return false }

// Start keeps the Tenants current until the context ends.
func (r *Registry) Start(ctx context.Context) error {
	informer, err := r.options.Cache.GetInformer(ctx, &v1alpha1.ConferenceConfig{})
	if err != nil {
		return err
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { r.configChanged(o) },
		UpdateFunc: func(was, now any) { r.configUpdated(was, now) },
		DeleteFunc: func(o any) { r.configChanged(o) },
	})
	if err != nil {
		return err
	}
	defer func() { _ = informer.RemoveEventHandler(registration) }()
	if !toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return nil
	}
	stop := context.AfterFunc(ctx, r.queue.ShutDown)
	defer stop()
	var first v1alpha1.ConferenceConfigList
	if err := r.options.Cache.List(ctx, &first); err != nil {
		return err
	}
	waiting := make(map[types.NamespacedName]bool, len(first.Items))
	for i := range first.Items {
		name := client.ObjectKeyFromObject(&first.Items[i])
		waiting[name] = true
		r.queue.Add(name)
	}
	for len(waiting) > 0 {
		name, ok := r.next(ctx)
		if !ok {
			return nil
		}
		delete(waiting, name)
	}
	close(r.ready)
	for {
		if _, ok := r.next(ctx); !ok {
			return nil
		}
	}
}

// Ready is closed once every ConferenceConfig has been looked at.
func (r *Registry) Ready() <-chan struct{} { return r.ready }

// Notify has f called after each change of a Tenant, with the name of its ConferenceConfig, until stop is called.
func (r *Registry) Notify(f func(types.NamespacedName)) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	listener := &f
	r.listeners = append(r.listeners, listener)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.listeners = slices.DeleteFunc(slices.Clone(r.listeners), func(l *func(types.NamespacedName)) bool { return l == listener })
	}
}

// ForHost finds the Tenant that answers a request's host.
func (r *Registry) ForHost(host string) (*Tenant, bool) {
	t := r.hosts.Load().find(host)
	return t, t != nil
}

// Get finds the Tenant of a ConferenceConfig.
func (r *Registry) Get(name types.NamespacedName) (*Tenant, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ok := r.tenants[name]
	return t, ok
}

// All lists every Tenant.
func (r *Registry) All() []*Tenant {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.tenants))
}

// Conflicts are the hosts that a ConferenceConfig asks for and an older one answers.
func (r *Registry) Conflicts(name types.NamespacedName) []string {
	return r.hosts.Load().conflicts[name]
}

// configUpdated leaves out what changes nothing that is resolved: status, and our own finalizers.
func (r *Registry) configUpdated(was, now any) {
	a, b := was.(*v1alpha1.ConferenceConfig), now.(*v1alpha1.ConferenceConfig)
	if a.Generation != b.Generation || a.UID != b.UID || !a.DeletionTimestamp.Equal(b.DeletionTimestamp) {
		r.configChanged(now)
	}
}

func (r *Registry) configChanged(o any) {
	if key, err := toolscache.DeletionHandlingObjectToName(o); err == nil {
		r.queue.Add(key.AsNamespacedName())
	}
}

func (r *Registry) objectChanged(changed object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, objects := range r.wanted {
		if objects[changed] {
			r.queue.Add(name)
		}
	}
}

// next works on one ConferenceConfig. The name is empty when it has to wait for what it names.
func (r *Registry) next(ctx context.Context) (done types.NamespacedName, ok bool) {
	name, shutdown := r.queue.Get()
	if shutdown {
		return done, false
	}
	defer r.queue.Done(name)
	if !r.refresh(ctx, name) {
		r.queue.AddAfter(name, syncPoll)
		return done, true
	}
	return name, true
}

// refresh resolves one ConferenceConfig anew and tells everybody. False means that an object which it names has not
// been looked at yet; the others do not wait for that.
func (r *Registry) refresh(ctx context.Context, name types.NamespacedName) bool {
	var config v1alpha1.ConferenceConfig
	var others []types.NamespacedName
	err := r.options.Cache.Get(ctx, name, &config)
	switch {
	case apierrors.IsNotFound(err):
		r.watch(ctx, name, nil)
		others = r.put(name, nil)
	case err != nil:
		return false
	default:
		names := wanted(&config)
		r.watch(ctx, name, names)
		if !r.objects.settled(names) {
			return false
		}
		previous, _ := r.Get(name)
		t, again := resolve(ctx, &config, r.objects.data, r.dial, r.options.Evaluate, previous)
		if again {
			r.queue.AddAfter(name, retryAfter)
			if previous != nil {
				return true // What was good is served until the file can be evaluated.
			}
		}
		others = r.put(name, t)
	}
	r.mu.Lock()
	listeners := r.listeners
	r.mu.Unlock()
	for _, tell := range listeners {
		(*tell)(name)
		for _, other := range others {
			(*tell)(other)
		}
	}
	return true
}

func (r *Registry) watch(ctx context.Context, name types.NamespacedName, names map[object]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if names == nil {
		delete(r.wanted, name)
	} else {
		r.wanted[name] = names
	}
	all := map[object]bool{}
	for _, of := range r.wanted {
		maps.Copy(all, of)
	}
	r.objects.keep(ctx, all)
}

// put serves a Tenant from now on, or no more. It names the others that got or lost a host by that.
func (r *Registry) put(name types.NamespacedName, t *Tenant) (others []types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t == nil {
		delete(r.tenants, name)
	} else {
		r.tenants[name] = t
	}
	before, now := r.hosts.Load(), newHosts(slices.Collect(maps.Values(r.tenants)), r.options.Default)
	r.hosts.Store(now)
	for other := range r.tenants {
		if other != name && !slices.Equal(before.conflicts[other], now.conflicts[other]) {
			others = append(others, other)
		}
	}
	return others
}

// dial shares one engine among the Tenants of one server.
func (r *Registry) dial(server engine.Server) (engine.Engine, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.engines[server]; e != nil {
		return e, nil
	}
	e, err := r.options.Dial(server)
	if err == nil {
		r.engines[server] = e
	}
	return e, err
}
