// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/limit"
)

// object names a Secret or a ConfigMap.
type object struct {
	resource        string // "secrets" or "configmaps"
	namespace, name string
}

const (
	// maxNames is how many Secrets and ConfigMaps are watched for the custom resources of one kind and namespace: four for each of 100
	// ConferenceConfigs. A watch takes watchSize bytes here and more in kube-apiserver, and all together may take watchMemory of the memory.
	maxNames, maxAllNames  = 400, 50_000
	watchMemory, watchSize = 1. / 3, 90 << 10
	// oneMemory is the part of the memory that may be taken by what those hold that one namespace names, allMemory by what all hold. The users
	// of 100 ConferenceConfigs, each with 500, take 4 MB.
	oneMemory, allMemory = 1. / 64, 1. / 8
)

// objects watches single Secrets and ConfigMaps, those that custom resources of one kind name and no other: never all Secrets of
// a namespace, let alone of the cluster.
type objects struct {
	client rest.Interface
	// usedBy is the kind: the value of v1alpha1.LabelUsedBy with which a Secret may be named by it.
	usedBy  string
	changed func(object)
	// maxNames is for one namespace, maxAll for all.
	maxNames, maxAll int
	// memory is for what they hold, in bytes, by namespace.
	memory *limit.Budget

	mu      sync.Mutex
	ctx     context.Context // of the watches
	watches map[object]*watch
}

// watch keeps one Secret or ConfigMap as it is now. The lock of objects guards it.
type watch struct {
	of  *objects
	key object
	content
	synced bool
	// refused says that it may not be read, which is known at once.
	refused atomic.Bool
	since   time.Time
	// stop is nil where nothing is watched, because the namespace names too many.
	stop context.CancelFunc
}

// content is what a Secret or ConfigMap holds, or why that cannot be used.
type content struct {
	// version tells two states apart. It is empty where there is no object.
	version  string
	data     map[string][]byte
	unusable *unusable
	// noMemory says that the namespace has no memory for it.
	noMemory bool
}

func newObjects(client rest.Interface, usedBy string, changed func(object)) *objects {
	return &objects{
		client: client, usedBy: usedBy, changed: changed,
		maxNames: maxNames, maxAll: limit.FitsMemory(watchMemory, watchSize, maxAllNames),
		memory:  limit.NewMemoryBudget(allMemory, oneMemory),
		watches: make(map[object]*watch),
	}
}

// keep watches what is wanted and nothing else.
func (o *objects) keep(ctx context.Context, wanted map[object]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ctx = ctx
	names, all := map[string]int{}, 0
	for key, w := range o.watches {
		switch {
		case !wanted[key]:
			if w.stop != nil {
				w.stop()
			}
			delete(o.watches, key)
			o.hold(w, content{})
		case w.stop != nil:
			names[key.namespace]++
			all++
		}
	}
	for key := range wanted {
		w := o.watches[key]
		if w == nil {
			w = &watch{of: o, key: key, content: content{version: "not watched", unusable: o.tooMany(key)}}
			o.watches[key] = w
		}
		if w.stop == nil && names[key.namespace] < o.maxNames && all < o.maxAll {
			names[key.namespace]++
			all++
			o.start(w)
		}
	}
}

// start has an object watched. The caller holds the lock.
func (o *objects) start(w *watch) {
	ctx, stop := context.WithCancel(o.ctx)
	w.stop = stop
	w.content, w.since = content{unusable: missing(w.key)}, time.Now()
	var kind runtime.Object = &corev1.Secret{}
	if w.key.resource == "configmaps" {
		kind = &corev1.ConfigMap{}
	}
	lister := toolscache.NewListWatchFromClient(o.client, w.key.resource, w.key.namespace,
		fields.OneTermEqualSelector("metadata.name", w.key.name))
	list := lister.ListWithContextFunc
	lister.ListWithContextFunc = func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		found, err := list(ctx, options)
		w.refused.Store(kube.AnswerOf(err) == kube.Refused)
		return found, err
	}
	go toolscache.NewReflectorWithOptions(kube.RetryingListWatch(lister), kind, w, toolscache.ReflectorOptions{}).RunWithContext(ctx)
}

// Add is for the reflector, and so are the others.
func (w *watch) Add(found any) error { return w.set(found) }

func (w *watch) Update(found any) error { return w.set(found) }

func (w *watch) Delete(any) error { return w.set(nil) }

func (*watch) Resync() error { return nil }

