// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"convene.dev/convene/api/v1alpha1"
)

// Objects reads from the cluster's API. An object of Convene's kinds that its Go type cannot hold, because it was stored under other
// definitions than this manager's, is left out alone: the lists and informers of client-go would fail as a whole. The log names each such
// object, and the metric convene_unreadable_objects counts them.
type Objects struct {
	// Client has no cache.
	client.Client
	rest      rest.Interface
	namespace string
	log       logr.Logger

	mu         sync.Mutex
	unreadable map[string]map[types.NamespacedName]bool // by kind
	failures   map[string]failure                       // by kind
}

// failure is why the objects of a kind cannot be listed or watched, and since when.
type failure struct {
	cause error
	since time.Time
}

// NewObjects reads the objects of a namespace, or of all where it is empty.
func NewObjects(config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme, namespace string, log logr.Logger) (*Objects, error) {
	direct, err := client.New(config, client.Options{HTTPClient: httpClient, Scheme: scheme})
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &v1alpha1.GroupVersion
	config.NegotiatedSerializer = tolerant{serializer.WithoutConversionCodecFactory{CodecFactory: serializer.NewCodecFactory(scheme)}}
	own, err := rest.RESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, err
	}
	return &Objects{
		Client: direct, rest: own, namespace: namespace, log: log,
		unreadable: map[string]map[types.NamespacedName]bool{}, failures: map[string]failure{},
	}, nil
}

// Get reads one object past the caches. The error is Refused where the Go type cannot hold the object.
func (o *Objects) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	resource, ok := o.resource(into)
	if !ok {
		return o.Client.Get(ctx, key, into, opts...)
	}
	options := (&client.GetOptions{}).ApplyOptions(opts).AsGetOptions()
	return o.rest.Get().Namespace(key.Namespace).Resource(resource).Name(key.Name).VersionedParams(options, metav1.ParameterCodec).Do(ctx).Into(into)
}

// List reads many objects past the caches.
func (o *Objects) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	resource, ok := o.resource(into)
	if !ok {
		return o.Client.List(ctx, into, opts...)
	}
	options := (&client.ListOptions{}).ApplyOptions(opts)
	return o.rest.Get().Namespace(options.Namespace).Resource(resource).VersionedParams(options.AsListOptions(), metav1.ParameterCodec).Do(ctx).Into(into)
}

// resource is the name in the API's paths of one of Convene's Go types, or of a list of them. It is false for all other types.
func (o *Objects) resource(of runtime.Object) (string, bool) {
	kinds, _, err := o.Scheme().ObjectKinds(of)
	if err != nil || kinds[0].GroupVersion() != v1alpha1.GroupVersion {
		return "", false
	}
	return strings.ToLower(strings.TrimSuffix(kinds[0].Kind, "List")) + "s", true
}

// NewInformer is for cache.Options. Its informers see the cluster's API again soon after it is back: by themselves they would wait up to a
// minute, in which what is served is old and no end is carried out. Of an object that cannot be read any more they keep the last state that
// could be.
func (o *Objects) NewInformer(from toolscache.ListerWatcher, of runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	kind := ""
	if gvk, err := apiutil.GVKForObject(of, o.Scheme()); err == nil {
		kind = gvk.Kind
	}
	var informer toolscache.SharedIndexInformer
	lists := toolscache.ToListerWatcherWithContext(from)
	if resource, ok := o.resource(of); ok {
		lists = &readable{
			ListerWatcherWithContext: toolscache.NewListWatchFromClient(o.rest, resource, o.namespace, fields.Everything()), objects: o, kind: kind,
			last: func(name types.NamespacedName) any {
				known, _, _ := informer.GetIndexer().GetByKey(name.String()) // The store returns no errors.
				return known
			},
		}
	}
	informer = toolscache.NewSharedIndexInformer(RetryingListWatch(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			found, err := lists.ListWithContext(ctx, options)
			o.note(kind, err)
			return found, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			watched, err := lists.WatchWithContext(ctx, options)
			o.note(kind, err)
			return watched, err
		},
	}), of, resync, indexers)
	return informer
}

// note keeps why a kind cannot be listed or watched. That a version has expired is the usual end of a watch.
func (o *Objects) note(kind string, err error) {
	if errors.Is(err, context.Canceled) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	failing, failed := o.failures[kind]
	switch {
	case err == nil:
		delete(o.failures, kind)
	case !failed:
		o.failures[kind] = failure{err, time.Now()}
		o.log.Error(err, "The cluster's API does not list or watch a kind: what is served of it is old, and a manager that has just started waits for it", "kind", kind)
	default:
		o.failures[kind] = failure{err, failing.since}
	}
}

