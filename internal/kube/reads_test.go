// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/testkit"
)

// TestReadsHaveTheMemoryOfTheirNamespace: objects of a quarter megabyte, as large as annotations make them, are read as long as their
// namespace has memory, and another namespace's are read all the time.
func TestReadsHaveTheMemoryOfTheirNamespace(t *testing.T) {
	const large, many = 250 << 10, 5
	c := testkit.ControlPlane(t)
	other := c.NewNamespace(t)
	httpClient, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := NewObjects(c.Config, httpClient, testkit.Scheme(), "", logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	objects.reads.memory = limit.NewBudget(10*large*readCost, 2*large*readCost) // One is read, and two are too many with what comes with them.
	put := func(namespace string, bytes int) (last *v1alpha1.Meeting) {
		for i := range many {
			last = &v1alpha1.Meeting{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("m", i), Annotations: map[string]string{"notes": strings.Repeat("n", bytes)}},
				Spec:       v1alpha1.MeetingSpec{Room: "same", ConfigRef: v1alpha1.ConfigReference{Name: "nowhere"}},
			}
			c.Create(t, last)
		}
		return last
	}
	of, small := put(c.Namespace, large), put(other, 10)
	var read v1alpha1.Meeting
	get := func(m *v1alpha1.Meeting) error { return objects.Get(t.Context(), client.ObjectKeyFromObject(m), &read) }
	list := func(all client.ObjectList) error {
		return objects.List(t.Context(), all, client.InNamespace(c.Namespace), client.MatchingFields{"spec.room": "same"})
	}
	names := &metav1.PartialObjectMetadataList{}
	names.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("MeetingList"))

	work, end := limit.Holding(t.Context())
	if err := objects.Get(work, client.ObjectKeyFromObject(of), &read); err != nil || len(read.Annotations) > 0 {
		t.Errorf("one is not read, or with what others wrote on it: %v", err)
	}
	if taken := 2*large*readCost - objects.reads.memory.Left(c.Namespace); taken < 100 || taken > 10_000 {
		t.Errorf("work that has an object of some hundred bytes holds %d", taken)
	}
	end()
	for kind, all := range map[string]client.ObjectList{"Meetings": &v1alpha1.MeetingList{}, "names": names} {
		if err := list(all); AnswerOf(err) != Busy {
			t.Errorf("more %s than there is memory for: %v", kind, err)
		}
		var found int
		if err := EachPage(t.Context(), objects, all, func() { found += lenOf(all) }, client.InNamespace(c.Namespace)); err != nil || found != many {
			t.Errorf("%d of %d %s page by page: %v", found, many, kind, err)
		}
	}
	// What is being read at the same time counts.
	objects.reads.memory.Change(c.Namespace, large*readCost)
	if err := get(of); AnswerOf(err) != Busy {
		t.Errorf("beside another: %v", err)
	}
	if err := get(small); err != nil {
		t.Errorf("another namespace's is not read: %v", err)
	}
	objects.reads.memory.Change(c.Namespace, -large*readCost)
	if left := objects.reads.memory.Left(c.Namespace); left != 2*large*readCost {
		t.Errorf("%d bytes were not given back", 2*large*readCost-left)
	}
}

func lenOf(all client.ObjectList) int {
	switch all := all.(type) {
	case *v1alpha1.MeetingList:
		return len(all.Items)
	case *metav1.PartialObjectMetadataList:
		return len(all.Items)
	}
	return 0
}
