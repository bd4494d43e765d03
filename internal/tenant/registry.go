// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
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
	Client rest.Interface
	// Dial makes engines.
	Dial engine.Dialer
	// Evaluate reads config.js files.
	Evaluate Evaluator
	// Default is the ConferenceConfig for hosts that none asks for; empty means the only one.
	Default types.NamespacedName
	// RefuseUnknownHosts keeps names of the outside that none asks for from that ConferenceConfig.
	RefuseUnknownHosts bool
	// Served is closed when this replica has answered its last request, some time after it was told to stop: until then a
	// key that is revoked must not work. Nil means that no request is served.
	Served <-chan struct{}
}

// Registry keeps the Tenants of all ConferenceConfigs current. It runs on every replica.
type Registry struct {
	options Options
	objects *objects
	queue   workqueue.TypedDelayingInterface[types.NamespacedName]
	ready   chan struct{}

	mu sync.Mutex
	// waiting are ConferenceConfigs that have to be looked at before this replica is ready.
	waiting   map[types.NamespacedName]bool
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
	r.hosts.Store(newHosts(nil, o.Default, o.RefuseUnknownHosts))
	return r
}

// NeedLeaderElection is false: every replica answers requests.
func (r *Registry) NeedLeaderElection() bool { return false }

// Start keeps the Tenants current until the context has ended and the last request has been answered.
func (r *Registry) Start(ctx context.Context) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	stopLater := context.AfterFunc(ctx, func() {
		if r.options.Served != nil {
			<-r.options.Served
		}
		stop()
	})
	defer stopLater()
	return r.run(serving)
}

func (r *Registry) run(ctx context.Context) error {
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
	r.await(first.Items)
	var works sync.WaitGroup
	defer works.Wait()
	for {
		name, shutdown := r.queue.Get()
		if shutdown {
			return nil
		}
		// Each for itself: one whose config.js takes long holds up no other. The queue gives out no name twice at once.
		works.Go(func() { r.work(ctx, name) })
	}
}

// await has this replica ready once these have been looked at.
func (r *Registry) await(first []v1alpha1.ConferenceConfig) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = make(map[types.NamespacedName]bool, len(first))
	for i := range first {
		name := client.ObjectKeyFromObject(&first[i])
		r.waiting[name] = true
		r.queue.Add(name)
	}
	if len(r.waiting) == 0 {
		close(r.ready)
	}
}

// lookedAt says that a ConferenceConfig has been looked at.
func (r *Registry) lookedAt(name types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.waiting[name] {
		return
	}
	if delete(r.waiting, name); len(r.waiting) == 0 {
		close(r.ready)
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

// work looks at one ConferenceConfig, and again soon where it has to wait for what it names.
func (r *Registry) work(ctx context.Context, name types.NamespacedName) {
	defer r.queue.Done(name)
	if !r.refresh(ctx, name) {
		r.queue.AddAfter(name, syncPoll)
		return
	}
	r.lookedAt(name)
}

// refresh resolves one ConferenceConfig again and tells all listeners. False means that an object which it names has not
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
		origin := r.origin(&config, names)
		if previous != nil && previous.origin == origin {
			return true // Told twice, or told of what had been read already.
		}
		t, again := resolve(ctx, &config, r.objects.data, r.dial, r.options.Evaluate, previous)
		if again {
			r.queue.AddAfter(name, retryAfter)
			if previous != nil {
				return true // What was good is served until the file can be evaluated.
			}
		} else {
			t.origin = origin
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

// origin names all that a Tenant is resolved from, in the versions that are known now. Read before the data: what comes in
// between is newer than it says, and told of.
func (r *Registry) origin(config *v1alpha1.ConferenceConfig, names map[object]bool) string {
	lines := []string{fmt.Sprint(config.UID, config.Generation, config.DeletionTimestamp != nil)}
	for key := range names {
		lines = append(lines, fmt.Sprint(key, r.objects.version(key)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
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
	before, now := r.hosts.Load(), newHosts(slices.Collect(maps.Values(r.tenants)), r.options.Default, r.options.RefuseUnknownHosts)
	r.hosts.Store(now)
	r.forgetEngines()
	for other := range r.tenants {
		if other != name && !slices.Equal(before.conflicts[other], now.conflicts[other]) {
			others = append(others, other)
		}
	}
	return others
}

// forgetEngines drops the engines that no Tenant uses. The caller holds the lock.
func (r *Registry) forgetEngines() {
	used := make(map[engine.Server]bool, len(r.engines))
	for _, t := range r.tenants {
		for _, m := range []*Media{t.Media, t.lastMedia} {
			if m != nil {
				used[m.Server] = true
			}
		}
	}
	maps.DeleteFunc(r.engines, func(server engine.Server, _ engine.Engine) bool { return !used[server] })
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
