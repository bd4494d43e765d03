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
	"convene.dev/convene/internal/limit"
)

// Objects reads from the API server. An object of Convene's kinds that its Go type cannot hold, because it was stored under other
// CRDs than this manager's, is left out alone: the lists and informers of client-go would fail as a whole. Informers leave out too
// what a namespace has beyond its share of the memory. The log names such objects, and metrics count them.
type Objects struct {
	// Client has no cache.
	client.Client
	rest      rest.Interface
	namespace string
	log       logr.Logger

	shares *shares
	reads  *reads

	mu       sync.Mutex
	leftOut  map[string]map[types.NamespacedName]*leftOut // by kind
	failures map[string]failure                           // by kind
}

const (
	// maxLeftOut bounds how many objects of a kind that are left out are remembered, and counted.
	maxLeftOut = 4096
	// maxNamed bounds how many objects of a kind that have no memory the log names, until one of them fits in again.
	maxNamed = 20
)

// failure is why the objects of a kind cannot be listed or watched, and since when.
type failure struct {
	cause error
	since time.Time
}

// NewObjects reads the objects of a namespace, or of all where it is empty.
func NewObjects(config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme, namespace string, log logr.Logger) (*Objects, error) {
	reads := newReads()
	counted := *httpClient
	counted.Transport = reads.count(httpClient.Transport)
	httpClient = &counted
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
		Client: direct, rest: own, namespace: namespace, log: log, shares: newShares(limit.NewMemoryBudget(allObjects, oneNamespace)),
		reads: reads, leftOut: map[string]map[types.NamespacedName]*leftOut{}, failures: map[string]failure{},
	}, nil
}

// Get reads one object past the caches, as the caches keep it. The error is Refused where the Go type cannot hold the object, and Busy where
// its namespace has no memory for it.
func (o *Objects) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return o.reads.do(ctx, key.Namespace, into, func(ctx context.Context) error {
		resource, ok := o.resource(into)
		if !ok {
			return o.Client.Get(ctx, key, into, opts...)
		}
		options := (&client.GetOptions{}).ApplyOptions(opts).AsGetOptions()
		request := o.rest.Get().Namespace(key.Namespace).Resource(resource).Name(key.Name).VersionedParams(options, metav1.ParameterCodec)
		if err := request.Do(ctx).Into(into); err != nil {
			return err
		}
		_, err := Transform(into)
		return err
	})
}

// List reads many objects past the caches, as the caches keep them. The error is Busy where their namespace has no memory for them.
func (o *Objects) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	options := (&client.ListOptions{}).ApplyOptions(opts)
	return o.reads.do(ctx, options.Namespace, into, func(ctx context.Context) error {
		resource, ok := o.resource(into)
		if !ok {
			return o.Client.List(ctx, into, opts...)
		}
		request := o.rest.Get().Namespace(options.Namespace).Resource(resource).VersionedParams(options.AsListOptions(), metav1.ParameterCodec)
		if err := request.Do(ctx).Into(into); err != nil {
			return err
		}
		return meta.EachListItem(into, func(item runtime.Object) error {
			_, err := Transform(item)
			return err
		})
	})
}

// resource is the name in the API's paths of one of Convene's Go types, or of a list of them. It is false for all other types.
func (o *Objects) resource(of runtime.Object) (string, bool) {
	kinds, _, err := o.Scheme().ObjectKinds(of)
	if err != nil || kinds[0].GroupVersion() != v1alpha1.GroupVersion {
		return "", false
	}
	return strings.ToLower(strings.TrimSuffix(kinds[0].Kind, "List")) + "s", true
}