func (w *watch) Replace(found []any, _ string) error {
	if len(found) == 0 {
		return w.set(nil)
	}
	return w.set(found[0])
}

// set takes in what there is now.
func (w *watch) set(found any) error {
	if w.of.take(w, w.of.read(w.key, found)) {
		w.of.changed(w.key)
	}
	return nil
}

// take reports whether the content is another one than before.
func (o *objects) take(w *watch, now content) (changed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.watches[w.key] != w {
		return false // Nobody names it any more.
	}
	before := w.version
	o.hold(w, now)
	w.synced = true
	return w.version != before
}

// hold keeps a content in the place of another, if there is memory for it. The caller holds the lock.
func (o *objects) hold(w *watch, now content) {
	namespace, before := w.key.namespace, w.size()
	if !o.memory.Change(namespace, now.size()-w.size()) {
		o.memory.Change(namespace, -w.size())
		now.noMemory, now.data, now.unusable = true, nil, &unusable{v1alpha1.ReasonNamespaceFull, fmt.Sprintf(
			"%q is not read: the Secrets and ConfigMaps that %ss of namespace %q name hold more than there is memory for; make them smaller, "+
				"move some to another namespace, or give the managers more memory", w.key.name, o.usedBy, namespace)}
	}
	w.content = now
	if now.size() >= before {
		return
	}
	for key, other := range o.watches {
		if other.noMemory && other != w && key.namespace == namespace { // It is read again, by a watch of its own: the other may be late.
			other.stop()
			o.watches[key] = &watch{of: o, key: key}
			o.start(o.watches[key])
		}
	}
}

func (c content) size() (bytes int) {
	for key, value := range c.data {
		bytes += len(key) + len(value)
	}
	return bytes
}

// read is the content of what was found, and of nothing.
func (o *objects) read(key object, found any) content {
	switch x := found.(type) {
	case *corev1.Secret:
		if err := kube.MayBeUsed(x, o.usedBy); err != nil {
			return content{version: versionOf(x), unusable: &unusable{v1alpha1.ReasonSecretNotLabeled, err.Error()}}
		}
		return content{version: versionOf(x), data: x.Data}
	case *corev1.ConfigMap:
		data := make(map[string][]byte, len(x.Data)+len(x.BinaryData))
		for k, v := range x.Data {
			data[k] = []byte(v)
		}
		for k, v := range x.BinaryData {
			data[k] = v
		}
		return content{version: versionOf(x), data: data}
	}
	return content{unusable: missing(key)}
}

func versionOf(o metav1.Object) string { return string(o.GetUID()) + "@" + o.GetResourceVersion() }

// settled reports whether every one of the wanted objects has been looked at, or has had its time.
func (o *objects) settled(wanted map[object]bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key := range wanted {
		w := o.watches[key]
		if w == nil || (w.stop != nil && !w.synced && !w.refused.Load() && time.Since(w.since) < syncLimit) {
			return false
		}
	}
	return true
}

// find is what is known of an object.
func (o *objects) find(key object) content {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w := o.watches[key]; w != nil {
		return w.content
	}
	return content{unusable: missing(key)}
}

// version tells two states of a Secret or ConfigMap apart; empty when there is none.
func (o *objects) version(key object) string { return o.find(key).version }

// data is what a Secret or ConfigMap holds, or why that cannot be used.
func (o *objects) data(key object) (map[string][]byte, *unusable) {
	found := o.find(key)
	if found.unusable != nil {
		return nil, new(*found.unusable)
	}
	return found.data, nil
}

// unusable says why a Secret or ConfigMap cannot be used.
type unusable struct{ reason, message string }

func (u *unusable) Error() string { return u.message }

func (o *objects) tooMany(key object) *unusable {
	return &unusable{v1alpha1.ReasonNamespaceFull, fmt.Sprintf(
		"%q is not read: the %[2]ss of namespace %q name more than %d Secrets and ConfigMaps, or those of all namespaces more than %d; let them share some, "+
			"move some to another namespace, or give the managers more memory", key.name, o.usedBy, key.namespace, o.maxNames, o.maxAll)}
}

func missing(key object) *unusable {
	kind, kinds := "Secret", "Secrets"
	if key.resource == "configmaps" {
		kind, kinds = "ConfigMap", "ConfigMaps"
	}
	return &unusable{v1alpha1.ReasonSecretNotFound, fmt.Sprintf(
		"%s %q is not there, or may not be read; create it in namespace %q, and see that Convene may read %s there", kind, key.name, key.namespace, kinds)}
}
