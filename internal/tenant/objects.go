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
)

// object names a Secret or a ConfigMap.
type object struct {
	resource        string // "secrets" or "configmaps"
	namespace, name string
}

// objects watches single Secrets and ConfigMaps, those that custom resources of one kind name and no other: never all Secrets of
// a namespace, let alone of the cluster.
type objects struct {
	client rest.Interface
	// usedBy is the value of v1alpha1.LabelUsedBy with which a Secret may be named by that kind.
	usedBy  string
	changed func(object)

	mu      sync.Mutex
	watches map[object]*watch
}

type watch struct {
	store  toolscache.Store
	synced func() bool
	// refused says that it may not be read, which is known at once.
	refused *atomic.Bool
	since   time.Time
	stop    context.CancelFunc
}

func newObjects(client rest.Interface, usedBy string, changed func(object)) *objects {
	return &objects{client: client, usedBy: usedBy, changed: changed, watches: make(map[object]*watch)}
}

// keep watches what is wanted and nothing else.
func (o *objects) keep(ctx context.Context, wanted map[object]bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, w := range o.watches {
		if !wanted[key] {
			w.stop()
			delete(o.watches, key)
		}
	}
	for key := range wanted {
		if o.watches[key] == nil {
			o.watches[key] = o.watch(ctx, key)
		}
	}
}

func (o *objects) watch(ctx context.Context, key object) *watch {
	ctx, stop := context.WithCancel(ctx)
	var kind runtime.Object = &corev1.Secret{}
	if key.resource == "configmaps" {
		kind = &corev1.ConfigMap{}
	}
	tell := func(any) { o.changed(key) }
	lister := toolscache.NewListWatchFromClient(o.client, key.resource, key.namespace,
		fields.OneTermEqualSelector("metadata.name", key.name))
	list, refused := lister.ListWithContextFunc, &atomic.Bool{}
	lister.ListWithContextFunc = func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		found, err := list(ctx, options)
		refused.Store(kube.AnswerOf(err) == kube.Refused)
		return found, err
	}
	store, controller := toolscache.NewInformerWithOptions(toolscache.InformerOptions{
		ListerWatcher: kube.RetryingListWatch(lister),
		ObjectType:    kind,
		Handler: toolscache.ResourceEventHandlerFuncs{
			AddFunc: tell, UpdateFunc: func(_, now any) { tell(now) }, DeleteFunc: tell,
		},
	})
	go controller.RunWithContext(ctx)
	return &watch{store: store, synced: controller.HasSynced, refused: refused, since: time.Now(), stop: stop}
}

// settled reports whether every one of the wanted objects has been looked at, or has had its time.
func (o *objects) settled(wanted map[object]bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for key := range wanted {
		w := o.watches[key]
		if w == nil || (!w.synced() && !w.refused.Load() && time.Since(w.since) < syncLimit) {
			return false
		}
	}
	return true
}

// find is a Secret or ConfigMap; nil when there is none, or none that may be read.
func (o *objects) find(key object) any {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.watches[key]
	if w == nil {
		return nil
	}
	found, exists, err := w.store.GetByKey(key.namespace + "/" + key.name)
	if err != nil || !exists {
		return nil
	}
	return found
}

// version tells two states of a Secret or ConfigMap apart; empty when there is none.
func (o *objects) version(key object) string {
	if found, ok := o.find(key).(metav1.Object); ok {
		return string(found.GetUID()) + "@" + found.GetResourceVersion()
	}
	return ""
}

// unusable says why a Secret or ConfigMap cannot be used.
type unusable struct{ reason, message string }

func (u *unusable) Error() string { return u.message }

// data is what a Secret or ConfigMap holds, or why that cannot be used.
func (o *objects) data(key object) (map[string][]byte, *unusable) {
	switch x := o.find(key).(type) {
	case *corev1.Secret:
		if err := kube.MayBeUsed(x, o.usedBy); err != nil {
			return nil, &unusable{v1alpha1.ReasonSecretNotLabeled, err.Error()}
		}
		return x.Data, nil
	case *corev1.ConfigMap:
		data := make(map[string][]byte, len(x.Data)+len(x.BinaryData))
		for k, v := range x.Data {
			data[k] = []byte(v)
		}
		for k, v := range x.BinaryData {
			data[k] = v
		}
		return data, nil
	}
	return nil, missing(key)
}

func missing(key object) *unusable {
	kind, kinds := "Secret", "Secrets"
	if key.resource == "configmaps" {
		kind, kinds = "ConfigMap", "ConfigMaps"
	}
	return &unusable{v1alpha1.ReasonSecretNotFound, fmt.Sprintf(
		"%s %q is not there, or may not be read; create it in namespace %q, and see that Convene may read %s there", kind, key.name, key.namespace, kinds)}
}
