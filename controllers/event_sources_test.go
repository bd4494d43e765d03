// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// While many Meetings wait: first those that end, then those to which a participant has come, then edits, then microphones,
// then what was there at the start.
func TestOrderOfTheQueue(t *testing.T) {
	named := func(name string, change ...func(*v1alpha1.Meeting)) *v1alpha1.Meeting {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
		m.Status.Phase = v1alpha1.MeetingActive
		for _, f := range change {
			f(m)
		}
		return m
	}
	ending := func(m *v1alpha1.Meeting) { m.Spec.End = &v1alpha1.MeetingEnd{} }
	w, q := NewEventSources(toNothing, toNothing), priorityqueue.New[reconcile.Request]("test")
	defer q.ShutDown()
	for _, from := range []source.Source{w.details(), w.meetings()} {
		if err := from.Start(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	events := meetingEvents(func(*v1alpha1.Meeting) {})
	events.Create(t.Context(), event.CreateEvent{Object: named("initial"), IsInInitialList: true}, q)
	w.Details(named("microphone"))
	events.Update(t.Context(), event.UpdateEvent{ObjectOld: named("edit"), ObjectNew: named("edit")}, q)
	w.Meeting(named("arrival"))
	events.Update(t.Context(), event.UpdateEvent{ObjectOld: named("end"), ObjectNew: named("end", ending)}, q)
	events.Create(t.Context(), event.CreateEvent{Object: named("end-at-the-start", ending), IsInInitialList: true}, q)
	testkit.Eventually(t, patience, func() error {
		if n := q.Len(); n != 6 {
			return fmt.Errorf("%d are in the queue", n)
		}
		return nil
	})
	var order []string
	for range 6 {
		request, _ := q.Get()
		order = append(order, request.Name)
	}
	if want := []string{"end", "end-at-the-start", "arrival", "edit", "microphone", "initial"}; !slices.Equal(order, want) {
		t.Errorf("they come as %q, want %q", order, want)
	}
}
