// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// laxCluster has a definition of Meetings as it was before its rules: it stores times that Go does not read.
func laxCluster(t *testing.T) *testkit.Cluster {
	t.Helper()
	c := testkit.ControlPlane(t)
	var crd apiextensionsv1.CustomResourceDefinition
	if err := c.Client.Get(t.Context(), client.ObjectKey{Name: "meetings.convene.dev"}, &crd); err != nil {
		t.Fatal(err)
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.Properties["admittedUntil"] = apiextensionsv1.JSONSchemaProps{Type: "string", Format: "date-time"}
	if err := c.Client.Update(t.Context(), &crd); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 10*time.Second, func() error {
		return c.Client.Create(t.Context(), meetingUntil(c, "lax", "2026-01-01t00:00:00z"), client.DryRunAll)
	})
	return c
}

func meetingUntil(c *testkit.Cluster, name, until string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"room": name, "admittedUntil": until}}}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Meeting"))
	o.SetNamespace(c.Namespace)
	o.SetName(name)
	return o
}

const (
	readableTime   = "2026-01-01T00:00:00Z"
	unreadableTime = "2026-01-01t00:00:00z"
)

// metricOf is the sum of a metric of Meetings.
func metricOf(t *testing.T, from prometheus.Collector, name string) (sum float64) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(from)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			if metric.GetLabel()[0].GetValue() == "Meeting" {
				sum += metric.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// listsOf lists and watches the Meetings of a namespace, for a cache that knows some of them.
func listsOf(t *testing.T, objects *Objects, known client.Reader, namespace string) *bounded {
	return &bounded{
		ListerWatcherWithContext: toolscache.NewListWatchFromClient(objects.rest, "meetings", namespace, fields.Everything()), objects: objects, kind: "Meeting",
		last: func(name types.NamespacedName) any {
			var m v1alpha1.Meeting
			if err := known.Get(t.Context(), name, &m); err != nil {
				return nil
			}
			return &m
		},
	}
}

// TestUnreadableObjects has objects that cannot be decoded before a cache starts, while it watches, and when it lists again.
func TestUnreadableObjects(t *testing.T) {
	c := laxCluster(t)
	var mu sync.Mutex
	var lines []string
	log := funcr.New(func(_, args string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, args)
	}, funcr.Options{})
	named := func(name string) (count int) {
		mu.Lock()
		defer mu.Unlock()
		for _, line := range lines {
			if strings.Contains(line, `"name"="`+name+`"`) {
				count++
			}
		}
		return count
	}
	httpClient, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := NewObjects(c.Config, httpClient, testkit.Scheme(), c.Namespace, log)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, until string) {
		t.Helper()
		o := meetingUntil(c, name, until)
		if err := c.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	change := func(name, until string) {
		t.Helper()
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"admittedUntil":%q}}`, until))
		if err := c.Client.Patch(t.Context(), meetingUntil(c, name, ""), patch); err != nil {
			t.Fatal(err)
		}
	}
	write("before", unreadableTime)
	write("good", readableTime)

	var known cache.Cache
	// start begins with an empty cache.
	start := func() (stop func()) {
		t.Helper()
		known, err = cache.New(c.Config, cache.Options{
			Scheme: testkit.Scheme(), NewInformer: objects.NewInformer, DefaultTransform: Transform,
			DefaultNamespaces: map[string]cache.Config{c.Namespace: {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var runs sync.WaitGroup
		runs.Go(func() { _ = known.Start(ctx) })
		return func() { cancel(); runs.Wait() }
	}
	shows := func(why string, unreadable int, want ...string) {
		t.Helper()
		testkit.Eventually(t, 10*time.Second, func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // Without an end, the list waits for a cache that is never filled.
			defer cancel()
			var all v1alpha1.MeetingList
			if err := known.List(ctx, &all); err != nil {
				return err
			}
			var names []string
			for i := range all.Items {
				names = append(names, all.Items[i].Name+" "+all.Items[i].Spec.AdmittedUntil.UTC().Format("2006"))
			}
			slices.Sort(names)
			if counted := metricOf(t, objects, "convene_unreadable_objects"); counted != float64(unreadable) || !slices.Equal(names, want) {
				return fmt.Errorf("%s: the cache has %q, want %q, and %v are counted, want %d", why, names, want, counted, unreadable)
			}
			return nil
		})
	}
	stop := start()
	defer func() { stop() }()
	shows("one was stored before the start", 1, "good 2026")
	write("later", unreadableTime)
	write("also", readableTime)
	shows("one was made", 2, "also 2026", "good 2026")
	change("good", unreadableTime)
	change("also", "2027-01-01T00:00:00Z")
	shows("one cannot be read any more", 3, "also 2027", "good 2026")
	if got := named("good"); got != 1 {
		t.Errorf("the log names the Meeting %d times: %q", got, lines)
	}
	change("good", "2028-01-01T00:00:00Z")
	change("before", "2029-01-01T00:00:00Z")
	shows("two are corrected", 1, "also 2027", "before 2029", "good 2028")
	change("good", unreadableTime)
	shows("and one is broken again", 2, "also 2027", "before 2029", "good 2028")
	for _, name := range []string{"good", "later"} {
		if err := c.Client.Delete(t.Context(), meetingUntil(c, name, "")); err != nil {
			t.Fatal(err)
		}
	}
	shows("two unreadable Meetings are deleted", 0, "also 2027", "before 2029")

	change("before", unreadableTime)
	shows("and one is broken for those who list", 1, "also 2027", "before 2029")
	var all v1alpha1.MeetingList
	if err := objects.List(t.Context(), &all, client.InNamespace(c.Namespace)); err != nil || len(all.Items) != 1 || all.Items[0].Name != "also" {
		t.Errorf("a list without a cache has %d Meetings: %v", len(all.Items), err)
	}
	one := v1alpha1.Meeting{Spec: v1alpha1.MeetingSpec{Redirect: "what was there"}}
	if err := objects.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: "also"}, &one); err != nil || one.Spec.Room != "also" || one.Spec.Redirect != "" {
		t.Errorf("a Meeting that can be read: %+v %v", one.Spec, err)
	}
	err = objects.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: "before"}, &one)
	if AnswerOf(err) != Refused || !strings.Contains(err.Error(), "Meeting "+c.Namespace+"/before cannot be read: parsing time") {
		t.Errorf("a Meeting that cannot be read: %v", err)
	}
	if err := objects.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: "nowhere"}, &one); AnswerOf(err) != Gone {
		t.Errorf("a Meeting that is not there: %v", err)
	}

	// A list that comes while the Meeting is unreadable has its last readable state.
	lists := listsOf(t, objects, known, c.Namespace)
	listed, err := lists.ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil || len(listed.(*v1alpha1.MeetingList).Items) != 2 {
		t.Errorf("a list of a cache: %+v %v", listed, err)
	}
	watched, err := lists.WatchWithContext(t.Context(), metav1.ListOptions{
		SendInitialEvents: ptr.To(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()
	for range 2 {
		select {
		case e := <-watched.ResultChan():
			if m, ok := e.Object.(*v1alpha1.Meeting); !ok || e.Type != watch.Added || m.Spec.AdmittedUntil.IsZero() {
				t.Errorf("a watch that begins has %s %+v", e.Type, e.Object)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the watch sends nothing")
		}
	}

	stop()
	stop = start()
	shows("the manager starts again", 1, "also 2027")
	if err := objects.Err(); err != nil {
		t.Errorf("the API server answers all the time: %v", err)
	}
}

// TestWatchesThatFail tells of a kind that cannot be listed or watched, once.
func TestWatchesThatFail(t *testing.T) {
	var lines []string
	log := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
	objects := &Objects{log: log, leftOut: map[string]map[types.NamespacedName]*leftOut{"Meeting": {}}, failures: map[string]failure{}}
	for _, usual := range []error{nil, expired, context.Canceled} {
		objects.note("Meeting", usual)
	}
	if objects.Err() != nil || metricOf(t, objects, "convene_watch_failing_seconds") != 0 || len(lines) > 0 {
		t.Errorf("the usual end of a watch is a failure: %v %q", objects.Err(), lines)
	}
	objects.note("Meeting", busy)
	objects.note("Meeting", broken)
	if err := objects.Err(); !errors.Is(err, broken) || metricOf(t, objects, "convene_watch_failing_seconds") <= 0 || len(lines) != 1 {
		t.Errorf("two tries failed: %v %q", err, lines)
	}
	objects.note("Meeting", nil)
	if objects.Err() != nil || metricOf(t, objects, "convene_watch_failing_seconds") != 0 {
		t.Errorf("it works again: %v", objects.Err())
	}
}
