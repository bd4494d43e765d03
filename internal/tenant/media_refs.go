// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

// namedMedia is a MediaServer that a ConferenceConfig or one of its Meetings names.
type namedMedia struct {
	name types.NamespacedName
	// named says that the ConferenceConfig names it, placed that the status of a Meeting does.
	named, placed bool
	// server is nil where there is no MediaServer of that name.
	server *MediaServer
	// allowed says that the MediaServer allows the namespace of the ConferenceConfig, foreign that Convene does not serve
	// the namespace of the MediaServer.
	allowed, foreign bool
}

// mayBeUsed says that the ConferenceConfig names it, and that its owner allows that.
func (m namedMedia) mayBeUsed() bool { return m.named && m.server != nil && m.allowed && !m.foreign }

// problem is why a ConferenceConfig of a namespace cannot use the MediaServer, or nil. What is wrong inside another namespace is
// not told.
func (m namedMedia) problem(namespace string) *Problem {
	problem := func(reason, format string, args ...any) *Problem {
		return &Problem{Condition: v1alpha1.ConditionMediaServersReachable, Reason: reason, Message: fmt.Sprintf(format, args...), Fatal: true}
	}
	switch {
	case m.foreign:
		return problem(v1alpha1.ReasonNotAllowed, "MediaServer %q is in a namespace that Convene does not serve; name one of namespace %q", m.name, namespace)
	case m.server == nil && m.name.Namespace == namespace:
		return problem(v1alpha1.ReasonMediaServerNotFound, "There is no MediaServer %q; create it or correct spec.mediaRefs", m.name)
	case m.server == nil || !m.allowed:
		return problem(v1alpha1.ReasonNotAllowed,
			"There is no MediaServer %q that namespace %q may use; correct spec.mediaRefs, or ask the owner to name the namespace in spec.allowedNamespaces", m.name, namespace)
	case m.server.Engine == nil:
		return problem(m.server.Problems[0].Reason, "MediaServer %q cannot be used; see its conditions", m.name)
	}
	return nil
}

// mediaNames are the MediaServers that a ConferenceConfig names.
func mediaNames(c *v1alpha1.ConferenceConfig) (names []types.NamespacedName) {
	for _, ref := range c.Spec.MediaRefs {
		name := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
		if name.Namespace == "" {
			name.Namespace = c.Namespace
		}
		names = append(names, name)
	}
	return names
}

// mediaFor finds the MediaServers that a ConferenceConfig names, and whether it may use them, and then those that only its Meetings
// name, from the time when it named them.
func (r *Registry) mediaFor(ctx context.Context, c *v1alpha1.ConferenceConfig, namespaceLabels labels.Set) (all []namedMedia, err error) {
	var places []types.NamespacedName
	if r.options.PlacesOf != nil {
		if places, err = r.options.PlacesOf(ctx, client.ObjectKeyFromObject(c)); err != nil {
			return nil, err
		}
	}
	names := mediaNames(c)
	named := len(names)
	for _, place := range places {
		if !slices.Contains(names, place) {
			names = append(names, place)
		}
	}
	for i, name := range names {
		m := namedMedia{name: name, named: i < named, placed: slices.Contains(places, name)}
		m.foreign = r.options.Namespace != "" && name.Namespace != r.options.Namespace
		m.server, _ = r.MediaServers.Get(name)
		m.allowed = m.server != nil && m.server.allows(c.Namespace, namespaceLabels)
		all = append(all, m)
	}
	return all, nil
}

func namespaceMetadata() *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	return o
}

// namespace is what is known of a namespace: its labels and annotations say what it may use and claim. A manager that serves one
// namespace alone needs neither: only the MediaServers of that namespace can be named, and no other namespace claims a host.
func (r *Registry) namespace(ctx context.Context, name string) metav1.Object {
	o := namespaceMetadata()
	if r.options.Namespace == "" && r.cache.Get(ctx, client.ObjectKey{Name: name}, o) != nil {
		return namespaceMetadata() // What is not known is not allowed.
	}
	return o
}

// watchNamespaces has the ConferenceConfigs of a namespace resolved again when its labels or annotations change.
func (r *Registry) watchNamespaces(ctx context.Context) error {
	if r.options.Namespace != "" {
		return nil
	}
	informer, err := r.cache.GetInformer(ctx, namespaceMetadata())
	if err != nil {
		return err
	}
	registration, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { r.namespaceChanged(ctx, o) },
		UpdateFunc: func(was, now any) {
			before, after := was.(*metav1.PartialObjectMetadata), now.(*metav1.PartialObjectMetadata)
			if !maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations) {
				r.namespaceChanged(ctx, now)
			}
		},
	})
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = informer.RemoveEventHandler(registration) })
	toolscache.WaitForCacheSync(ctx.Done(), registration.HasSynced)
	return nil
}

// namespaceChanged has the ConferenceConfigs of a namespace resolved again.
func (r *Registry) namespaceChanged(ctx context.Context, o any) {
	namespace := o.(*metav1.PartialObjectMetadata).Name
	r.refreshWhere(ctx, func(c *v1alpha1.ConferenceConfig) bool { return c.Namespace == namespace })
}

// mediaChanged has all ConferenceConfigs looked at again: a MediaServer may have meetings of those too that do not name it.
func (r *Registry) mediaChanged(ctx context.Context) {
	r.refreshWhere(ctx, func(*v1alpha1.ConferenceConfig) bool { return true })
}

func (r *Registry) refreshWhere(ctx context.Context, matches func(*v1alpha1.ConferenceConfig) bool) {
	var all v1alpha1.ConferenceConfigList
	if err := r.cache.List(ctx, &all); err != nil {
		return // The manager ends.
	}
	for i := range all.Items {
		if matches(&all.Items[i]) {
			r.queue.Add(client.ObjectKeyFromObject(&all.Items[i]))
		}
	}
}
