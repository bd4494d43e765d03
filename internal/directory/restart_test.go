// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// A replica that starts in a quiet hour learns from another of a version whose Meeting has gone since. No event will tell of
// it: the version of the list has to.
func TestReadsAfterARestartInAQuietHour(t *testing.T) {
	c := testkit.ControlPlane(t)
	create := func(room string) *v1alpha1.Meeting {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: meeting.ObjectName("default", room)}}
		m.Spec.Room, m.Spec.ConfigRef.Name = room, "default"
		c.Create(t, m)
		return m
	}
	create("kept")
	gone := create("gone")
	if err := c.Client.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	var now v1alpha1.MeetingList
	if err := c.Client.List(t.Context(), &now, client.InNamespace(c.Namespace)); err != nil {
		t.Fatal(err)
	}
	known, err := strconv.ParseUint(now.ResourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}

	var source toolscache.Indexer
	meetings, err := cache.New(c.Config, cache.Options{
		Scheme: testkit.Scheme(), DefaultNamespaces: map[string]cache.Config{c.Namespace: {}},
		NewInformer: func(lw toolscache.ListerWatcher, o runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			informer := toolscache.NewSharedIndexInformer(lw, o, resync, indexers)
			source = informer.GetIndexer()
			return informer
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Nothing but the list and the version of the list tells that the cache is up to date: waiting ends with the test.
	o := Options{Cache: meetings, Now: time.Now, Newest: func(context.Context) uint64 { return known }}
	d, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	d.source = source
	go func() { _ = meetings.Start(t.Context()) }()
	testkit.Eventually(t, time.Minute, func() error {
		d.CatchUp(t.Context())
		if !d.versions.hasShown(known) {
			return fmt.Errorf("it waits for version %d, though its list is of version %s", known, source.LastStoreSyncResourceVersion())
		}
		return nil
	})
	if live := d.Live(t.Context(), &tenant.Tenant{NamespacedName: types.NamespacedName{Namespace: c.Namespace, Name: "default"}}); len(live) != 1 {
		t.Errorf("it lists %d meetings, want 1", len(live))
	}
}
