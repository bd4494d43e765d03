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

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/kube"
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
	// Namespace is the one that is served; empty is all.
	Namespace string
	// Dial makes engines.
	Dial engine.Dialer
	// Evaluate reads config.js files.
	Evaluate Evaluator
	// UnknownHosts is what is done with hosts that no ConferenceConfig asks for.
	UnknownHosts UnknownHosts
	// PlacesOf are the media servers that meetings of a ConferenceConfig are on or have left, by their statuses. Nil is none.
	PlacesOf func(ctx context.Context, config types.NamespacedName) ([]types.NamespacedName, error)
	// Served is closed when this replica has answered its last request, some time after it was told to stop: until then a
	// key that is revoked must not work. Nil means that no request is served.
	Served <-chan struct{}
}

// Registry keeps the Tenants of all ConferenceConfigs current. It runs on every replica.
type Registry struct {
	*follower
	// MediaServers are those that Tenants may use.
	MediaServers *MediaServers
	options      Options

	listeners listeners

	mu      sync.Mutex
	tenants map[types.NamespacedName]*Tenant
	changes int // of tenants

	// sharing is held while hosts are shared out. Changes that wait for it are taken in together.
	sharing sync.Mutex
	shared  int // The last change that hosts have taken in.
	hosts   atomic.Pointer[hosts]
}

// NewRegistry makes a Registry. It works once it runs.
func NewRegistry(o Options) *Registry {
	r := &Registry{options: o, tenants: map[types.NamespacedName]*Tenant{}}
	limits := newObjectLimits()
	r.follower = newFollower(o.Cache, o.Client, v1alpha1.UsedByConferenceConfig, limits, r.refreshOne)
	r.MediaServers = newMediaServers(o, limits, r.mediaChanged)
	r.hosts.Store(newHosts(nil, o.UnknownHosts))
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

// run follows the MediaServers first: Tenants are resolved with what is known of them.
func (r *Registry) run(ctx context.Context) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return r.MediaServers.run(ctx) })
	all.Go(func() error {
		select {
		case <-ctx.Done():
			return nil
		case <-r.MediaServers.ready:
		}
		if err := r.watchNamespaces(ctx); err != nil {
			return err
		}
		return r.follower.run(ctx, &v1alpha1.ConferenceConfig{}, &v1alpha1.ConferenceConfigList{}, matters)
	})
	return all.Wait()
}

// Ready is closed once every ConferenceConfig has been looked at.
func (r *Registry) Ready() <-chan struct{} { return r.ready }

// Notify has f called after each change of a Tenant, with the name of its ConferenceConfig, until stop is called.
func (r *Registry) Notify(f func(types.NamespacedName)) (stop func()) { return r.listeners.add(f) }

// ForHost returns the Tenant that answers a request's host, or nil. The host is denied where another ConferenceConfig asks for it and does
// not have it: then the default Tenant is returned.
func (r *Registry) ForHost(host string) (t *Tenant, denied bool) { return r.hosts.Load().find(host) }

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

// HostProblems are why a ConferenceConfig does not answer all hosts that it asks for.
func (r *Registry) HostProblems(name types.NamespacedName) []Problem {
	return r.hosts.Load().problems(name)
}

// refreshOne resolves one ConferenceConfig again and tells all listeners.
func (r *Registry) refreshOne(ctx context.Context, name types.NamespacedName) bool {
	var config v1alpha1.ConferenceConfig
	var others []types.NamespacedName
	err := r.cache.Get(ctx, name, &config)
	switch {
	case kube.AnswerOf(err) == kube.Gone:
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
		namespace := r.namespace(ctx, name.Namespace)
		media, err := r.mediaFor(ctx, &config, namespace.GetLabels())
		if err != nil {
			return false
		}
		origin := r.origin(&config, names, media, allowedHosts(namespace))
		if previous != nil && previous.origin == origin {
			return true // Told twice, or told of what had been read already.
		}
		from := sources{find: r.objects.data, evaluate: r.options.Evaluate, media: media}
		t, again := resolve(ctx, &config, from, previous)
		if again > 0 {
			r.queue.AddAfter(name, again)
		} else {
			t.origin = origin
		}
		t.allowedHosts = allowedHosts(namespace)
		others = r.put(name, t)
	}
	r.listeners.tell(append(others, name)...)
	return true
}

// origin names all that a Tenant is resolved from, in the versions that are known now.
func (r *Registry) origin(config *v1alpha1.ConferenceConfig, names map[object]bool, media []namedMedia, allowedHosts []string) string {
	lines := append(r.versions(names), fmt.Sprint(config.UID, config.Generation, config.DeletionTimestamp != nil), fmt.Sprint(allowedHosts))
	for _, m := range media {
		line := fmt.Sprint(m.name, m.named, m.placed, m.allowed, m.foreign)
		if m.server != nil {
			line += m.server.origin
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// put serves a Tenant from now on, or no more. It names the others that got or lost a host by that.
func (r *Registry) put(name types.NamespacedName, t *Tenant) (others []types.NamespacedName) {
	r.mu.Lock()
	if t == nil {
		delete(r.tenants, name)
	} else {
		r.tenants[name] = t
	}
	r.changes++
	change := r.changes
	r.mu.Unlock()

	r.sharing.Lock()
	defer r.sharing.Unlock()
	if r.shared >= change {
		return nil // Who shared the hosts out after this change has named the others.
	}
	r.mu.Lock()
	tenants := slices.Collect(maps.Values(r.tenants))
	r.shared = r.changes
	r.mu.Unlock()
	before, now := r.hosts.Load(), newHosts(tenants, r.options.UnknownHosts)
	r.hosts.Store(now)
	for _, other := range tenants {
		if other.NamespacedName != name && !before.sameProblems(now, other.NamespacedName) {
			others = append(others, other.NamespacedName)
		}
	}
	return others
}