// NewInformer is for cache.Options. Its informers see the API server again soon after it is back: by themselves they would wait up to a
// minute, in which what is served is old and no end is carried out. Of an object that cannot be read any more they keep the last state that
// could be, and of one that has grown beyond the share of its namespace the last that was within.
func (o *Objects) NewInformer(from toolscache.ListerWatcher, of runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	kind := ""
	if gvk, err := apiutil.GVKForObject(of, o.Scheme()); err == nil {
		kind = gvk.Kind
	}
	var informer toolscache.SharedIndexInformer
	lists := toolscache.ToListerWatcherWithContext(from)
	if resource, ok := o.resource(of); ok {
		lists = &bounded{
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
		o.log.Error(err, "The API server does not list or watch a kind: what is served of it is old, and a manager that has just started waits for it", "kind", kind)
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

// IsFull reports whether a namespace has as many objects as there is memory for, nearly.
func (o *Objects) IsFull(namespace string) bool { return o.shares.isFull(namespace) }

// takeBack takes in that an object is not left out any more, or has gone.
func (o *Objects) takeBack(kind string, name types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.leftOut[kind], name)
}

// listAgain takes in that all objects of a kind are about to be read.
func (o *Objects) listAgain(kind string) {
	o.shares.beginList(kind)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.leftOut[kind] = map[types.NamespacedName]*leftOut{}
}

// leaveOut takes in that an object is left out, and names it in the log once.
func (o *Objects) leaveOut(kind string, u *leftOut) {
	name := types.NamespacedName{Namespace: u.Namespace, Name: u.Name}
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.leftOut[kind]
	if all[name] != nil || len(all) >= maxLeftOut {
		return
	}
	all[name] = u
	switch {
	case !u.isReadable:
		o.log.Error(errors.New(shortened(u.cause)), "An object cannot be read and is left out until it is corrected or deleted", "kind", kind, "namespace", u.Namespace, "name", u.Name)
	case len(all) <= maxNamed:
		o.log.Error(u.cause, "An object is left out: its namespace has too many", "kind", kind, "namespace", u.Namespace, "name", u.Name)
	}
}

// hasNoMemoryFor reports whether readable objects of a kind are left out.
func (o *Objects) hasNoMemoryFor(kind string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, u := range o.leftOut[kind] {
		if u.isReadable {
			return true
		}
	}
	return false
}

const (
	// tellEvery and tellAtOnce are how fast statuses say that objects are left out.
	tellEvery, tellAtOnce = time.Second, 10
	// tellTimeout bounds one such write.
	tellTimeout = 5 * time.Second
)

// Start writes into the statuses of objects why there is no memory for them, because no controller sees them. The leader alone does that: another
// replica may have let in others.
func (o *Objects) Start(ctx context.Context) error {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for kind, all := range o.untold() {
			for _, u := range all {
				if err := o.tell(ctx, kind, u); err != nil {
					o.log.V(1).Info("The status of an object that is left out could not be written", "kind", kind, "namespace", u.Namespace, "name", u.Name, "error", err.Error())
				}
			}
		}
	}
}

// untold are some objects whose statuses are to be written, by kind.
func (o *Objects) untold() map[string][]*leftOut {
	o.mu.Lock()
	defer o.mu.Unlock()
	some, n := map[string][]*leftOut{}, 0
	for kind, all := range o.leftOut {
		for _, u := range all {
			if u.isReadable && !u.told && n < tellAtOnce {
				some[kind] = append(some[kind], u)
				u.told = true
				n++
			}
		}
	}
	return some
}

func (o *Objects) tell(ctx context.Context, kind string, u *leftOut) error {
	ctx, cancel := context.WithTimeout(ctx, tellTimeout)
	defer cancel()
	var observed *int64
	var conditions *[]metav1.Condition
	read, err := o.Scheme().New(v1alpha1.GroupVersion.WithKind(kind))
	if err != nil {
		return err
	}
	switch object := read.(type) {
	case *v1alpha1.Meeting:
		observed, conditions = &object.Status.ObservedGeneration, &object.Status.Conditions
	case *v1alpha1.ConferenceConfig:
		observed, conditions = &object.Status.ObservedGeneration, &object.Status.Conditions
	case *v1alpha1.MediaServer:
		observed, conditions = &object.Status.ObservedGeneration, &object.Status.Conditions
	default:
		return nil
	}
	object := read.(client.Object)
	if err := o.Get(ctx, nameOf(u), object); err != nil {
		return IgnoreGone(err)
	}
	*observed = object.GetGeneration()
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNamespaceFull, Message: u.cause.Error(), ObservedGeneration: *observed,
	})
	return o.Status().Update(ctx, object)
}

var (
	unreadableObjects = prometheus.NewDesc("convene_unreadable_objects",
		"Objects that this replica cannot decode and leaves out.", []string{"kind"}, nil)
	objectsWithoutMemory = prometheus.NewDesc("convene_objects_without_memory",
		"Objects that this replica leaves out because their namespaces have too many, or because all have. Counting ends at 4096.", []string{"kind"}, nil)
	watchFailing = prometheus.NewDesc("convene_watch_failing_seconds",
		"For how long the API server has not listed or watched a kind for this replica.", []string{"kind"}, nil)
)

// Describe describes the metrics of Objects.
func (o *Objects) Describe(all chan<- *prometheus.Desc) {
	all <- unreadableObjects
	all <- objectsWithoutMemory
	all <- watchFailing
}

// Collect collects them.
func (o *Objects) Collect(all chan<- prometheus.Metric) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for kind, objects := range o.leftOut {
		unreadable := 0
		for _, u := range objects {
			if !u.isReadable {
				unreadable++
			}
		}
		all <- prometheus.MustNewConstMetric(unreadableObjects, prometheus.GaugeValue, float64(unreadable), kind)
		all <- prometheus.MustNewConstMetric(objectsWithoutMemory, prometheus.GaugeValue, float64(len(objects)-unreadable), kind)
		seconds := 0.0
		if f, ok := o.failures[kind]; ok {
			seconds = time.Since(f.since).Seconds()
		}
		all <- prometheus.MustNewConstMetric(watchFailing, prometheus.GaugeValue, seconds, kind)
	}
}