// Err says which kinds cannot be listed or watched now, and why. Nil means none.
func (o *Objects) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []error
	for kind, f := range o.failures {
		all = append(all, fmt.Errorf("%s: %w", kind, f.cause))
	}
	return errors.Join(all...)
}

// readAgain takes in that an object can be read, or has gone.
func (o *Objects) readAgain(kind string, name types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.unreadable[kind], name)
}

// listAgain takes in that all objects of a kind are about to be read.
func (o *Objects) listAgain(kind string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unreadable[kind] = map[types.NamespacedName]bool{}
}

// leaveOut takes in that an object cannot be read, and names it in the log once.
func (o *Objects) leaveOut(kind string, u *unreadable) {
	name := types.NamespacedName{Namespace: u.Namespace, Name: u.Name}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.unreadable[kind][name] {
		return
	}
	o.unreadable[kind][name] = true
	o.log.Error(errors.New(shortened(u.cause)), "An object cannot be read and is left out until it is corrected or deleted", "kind", kind, "namespace", u.Namespace, "name", u.Name)
}

var (
	unreadableObjects = prometheus.NewDesc("convene_unreadable_objects",
		"Objects that this replica cannot decode and leaves out.", []string{"kind"}, nil)
	watchFailing = prometheus.NewDesc("convene_watch_failing_seconds",
		"For how long the cluster's API has not listed or watched a kind for this replica.", []string{"kind"}, nil)
)

// Describe describes the metrics of Objects.
func (o *Objects) Describe(all chan<- *prometheus.Desc) {
	all <- unreadableObjects
	all <- watchFailing
}

// Collect collects them.
func (o *Objects) Collect(all chan<- prometheus.Metric) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for kind, objects := range o.unreadable {
		all <- prometheus.MustNewConstMetric(unreadableObjects, prometheus.GaugeValue, float64(len(objects)), kind)
		seconds := 0.0
		if f, ok := o.failures[kind]; ok {
			seconds = time.Since(f.since).Seconds()
		}
		all <- prometheus.MustNewConstMetric(watchFailing, prometheus.GaugeValue, seconds, kind)
	}
}

// readable lists and watches a kind. In place of an object that cannot be read it has the last state that could be, or nothing.
type readable struct {
	toolscache.ListerWatcherWithContext
	objects *Objects
	kind    string
	last    func(types.NamespacedName) any
}

func (r *readable) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	found, err := r.ListerWatcherWithContext.ListWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	if options.Continue == "" {
		r.objects.listAgain(r.kind)
	}
	partial, ok := found.(*partialList)
	if !ok {
		return found, nil
	}
	items, err := meta.ExtractList(partial.Object)
	if err != nil {
		return nil, err
	}
	for _, u := range partial.without {
		r.objects.leaveOut(r.kind, u)
		if known := r.lastOf(u); known != nil {
			items = append(items, known)
		}
	}
	return partial.Object, meta.SetList(partial.Object, items)
}

func (r *readable) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	watched, err := r.ListerWatcherWithContext.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	if ptr.Deref(options.SendInitialEvents, false) {
		r.objects.listAgain(r.kind)
	}
	return watch.Filter(watched, r.filter), nil
}

// filter takes events of unreadable objects out of a watch. Where the last readable state is known, the informer has to hear of the object
// in two cases: in a watch that begins with all objects (Added), and when the object has gone.
func (r *readable) filter(e watch.Event) (watch.Event, bool) {
	u, ok := e.Object.(*unreadable)
	if !ok {
		if o, err := meta.Accessor(e.Object); err == nil && o.GetName() != "" {
			r.objects.readAgain(r.kind, types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
		}
		return e, true
	}
	known := r.lastOf(u)
	if e.Type == watch.Deleted {
		r.objects.readAgain(r.kind, types.NamespacedName{Namespace: u.Namespace, Name: u.Name})
		if known != nil {
			known.(metav1.Object).SetResourceVersion(u.ResourceVersion)
		}
	} else {
		r.objects.leaveOut(r.kind, u)
	}
	e.Object = known
	return e, known != nil && e.Type != watch.Modified
}

// lastOf is the last state of an object that could be read, or nil.
func (r *readable) lastOf(u *unreadable) runtime.Object {
	known, _ := r.last(types.NamespacedName{Namespace: u.Namespace, Name: u.Name}).(client.Object)
	if known == nil || known.GetUID() != u.UID {
		return nil
	}
	return known.DeepCopyObject()
}
