// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/testkit"
)

func named(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// TestShares: a namespace that takes what there is for one leaves the others what is theirs.
func TestShares(t *testing.T) {
	s := newShares(limit.NewBudget(250, 100))
	s.most = map[string]int{"MediaServer": 2}
	for i, step := range []struct {
		kind, namespace, name string
		bytes                 int // Negative: gone.
		want                  string
	}{
		{"Meeting", "a", "1", 60, ""},
		{"Meeting", "a", "1", 90, ""},
		{"Meeting", "a", "2", 20, "those of namespace \"a\""},
		{"Meeting", "a", "1", 120, "those of namespace \"a\""},
		{"ConferenceConfig", "a", "2", 20, "those of namespace \"a\""},
		{"Meeting", "b", "2", 20, ""},
		{"Meeting", "a", "1", 80, ""},
		{"Meeting", "a", "2", 20, ""},
		{"Meeting", "a", "3", 20, "those of namespace \"a\""},
		{"Meeting", "a", "2", -1, ""},
		{"Meeting", "a", "nobody", -1, ""},
		{"Meeting", "a", "3", 20, ""},
		{"MediaServer", "b", "1", 1, ""},
		{"MediaServer", "b", "2", 1, ""},
		{"MediaServer", "b", "3", 1, "Namespace \"b\" has more than 2 MediaServers"},
		{"MediaServer", "b", "2", 2, ""},
		{"MediaServer", "c", "3", 98, ""},
		{"Meeting", "d", "1", 50, "for all"},
	} {
		if step.bytes < 0 {
			s.giveBack(step.kind, named(step.namespace, step.name))
			continue
		}
		full := s.take(step.kind, named(step.namespace, step.name), step.bytes)
		if (full == "") != (step.want == "") || !strings.Contains(full, step.want) {
			t.Errorf("step %d, %s %s/%s: %q, want %q", i, step.kind, step.namespace, step.name, full, step.want)
		}
	}
	if !s.isFull("a") || s.isFull("b") {
		t.Errorf("a is full: %t, b is full: %t", s.isFull("a"), s.isFull("b"))
	}
	s.beginList("Meeting")
	s.stay("Meeting", named("a", "1"))
	s.endList("Meeting")
	for namespace, left := range map[string]int{"a": 20, "b": 69, "c": 2, "d": 69} {
		if got := s.memory.Left(namespace); got != left {
			t.Errorf("after a list with one Meeting, %s has %d left, want %d", namespace, got, left)
		}
	}
}

// TestTheMeetingsOfTheDocuments: 10,000 meetings of ten people are within the share of one namespace, with the limits of the chart.
func TestTheMeetingsOfTheDocuments(t *testing.T) {
	m := &v1alpha1.Meeting{}
	if err := json.Unmarshal([]byte(liveMeeting), m); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		p := m.Status.Participants[0]
		p.Identity, p.Name = fmt.Sprint(i, p.Identity), fmt.Sprint("Person Number ", i)
		m.Status.Participants = append(m.Status.Participants, p)
	}
	m.Status.Participants = m.Status.Participants[1:]
	if _, err := Transform(m); err != nil {
		t.Fatal(err)
	}
	got, most := 10_000*weightOf(m), int(chartsMemory*oneNamespace*fullFrom)
	t.Logf("a meeting of ten people weighs %d bytes: %d MB", weightOf(m), got/1_000_000)
	if got > most {
		t.Errorf("10,000 meetings weigh %d bytes, and a namespace may have %d", got, most)
	}
}

