// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// follower follows the custom resources of one kind, and the Secrets and ConfigMaps that they name.
type follower struct {
	cache   cache.Cache
	objects *objects
	queue   workqueue.TypedDelayingInterface[types.NamespacedName]
	// refresh resolves one custom resource again, or finds that it has gone. False means that an object which it names has not
	// been looked at yet: it is called again soon, and the others do not wait for that.
	refresh func(context.Context, types.NamespacedName) bool
	// ready is closed once all that there were at the start have been resolved.
	ready chan struct{}

	mu      sync.Mutex
	waiting map[types.NamespacedName]bool
	wanted  map[types.NamespacedName]map[object]bool
}

func newFollower(c cache.Cache, objects rest.Interface, usedBy string, limits objectLimits, refresh func(context.Context, types.NamespacedName) bool) *follower {
	f := &follower{
		cache: c, refresh: refresh, ready: make(chan struct{}), wanted: map[types.NamespacedName]map[object]bool{},
		queue: workqueue.NewTypedDelayingQueue[types.NamespacedName](),
	}
	f.objects = newObjects(objects, usedBy, limits, f.objectChanged)
	return f
}

// run follows until the context ends. Matters says whether an update changes what a custom resource is resolved to.
func (f *follower) run(ctx context.Context, example client.Object, list client.ObjectList, matters func(was, now any) bool) error {
	informer, err := f.cache.GetInformer(ctx, example)
	if err != nil {
		return err
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: f.changed,
		UpdateFunc: func(was, now any) {
			if matters(was, now) {
				f.changed(now)
			}
		},
		DeleteFunc: f.changed,
	})
	if err != nil {
		return err
	}
	defer func() { _ = informer.RemoveEventHandler(registration) }()
	if !toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced) {
		return nil
	}
	stop := context.AfterFunc(ctx, f.queue.ShutDown)
	defer stop()
	if err := f.cache.List(ctx, list); err != nil {
		return err
	}
	if err := f.await(list); err != nil {
		return err
	}
	var works sync.WaitGroup
	defer works.Wait()
	for {
		name, shutdown := f.queue.Get()
		if shutdown {
			return nil
		}
		// Each for itself: one whose config.js takes long holds up no other. The queue gives out no name twice at once.
		works.Go(func() { f.work(ctx, name) })
	}
}

// matters leaves out updates that change nothing that is resolved: status, and our own finalizers.
func matters(was, now any) bool {
	a, b := was.(client.Object), now.(client.Object)
	return a.GetGeneration() != b.GetGeneration() || a.GetUID() != b.GetUID() || !a.GetDeletionTimestamp().Equal(b.GetDeletionTimestamp())
}

// await has the follower ready once these have been resolved.
func (f *follower) await(first client.ObjectList) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = map[types.NamespacedName]bool{}
	err := meta.EachListItem(first, func(o runtime.Object) error {
		name := client.ObjectKeyFromObject(o.(client.Object))
		f.waiting[name] = true
		f.queue.Add(name)
		return nil
	})
	if len(f.waiting) == 0 {
		close(f.ready)
	}
	return err
}

func (f *follower) changed(o any) {
	if key, err := toolscache.DeletionHandlingObjectToName(o); err == nil {
		f.queue.Add(key.AsNamespacedName())
	}
}

func (f *follower) objectChanged(changed object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, objects := range f.wanted {
		if objects[changed] {
			f.queue.Add(name)
		}
	}
}

// work resolves one custom resource, and again soon where it has to wait for what it names.
func (f *follower) work(ctx context.Context, name types.NamespacedName) {
	defer f.queue.Done(name)
	if !f.refresh(ctx, name) {
		f.queue.AddAfter(name, syncPoll)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waiting[name] {
		if delete(f.waiting, name); len(f.waiting) == 0 {
			close(f.ready)
		}
	}
}

// watch keeps watching the objects that a custom resource names; nil stops it.
func (f *follower) watch(ctx context.Context, name types.NamespacedName, names map[object]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if names == nil {
		delete(f.wanted, name)
	} else {
		f.wanted[name] = names
	}
	all := map[object]bool{}
	for _, of := range f.wanted {
		maps.Copy(all, of)
	}
	f.objects.keep(ctx, all)
}

// versions names the states in which objects are known now. Read it before the data: what comes in between is newer than it
// says, and told of.
func (f *follower) versions(names map[object]bool) (lines []string) {
	for key := range names {
		lines = append(lines, key.resource+"/"+key.namespace+"/"+key.name+" "+f.objects.version(key))
	}
	return lines
}
