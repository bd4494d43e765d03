// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

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
	// maxReads is how many are read at once, and maxReadsOfOne how many of one namespace: one of a megabyte takes five until it has been decoded.
	maxReads, maxReadsOfOne = 24, 6
	// entrySize is what a key and its value take in memory beside their bytes.
	entrySize = 100
	// watchFor is the least time that a watch lasts before the object is read again. Up to as much is added.
	watchFor = 5 * time.Minute
	// pauseAfter is the least time before the next try of what failed. Up to as much is added. leastPause is between two reads of one object.
	pauseAfter, leastPause = time.Second, 50 * time.Millisecond
)

// pausesRefused are the times before the next try where rights are missing.
var pausesRefused = wait.Backoff{Duration: pauseAfter, Factor: 2, Jitter: 1, Steps: 6, Cap: 30 * time.Second}

// onlyMetadata has a watch tell of metadata alone.
const onlyMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"

// objects watches single Secrets and ConfigMaps, those that custom resources of one kind name and no other: never all Secrets of
// a namespace, let alone of the cluster.
type objects struct {
	client rest.Interface
	// usedBy is the kind: the value of v1alpha1.LabelUsedBy with which a Secret may be named by it.
	usedBy  string
	changed func(object)
	// maxNames is for one namespace, maxAll for all.
	maxNames, maxAll int
	objectLimits

	mu      sync.Mutex
	ctx     context.Context // of the watches
	watches map[object]*watch
}

// objectLimits are for the objects that custom resources of all kinds name.
type objectLimits struct {
	// memory is for what they hold, in bytes, by namespace, and reading for those that are being read.
	memory  *limit.Budget
	reading *limit.Shares[string]
}

func newObjectLimits() objectLimits {
	return objectLimits{limit.NewMemoryBudget(allMemory, oneMemory), limit.NewShares[string](maxReads, maxReadsOfOne)}
}

// watch keeps one Secret or ConfigMap as it is now. The lock of objects guards it.
type watch struct {
	of  *objects
	key object
	content
	synced bool
	// refused says that it may not be read, which is known at once.
	refused atomic.Bool
	// since is when it was asked for first. It is zero while others are read before.
	since time.Time
	// stop is nil where nothing is watched, because the namespace names too many.
	stop context.CancelFunc
}

// content is what a Secret or ConfigMap holds, or why that cannot be used.
type content struct {
	// version tells two states apart. It is empty where there is no object.
	version  string
	data     map[string][]byte
	unusable *unusable
	// noMemory is how many bytes it would take, for which the namespace has no memory. Otherwise it is zero.
	noMemory int
}