// bounded lists and watches a kind. In place of an object that is left out it has the last state that was not, or nothing.
type bounded struct {
	toolscache.ListerWatcherWithContext
	objects *Objects
	kind    string
	last    func(types.NamespacedName) any
	// listed says that no watch has begun since the last list.
	listed bool
}

func (r *bounded) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	found, err := r.ListerWatcherWithContext.ListWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	if options.Continue == "" {
		r.objects.listAgain(r.kind)
	}
	var without []*leftOut
	if partial, ok := found.(*partialList); ok {
		found, without = partial.Object, partial.without
	}
	all, err := meta.ExtractList(found)
	if err != nil {
		return nil, err
	}
	items := make([]runtime.Object, 0, len(all)+len(without))
	for _, item := range all {
		if u := r.take(item); u == nil {
			items = append(items, item)
		} else {
			without = append(without, u)
		}
	}
	for _, u := range without {
		if known := r.leaveOut(u); known != nil {
			items = append(items, known)
		}
	}
	if list, err := meta.ListAccessor(found); err == nil && list.GetContinue() == "" {
		r.objects.shares.endList(r.kind)
		r.listed = true
	}
	return found, meta.SetList(found, items)
}

// WatchWithContext watches. Every watch ends after some minutes: where objects had no memory, all are listed then.
func (r *bounded) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	isFirst, isList := r.listed, ptr.Deref(options.SendInitialEvents, false)
	r.listed = false
	if !isFirst && !isList && r.objects.hasNoMemoryFor(r.kind) {
		return nil, apierrors.NewResourceExpired("objects that were left out are read again")
	}
	watched, err := r.ListerWatcherWithContext.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	if isList {
		r.objects.listAgain(r.kind)
	}
	return watch.Filter(watched, r.filter), nil
}

// filter takes events of objects that are left out out of a watch. Where a last state is known, the informer has to hear of the object
// in two cases: in a watch that begins with all objects (Added), and when the object has gone.
func (r *bounded) filter(e watch.Event) (watch.Event, bool) {
	u, ok := e.Object.(*leftOut)
	if !ok {
		o, err := meta.Accessor(e.Object)
		switch {
		case err != nil || e.Type == watch.Error:
			return e, true
		case e.Type == watch.Bookmark:
			if o.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
				r.objects.shares.endList(r.kind)
			}
			return e, true
		case e.Type == watch.Deleted:
			r.gone(o)
			return e, true
		}
		if u = r.take(e.Object); u == nil {
			r.objects.takeBack(r.kind, nameOf(o))
			return e, true
		}
	}
	if e.Type != watch.Deleted {
		e.Object = r.leaveOut(u)
		return e, e.Object != nil && e.Type != watch.Modified
	}
	r.gone(u)
	if e.Object = r.lastOf(u); e.Object != nil {
		e.Object.(metav1.Object).SetResourceVersion(u.ResourceVersion)
	}
	return e, e.Object != nil
}

// leaveOut leaves an object out, and returns its last state that was not, or nil.
func (r *bounded) leaveOut(u *leftOut) runtime.Object {
	r.objects.leaveOut(r.kind, u)
	known := r.lastOf(u)
	if known != nil {
		r.objects.shares.stay(r.kind, nameOf(u))
	}
	return known
}

func nameOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

func (r *bounded) gone(o metav1.Object) {
	r.objects.shares.giveBack(r.kind, nameOf(o))
	r.objects.takeBack(r.kind, nameOf(o))
}

// take lets an object into the cache, or says why it is left out.
func (r *bounded) take(o runtime.Object) *leftOut {
	object := o.(client.Object)
	if _, err := Transform(o); err != nil {
		return nil // The informer says so.
	}
	full := r.objects.shares.take(r.kind, nameOf(object), weightOf(o))
	if full == "" {
		return nil
	}
	u := &leftOut{cause: errors.New(full), isReadable: true}
	u.Namespace, u.Name, u.UID, u.ResourceVersion = object.GetNamespace(), object.GetName(), object.GetUID(), object.GetResourceVersion()
	return u
}

// lastOf is the last state of an object that was not left out, or nil.
func (r *bounded) lastOf(u *leftOut) runtime.Object {
	known, _ := r.last(nameOf(u)).(client.Object)
	if known == nil || known.GetUID() != u.UID {
		return nil
	}
	return known.DeepCopyObject()
}