// TestANamespaceThatIsFull has more objects than there is memory for, before a cache starts and while it watches.
func TestANamespaceThatIsFull(t *testing.T) {
	c := testkit.ControlPlane(t)
	httpClient, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := NewObjects(c.Config, httpClient, testkit.Scheme(), c.Namespace, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	create := func(name string) *v1alpha1.Meeting {
		t.Helper()
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name, Annotations: map[string]string{
			"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat("x", 200<<10),
		}}}
		m.Spec.Room, m.Spec.ConfigRef.Name = name, "default"
		c.Create(t, m)
		return m
	}
	example := create("a")
	if _, err := Transform(example); err != nil {
		t.Fatal(err)
	}
	each := 3*weightOf(example) + weightOf(example)/4
	objects.shares = newShares(limit.NewBudget(10*each, each))
	for _, name := range []string{"b", "c", "d"} {
		create(name)
	}
	known, err := cache.New(c.Config, cache.Options{
		Scheme: testkit.Scheme(), NewInformer: objects.NewInformer, DefaultTransform: Transform, DefaultNamespaces: map[string]cache.Config{c.Namespace: {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var runs sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	runs.Go(func() { _ = known.Start(ctx) })
	runs.Go(func() { _ = objects.Start(ctx) })
	defer func() { cancel(); runs.Wait() }()
	shows := func(why string, leftOut int, want ...string) {
		t.Helper()
		testkit.Eventually(t, 10*time.Second, func() error {
			var all v1alpha1.MeetingList
			if err := known.List(t.Context(), &all); err != nil {
				return err
			}
			var names []string
			for i := range all.Items {
				names = append(names, strings.TrimSpace(all.Items[i].Name+" "+string(all.Items[i].Spec.Duration)))
			}
			slices.Sort(names)
			if counted := metricOf(t, objects, "convene_objects_without_memory"); counted != float64(leftOut) || !slices.Equal(names, want) {
				return fmt.Errorf("%s: the cache has %q, want %q, and %v are counted, want %d", why, names, want, counted, leftOut)
			}
			return nil
		})
	}
	change := func(name, patch string) {
		t.Helper()
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}}
		if err := c.Client.Patch(t.Context(), m, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	// says waits until the status of a Meeting that is left out says so.
	says := func(name string) {
		t.Helper()
		testkit.Eventually(t, 10*time.Second, func() error {
			var m v1alpha1.Meeting
			if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: name}, &m); err != nil {
				return err
			}
			ready := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
			if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != v1alpha1.ReasonNamespaceFull || m.Status.ObservedGeneration != m.Generation {
				return fmt.Errorf("%s has %+v", name, m.Status)
			}
			return nil
		})
	}
	shows("four were there before the start", 1, "a", "b", "c")
	says("d")
	create("e")
	shows("one was made", 2, "a", "b", "c")
	says("e")
	if !objects.IsFull(c.Namespace) {
		t.Error("the namespace is not full")
	}

	change("a", fmt.Sprintf(`{"spec":{"redirect":"https://example.com/%s"}}`, strings.Repeat("x", 1500)))
	shows("one grows beyond the share", 3, "a", "b", "c")
	change("a", `{"spec":{"redirect":null,"duration":"1h"}}`)
	shows("and is as small as it was", 2, "a 1h", "b", "c")

	remove := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if err := c.Client.Delete(t.Context(), &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: name}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove("b", "c")
	shows("two are deleted", 2, "a 1h")
	lists := listsOf(t, objects, known, c.Namespace)
	watches := func(why string, expired bool) {
		t.Helper()
		watched, err := lists.WatchWithContext(t.Context(), metav1.ListOptions{})
		if err == nil {
			watched.Stop()
		}
		if apierrors.IsResourceExpired(err) != expired || !expired && err != nil {
			t.Errorf("%s: %v", why, err)
		}
	}
	watches("objects are left out, and a watch has ended", true)
	if _, err := lists.ListWithContext(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	watches("after a list", false)
	watches("that watch has ended", true)

	change("d", `{"spec":{"duration":"2h"}}`)
	shows("one changes when there is memory", 1, "a 1h", "d 2h")
	remove("a", "d", "e")
	shows("all are deleted", 0)
	watches("none is left out", false)
	if left := objects.shares.memory.Left(c.Namespace); left != each {
		t.Errorf("nothing is there, and %d of %d bytes are left", left, each)
	}
	if err := objects.Err(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// chartsMemory is the memory that the chart gives a manager, in bytes.
const chartsMemory = 460 << 20

// liveMeeting is a Meeting as kubectl prints it, without managedFields.
const liveMeeting = `{
  "apiVersion": "convene.dev/v1alpha1", "kind": "Meeting",
  "metadata": {
    "annotations": {"convene.dev/lineage": "5c1d2b8e-6f3a-4f55-9a57-3f2f0c8b7f11", "convene.dev/room-opened": "2026-11-27T10:00:00Z"},
    "creationTimestamp": "2026-11-27T10:00:00Z", "generation": 1, "labels": {"app.kubernetes.io/managed-by": "convene-api"},
    "name": "default-7d865e959b2466918c9863afca942d0fb89d7c9a", "namespace": "tenant-of-some-team", "resourceVersion": "123456789",
    "uid": "0e1f7b0a-4b0c-4b8e-9a53-1d2f3c4b5a69"
  },
  "spec": {
    "configRef": {"name": "default"}, "duration": "01:00:00", "redirect": "https://classes.example.com/after", "room": "mathematics-with-ms-lovelace"
  },
  "status": {
    "conditions": [
      {"lastTransitionTime": "2026-11-27T10:00:00Z", "message": "People can enter at https://meet.example.com/join/mathematics-with-ms-lovelace",
        "observedGeneration": 1, "reason": "Open", "status": "True", "type": "Ready"},
      {"lastTransitionTime": "2026-11-27T10:01:00Z", "message": "Participants are in the meeting", "observedGeneration": 1,
        "reason": "ParticipantsPresent", "status": "True", "type": "Occupied"},
      {"lastTransitionTime": "2026-11-27T10:00:00Z", "message": "The meeting goes on, or can be entered", "observedGeneration": 1,
        "reason": "Live", "status": "False", "type": "Ended"}
    ],
    "duration": "01:00:00", "expiryTime": "2026-11-27T11:00:00Z", "mediaServer": {"name": "default", "namespace": "tenant-of-some-team"},
    "observedGeneration": 1, "participantCount": 10,
    "participants": [{"audio": true, "browser": "Chrome 156", "identity": "q2V0rS8yTnKpXb3F", "joinTime": "2026-11-27T10:01:00Z", "name": "Ada", "os": "Linux"}],
    "phase": "Active", "startTime": "2026-11-27T10:00:00Z", "url": "https://meet.example.com/join/mathematics-with-ms-lovelace"
  }
}`