func newObjects(client rest.Interface, usedBy string, limits objectLimits, changed func(object)) *objects {
	return &objects{
		client: client, usedBy: usedBy, changed: changed, objectLimits: limits,
		maxNames: maxNames, maxAll: limit.FitsMemory(watchMemory, watchSize, maxAllNames),
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
	w.content, w.since = content{unusable: missing(w.key)}, time.Time{}
	go w.follow(ctx)
}

// follow reads the object now and after each change, until the context ends. An informer would read the object from the watch, which keeps
// room for the largest that it has ever told of: four megabytes, before anybody can say whether there is memory for that.
func (w *watch) follow(ctx context.Context) {
	for refused := pausesRefused; ctx.Err() == nil; {
		began := time.Now()
		version, err := w.read(ctx)
		w.refused.Store(kube.AnswerOf(err) == kube.Refused)
		changed := false
		if err == nil {
			changed, err = w.awaitChange(ctx, version)
		}
		pause := pauseAfter + rand.N(pauseAfter) //nolint:gosec // It spreads load, and keeps no secret.
		if kube.AnswerOf(err) == kube.Refused {
			pause = refused.Step()
		} else {
			refused = pausesRefused
		}
		if changed {
			pause = leastPause - time.Since(began)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// request is for the list of the object alone, which has a version even where there is no object.
func (w *watch) request(options *metav1.ListOptions) *rest.Request {
	options.FieldSelector = fields.OneTermEqualSelector("metadata.name", w.key.name).String()
	return w.of.client.Get().Namespace(w.key.namespace).Resource(w.key.resource).VersionedParams(options, metav1.ParameterCodec)
}

// read takes in what there is now, and returns the version of that.
func (w *watch) read(ctx context.Context) (version string, err error) {
	found, err := w.list(ctx)
	if err != nil {
		return "", err
	}
	now := content{unusable: missing(w.key)}
	switch all := found.(type) {
	case *corev1.SecretList:
		version = all.ResourceVersion
		if len(all.Items) > 0 {
			now = w.of.secret(&all.Items[0])
		}
	case *corev1.ConfigMapList:
		version = all.ResourceVersion
		if len(all.Items) > 0 {
			now = configMap(&all.Items[0])
		}
	}
	if w.of.take(w, now) {
		w.of.changed(w.key)
	}
	return version, nil
}

func (w *watch) list(ctx context.Context) (runtime.Object, error) {
	giveBack, err := w.of.reading.Take(ctx, w.key.namespace)
	if err != nil {
		return nil, err
	}
	defer giveBack()
	w.of.begin(w)
	return w.request(&metav1.ListOptions{}).Do(ctx).Get()
}

// begin takes in that an object is asked for.
func (o *objects) begin(w *watch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w.since.IsZero() {
		w.since = time.Now()
	}
}

// awaitChange reports whether the object has changed after that version. It is false where the watch has ended, as every watch does.
func (w *watch) awaitChange(ctx context.Context, version string) (changed bool, err error) {
	within := int64((watchFor + rand.N(watchFor)).Seconds()) //nolint:gosec // It spreads load, and keeps no secret.
	events, err := w.request(&metav1.ListOptions{Watch: true, ResourceVersion: version, TimeoutSeconds: &within}).SetHeader("Accept", onlyMetadata).Stream(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = events.Close() }()
	n, _ := events.Read(make([]byte, 1)) // Whatever comes, a change or that the version is too old: the object is read again.
	return n > 0, nil
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
		now.noMemory, now.data, now.unusable = now.size(), nil, &unusable{v1alpha1.ReasonNamespaceFull, fmt.Sprintf(
			"%q is not read: the Secrets and ConfigMaps that %ss of namespace %q name hold more than there is memory for; make them smaller, "+
				"move some to another namespace, or "+kube.RaiseMemory, w.key.name, o.usedBy, namespace)}
	}
	w.content = now
	if now.size() >= before {
		return
	}
	left := o.memory.Left(namespace)
	for key, other := range o.watches {
		if other.noMemory > 0 && other.noMemory <= left && other != w && key.namespace == namespace { // It is read again, by a watch of its own: the other may be late.
			left -= other.noMemory
			other.stop()
			o.watches[key] = &watch{of: o, key: key}
			o.start(o.watches[key])
		}
	}
}

func (c content) size() (bytes int) {
	for key, value := range c.data {
		bytes += entrySize + len(key) + len(value)
	}
	return bytes
}

func (o *objects) secret(s *corev1.Secret) content {
	if err := kube.MayBeUsed(s, o.usedBy); err != nil {
		return content{version: versionOf(s), unusable: &unusable{v1alpha1.ReasonSecretNotLabeled, err.Error()}}
	}
	return content{version: versionOf(s), data: s.Data}
}

func configMap(m *corev1.ConfigMap) content {
	data := make(map[string][]byte, len(m.Data)+len(m.BinaryData))
	for k, v := range m.Data {
		data[k] = []byte(v)
	}
	maps.Copy(data, m.BinaryData)
	return content{version: versionOf(m), data: data}
}

func versionOf(o metav1.Object) string { return string(o.GetUID()) + "@" + o.GetResourceVersion() }

// settled reports whether every one of the wanted objects has been looked at, or has had its time.
func (o *objects) settled(wanted map[object]bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key := range wanted {
		w := o.watches[key]
		if w == nil || (w.stop != nil && !w.synced && !w.refused.Load() && (w.since.IsZero() || time.Since(w.since) < syncLimit)) {
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
			"move some to another namespace, or "+kube.RaiseMemory, key.name, o.usedBy, key.namespace, o.maxNames, o.maxAll)}
}

func missing(key object) *unusable {
	kind := "Secret"
	if key.resource == "configmaps" {
		kind = "ConfigMap"
	}
	return &unusable{v1alpha1.ReasonSecretNotFound, fmt.Sprintf(
		"%s %q does not exist in namespace %q, or Convene may not read it; create it, or let Convene read it (rbac.secretNamespaces of the chart)",
		kind, key.name, key.namespace)}
}
