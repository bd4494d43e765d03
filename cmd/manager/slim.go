// SPDX-License-Identifier: Apache-2.0

package main

import (
	"unique"

	"sigs.k8s.io/controller-runtime/pkg/cache"

	"convene.dev/convene/api/v1alpha1"
)

var stripManagedFields = cache.TransformStripManagedFields()

// slim keeps out of memory what nobody here reads, and keeps once what many objects say alike.
func slim(o any) (any, error) {
	o, err := stripManagedFields(o)
	m, ok := o.(*v1alpha1.Meeting)
	if err != nil || !ok {
		return o, err
	}
	m.Kind, m.APIVersion = "", ""
	shared(&m.Namespace)
	shared(&m.Spec.ConfigRef.Name)
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
	}
	for key, value := range m.Labels {
		delete(m.Labels, key)
		shared(&key)
		shared(&value)
		m.Labels[key] = value
	}
	for i := range m.Finalizers {
		shared(&m.Finalizers[i])
	}
	return m, nil
}

// shared makes equal strings one.
func shared(s *string) { *s = unique.Make(*s).Value() }
