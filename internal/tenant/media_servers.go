// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/kube"
)

// MediaServers keeps all MediaServers current.
type MediaServers struct {
	*follower
	dial engine.Dialer
	// changed is called after each change of a MediaServer, and then the listeners.
	changed   func(context.Context)
	listeners listeners

	mu  sync.Mutex
	all map[types.NamespacedName]*MediaServer
	// unreachable says of each MediaServer whether its status says so.
	unreachable map[types.NamespacedName]*atomic.Bool
}

func newMediaServers(o Options, limits objectLimits, changed func(context.Context)) *MediaServers {
	s := &MediaServers{
		dial: o.Dial, changed: changed, all: map[types.NamespacedName]*MediaServer{},
		unreachable: map[types.NamespacedName]*atomic.Bool{},
	}
	s.follower = newFollower(o.Cache, o.Client, v1alpha1.UsedByMediaServer, limits, s.refreshOne)
	return s
}

func (s *MediaServers) run(ctx context.Context) error {
	return s.follower.run(ctx, &v1alpha1.MediaServer{}, &v1alpha1.MediaServerList{}, func(was, now any) bool {
		s.noteReach(now.(*v1alpha1.MediaServer))
		return matters(was, now)
	})
}

// Notify has f called after each change of a MediaServer, with its name, until stop is called.
func (s *MediaServers) Notify(f func(types.NamespacedName)) (stop func()) { return s.listeners.add(f) }

// All lists every MediaServer.
func (s *MediaServers) All() []*MediaServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.all))
}

// Get finds a MediaServer.
func (s *MediaServers) Get(name types.NamespacedName) (*MediaServer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.all[name]
	return found, ok
}

// noteReach keeps whether the controllers reach a MediaServer. It changes more often than a Tenant, and needs none to be resolved
// again.
func (s *MediaServers) noteReach(o *v1alpha1.MediaServer) {
	s.reachOf(types.NamespacedName{Namespace: o.Namespace, Name: o.Name}).Store(
		meta.IsStatusConditionFalse(o.Status.Conditions, v1alpha1.ConditionReachable) && o.Status.ObservedGeneration == o.Generation)
}

func (s *MediaServers) reachOf(name types.NamespacedName) *atomic.Bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unreachable[name] == nil {
		s.unreachable[name] = &atomic.Bool{}
	}
	return s.unreachable[name]
}

func (s *MediaServers) refreshOne(ctx context.Context, name types.NamespacedName) bool {
	var o v1alpha1.MediaServer
	err := s.cache.Get(ctx, name, &o)
	switch {
	case kube.AnswerOf(err) == kube.Gone:
		s.watch(ctx, name, nil)
		s.put(name, nil)
	case err != nil:
		return false
	default:
		names := map[object]bool{{"secrets", o.Namespace, o.Spec.SecretRef.Name}: true}
		s.watch(ctx, name, names)
		if !s.objects.settled(names) {
			return false
		}
		origin := fmt.Sprint(o.UID, o.Generation, o.DeletionTimestamp != nil, s.versions(names))
		if before, ok := s.Get(name); ok && before.origin == origin {
			return true
		}
		resolved := resolveMediaServer(&o, s.objects.data, s.dialShared)
		resolved.origin, resolved.unreachable = origin, s.reachOf(name)
		s.noteReach(&o)
		s.put(name, resolved)
	}
	s.changed(ctx)
	s.listeners.tell(name)
	return true
}

func (s *MediaServers) put(name types.NamespacedName, resolved *MediaServer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if resolved == nil {
		delete(s.all, name)
		delete(s.unreachable, name)
	} else {
		s.all[name] = resolved
	}
}

// dialShared makes an Engine, or shares that of another MediaServer with the same address and key.
func (s *MediaServers) dialShared(namespace string, at engine.Server) (engine.Engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, other := range s.all {
		if other.Engine != nil && other.Server == at {
			return other.Engine, nil
		}
	}
	return s.dial(namespace, at)
}
