// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"slices"
	"strings"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"convene.dev/convene/api/v1alpha1"
)

var stripManagedFields = cache.TransformStripManagedFields()

// What most Meetings have alike. Nothing changes what is in the cache.
var byAPI = map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByAPI}

// Transform is for cache.Options. It keeps out of memory what nothing here reads, and keeps once what many objects say alike.
func Transform(o any) (any, error) {
	o, err := stripManagedFields(o)
	if object, ok := o.(metav1.Object); ok && err == nil {
		object.SetAnnotations(own(object.GetAnnotations()))
		if _, ok := o.(*metav1.PartialObjectMetadata); !ok { // Selectors of MediaServers match all labels of a namespace.
			object.SetLabels(own(object.GetLabels()))
		}
	}
	m, ok := o.(*v1alpha1.Meeting)
	if err != nil || !ok {
		return o, err
	}
	m.Kind, m.APIVersion = "", ""
	shared(&m.Namespace)
	shared(&m.Spec.ConfigRef.Name)
	// Decoding grows lists by doubling them.
	m.Status.Participants, m.Status.Conditions = slices.Clone(m.Status.Participants), slices.Clone(m.Status.Conditions)
	for i := range m.Status.Participants {
		p := &m.Status.Participants[i]
		shared(&p.OS)
		shared(&p.Browser)
	}
	for i := range m.Status.Conditions {
		c := &m.Status.Conditions[i]
		shared(&c.Type)
		shared(&c.Reason)
		shared((*string)(&c.Status))
		if c.Type != v1alpha1.ConditionReady { // Only that one's message has the Meeting's own link.
			shared(&c.Message)
		}
	}
	if at := m.Status.MediaServer; at != nil {
		shared(&at.Namespace)
		shared(&at.Name)
	}
	if len(m.Labels) == 1 && m.Labels[v1alpha1.LabelManagedBy] == v1alpha1.ManagedByAPI {
		m.Labels = byAPI
	}
	return m, nil
}

// own are the labels or annotations that Convene reads. Those of others, such as what kubectl applied last, can be as large as the object.
func own(all map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range all {
		if key == v1alpha1.LabelManagedBy || strings.HasPrefix(key, v1alpha1.GroupVersion.Group+"/") {
			kept[key] = value
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// shared makes equal strings one.
func shared(s *string) { *s = unique.Make(*s).Value() }
