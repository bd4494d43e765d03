// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

func fullMeeting() *v1alpha1.Meeting {
	m := &v1alpha1.Meeting{
		TypeMeta: metav1.TypeMeta{Kind: "Meeting", APIVersion: "convene.dev/v1alpha1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "m", UID: "u", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "x"}},
			Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByAPI}, Finalizers: []string{"example.com/kept"},
			Annotations: map[string]string{v1alpha1.AnnotationLineage: "l"},
		},
		Spec: v1alpha1.MeetingSpec{Room: "r", ConfigRef: v1alpha1.ConfigReference{Name: "default"}},
	}
	m.Status.Participants = make([]v1alpha1.Participant, 0, 16)
	for range 10 {
		m.Status.Participants = append(m.Status.Participants, v1alpha1.Participant{Identity: "i", Name: "n", OS: "Linux", Browser: "Firefox", JoinTime: metav1.NewTime(time.Unix(1, 0))})
	}
	m.Status.Conditions = append(make([]metav1.Condition, 0, 8), metav1.Condition{Type: "Ready", Status: "True", Reason: "Open", Message: "m"})
	return m
}

// Nothing goes but what nobody reads, and what is alike is there once.
func TestTransform(t *testing.T) {
	got, err := Transform(fullMeeting())
	if err != nil {
		t.Fatal(err)
	}
	want := fullMeeting()
	want.TypeMeta, want.ManagedFields = metav1.TypeMeta{}, nil
	m := got.(*v1alpha1.Meeting)
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c := cap(m.Status.Participants); c > 12 {
		t.Errorf("ten participants have room for %d", c)
	}
	other, _ := Transform(fullMeeting())
	if reflect.ValueOf(m.Labels).Pointer() != reflect.ValueOf(other.(*v1alpha1.Meeting).Labels).Pointer() {
		t.Error("each has labels of its own")
	}
}

// Labels and annotations of others go: one of them may take as much memory as a hundred Meetings.
func TestTransformTakesAwayWhatIsNotOurs(t *testing.T) {
	for reason, change := range map[string]func(*v1alpha1.Meeting){
		"as it is":      func(*v1alpha1.Meeting) {},
		"another value": func(m *v1alpha1.Meeting) { m.Labels[v1alpha1.LabelManagedBy] = "flux" },
		"no labels":     func(m *v1alpha1.Meeting) { m.Labels = nil },
	} {
		want, given := fullMeeting(), fullMeeting()
		change(want)
		change(given)
		given.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = "{}"
		if given.Labels != nil {
			given.Labels["team"] = "a"
		}
		want.TypeMeta, want.ManagedFields = metav1.TypeMeta{}, nil
		if got, err := Transform(given); err != nil || !cmp.Equal(got, any(want)) {
			t.Errorf("%s: %v (-want +got):\n%s", reason, err, cmp.Diff(want, got))
		}
	}
	namespace := func(annotations map[string]string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"team": "a"}, Annotations: annotations}}
	}
	given, want := namespace(map[string]string{"convene.dev/allowed-hosts": "h", "x": "y"}), namespace(map[string]string{"convene.dev/allowed-hosts": "h"})
	if got, err := Transform(given); err != nil || !cmp.Equal(got, any(want)) {
		t.Errorf("a namespace: %v (-want +got):\n%s", err, cmp.Diff(any(want), got))
	}
	if got, err := Transform("not ours"); got != "not ours" || err != nil {
		t.Errorf("what is no object: %v, %v", got, err)
	}
}
