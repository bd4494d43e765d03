// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/kube"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
)

// stale is a reconciler that still has an object whose name another object has now.
func stale(t *testing.T) (r *MeetingReconciler, old, live *v1alpha1.Meeting, c *testkit.Cluster) {
	t.Helper()
	c = testkit.ControlPlane(t)
	made := func() *v1alpha1.Meeting {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "m"}, Spec: v1alpha1.MeetingSpec{Room: "m"}}
		if err := c.Client.Create(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	old = made()
	if err := c.Client.Delete(t.Context(), old.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	unstarted, err := cache.New(c.Config, cache.Options{Scheme: testkit.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	known, err := directory.New(t.Context(), directory.Options{Cache: unstarted, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	r = &MeetingReconciler{Client: c.Client, Events: events.NewFakeRecorder(10), Now: time.Now, Meetings: known}
	r.prepare()
	return r, old, made(), c
}

// A Meeting that was ended, deleted and made again while we were slow is another one: it must not be deleted, get the
// status of the first, or its annotation.
func TestWritesAreOfThisMeetingAlone(t *testing.T) {
	r, old, live, c := stale(t)
	if _, err := r.finish(t.Context(), old.DeepCopy(), meeting.Decision{Delete: true}); !apierrors.IsConflict(err) {
		t.Errorf("the delete: %v", err)
	}
	decision := meeting.Decision{Status: v1alpha1.MeetingStatus{Phase: v1alpha1.MeetingEnding, EndReason: v1alpha1.EndExpired}}
	if _, err := r.writeStatus(t.Context(), old.DeepCopy(), decision, r.turnsOf(client.ObjectKeyFromObject(old))); !apierrors.IsConflict(err) {
		t.Errorf("the status: %v", err)
	}
	if err := kube.Annotate(t.Context(), c.Client, old.DeepCopy(), "note", "of the first"); !apierrors.IsConflict(err) {
		t.Errorf("the annotation: %v", err)
	}
	var now v1alpha1.Meeting
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(live), &now); err != nil {
		t.Fatal(err)
	}
	if now.UID != live.UID || now.DeletionTimestamp != nil || now.Status.Phase != "" || len(now.Annotations) != 0 {
		t.Errorf("it is %+v", now)
	}
}

// Where the ended Meetings that a live one has followed cannot be deleted, its deadlines stay what they are.
func TestWhatCannotBeClearedAwayDelaysNothing(t *testing.T) {
	r, old, live, _ := stale(t)
	live.Labels = map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedByAPI}
	live.CreationTimestamp.Time = live.CreationTimestamp.Add(-meeting.PasswordWithin)
	old.Labels, old.Status.Phase = live.Labels, v1alpha1.MeetingEnded // To delete it fails: it has gone.
	if !r.Meetings.Learn(old) || !r.Meetings.Learn(live) || len(meeting.Earlier(live, r.Meetings.SameRoom(live))) != 1 {
		t.Fatal("it has followed none")
	}
	result, err := r.finish(t.Context(), live, meeting.Decision{WakeAt: time.Now().Add(time.Second)})
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Second {
		t.Errorf("it is looked at again after %s, %v", result.RequeueAfter, err)
	}
}

// The API server deletes by name what has lost its last finalizer while it was being deleted. A controller that takes it off
// names the UID: else the next Meeting of that name could go instead.
func TestTheLastFinalizerIsOfThisMeetingAlone(t *testing.T) {
	c := testkit.ControlPlane(t)
	m := &v1alpha1.Meeting{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "m", Finalizers: []string{v1alpha1.Finalizer}},
		Spec:       v1alpha1.MeetingSpec{Room: "m"},
	}
	if err := c.Client.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if err := c.Client.Delete(t.Context(), m.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(m), m); err != nil {
		t.Fatal(err)
	}
	another := m.DeepCopy() // The version alone does not tell them apart at the moment that matters.
	another.UID = "of-the-one-before"
	if _, err := kube.RemoveFinalizer(t.Context(), c.Client, another); !apierrors.IsConflict(err) {
		t.Errorf("that of another: %v", err)
	}
	if gone, err := kube.RemoveFinalizer(t.Context(), c.Client, m.DeepCopy()); err != nil || !gone {
		t.Errorf("its own: gone %t, %v", gone, err)
	}
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(m), m); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}

// The API server would take it, and keep nothing of it: each such write would only cost.
func TestWhatHasNotChangedIsNotWritten(t *testing.T) {
	r, old, _, _ := stale(t) // Any write of it fails.
	if _, err := r.writeStatus(t.Context(), old, meeting.Decision{Status: *old.Status.DeepCopy()}, r.turnsOf(client.ObjectKeyFromObject(old))); err != nil {
		t.Errorf("it was written: %v", err)
	}
}

// Every answer must say that a meeting ends before its participants are disconnected: else one who reconnects is let in again.
func TestEndIsWrittenBeforePeopleAreDisconnected(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	m := w.meeting("m", func(m *v1alpha1.Meeting) { m.Spec.Duration = "1h" })
	w.enter(c, m, "anna")
	w.is("m", v1alpha1.MeetingActive, people(1))
	defer close(w.engine.Hang("close"))
	w.pass(time.Hour + 10*time.Second)
	w.eventually(func() error {
		if w.engine.Count("close") == 0 {
			return errors.New("nobody has been disconnected")
		}
		return nil
	})
	w.must(w.Client.Get(t.Context(), client.ObjectKeyFromObject(m), m))
	if m.Status.Phase != v1alpha1.MeetingEnding {
		t.Errorf("participants are being disconnected, and it is %s", m.Status.Phase)
	}
}

// A Meeting that the API did not make gets its lineage, and keeps the lineage that it has.
func TestMeetingsGetALineage(t *testing.T) {
	w := newWorld(t)
	w.config()
	own := w.meeting("own", func(m *v1alpha1.Meeting) { m.Labels = nil })
	restored := w.meeting("restored", func(m *v1alpha1.Meeting) {
		m.Labels, m.Annotations = nil, map[string]string{v1alpha1.AnnotationLineage: "from before", "note": "kept"}
	})
	for m, want := range map[*v1alpha1.Meeting]string{own: string(own.UID), restored: "from before"} {
		now := w.is(m.Name, v1alpha1.MeetingActive)
		if got := now.Annotations[v1alpha1.AnnotationLineage]; got != want || now.Annotations["note"] != m.Annotations["note"] {
			t.Errorf("%s has the annotations %v", m.Name, now.Annotations)
		}
	}
}
