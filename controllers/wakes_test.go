// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/testkit"
)

// TestOrderOfTheQueue: while many Meetings wait, first those whose end was requested, then those that end by themselves, those to which a participant
// has come, edits, microphones, and what was there at the start.
func TestOrderOfTheQueue(t *testing.T) {
	named := func(name string, change ...func(*v1alpha1.Meeting)) *v1alpha1.Meeting {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
		m.Status.Phase = v1alpha1.MeetingActive
		for _, f := range change {
			f(m)
		}
		return m
	}
	ending := func(m *v1alpha1.Meeting) { m.Status.Phase = v1alpha1.MeetingEnding }
	requested := func(m *v1alpha1.Meeting) { m.Spec.End = &v1alpha1.MeetingEnd{} }
	r, q := &MeetingReconciler{Meetings: &directory.Directory{}}, priorityqueue.New[reconcile.Request]("test")
	defer q.ShutDown()
	if err := r.wakes.source(func() (stop func()) { return func() {} }).Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	events := r.follower()
	events.Found(named("initial"))
	r.Details(named("microphone"))
	events.Changed(named("edit"))
	r.Changed(named("arrival"))
	events.Changed(named("due", ending))
	events.Found(named("due-at-the-start", ending))
	events.Changed(named("request", requested))
	testkit.Eventually(t, patience, func() error {
		if n := q.Len(); n != 7 {
			return fmt.Errorf("%d are in the queue", n)
		}
		return nil
	})
	var order []string
	for range 7 {
		request, _ := q.Get()
		order = append(order, request.Name)
	}
	if want := []string{"request", "due", "due-at-the-start", "arrival", "edit", "microphone", "initial"}; !slices.Equal(order, want) {
		t.Errorf("they come as %q, want %q", order, want)
	}
}

// TestWakesNeverBlock: a replica that stands by runs no controller, so that changes reach nobody and nothing waits for a reader. A replica that leads
// queues each name once.
func TestWakesNeverBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w wakes
		listeners := 0
		source := w.source(func() (stop func()) {
			listeners++
			return func() { listeners-- }
		})
		if listeners > 0 {
			t.Error("a controller that does not run listens")
		}
		w.add(usual, types.NamespacedName{Name: "too early"})

		ctx, stop := context.WithCancel(t.Context())
		q := priorityqueue.New[reconcile.Request]("test")
		if err := source.Start(ctx, q); err != nil {
			t.Fatal(err)
		}
		for i := range 100_000 {
			w.add(usual, types.NamespacedName{Name: fmt.Sprint(i % 3)})
		}
		synctest.Wait()
		if n := q.Len(); n != 3 || listeners != 1 {
			t.Errorf("%d requests are queued for 3 names, and %d listen", n, listeners)
		}
		stop()
		q.ShutDown()
		synctest.Wait()
		w.add(usual, types.NamespacedName{Name: "too late"})
		if listeners > 0 {
			t.Error("a controller that has stopped still listens")
		}
	})
}
