// SPDX-License-Identifier: Apache-2.0

package directory

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

// What another replica knows is waited for.
func TestReadersWaitForWhatOtherReplicasKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDirectory(Options{Newest: func(context.Context) uint64 { return 8 }})
		d.changed(aMeeting("u1", "a", "room", 1, 7))
		listed := make(chan []meeting.View, 1)
		go func() { listed <- d.Live(t.Context(), tenantNamed("a")) }()
		synctest.Wait()
		if len(listed) > 0 {
			t.Error("it does not wait")
		}
		ending := aMeeting("u1", "a", "room", 1, 8)
		ending.Spec.End = &v1alpha1.MeetingEnd{}
		d.changed(ending)
		if live := <-listed; len(live) != 0 {
			t.Error("it lists what another replica has ended")
		}
		if d.Known() != 8 {
			t.Errorf("it knows %d, want 8", d.Known())
		}
	})
}

// A cache to which nothing comes is not waited for long.
func TestReadersDoNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDirectory(Options{Newest: func(context.Context) uint64 { return 8 }})
		began := time.Now()
		d.Live(t.Context(), tenantNamed("a"))
		if took := time.Since(began); took != catchUpTimeout {
			t.Errorf("it took %s, want %s", took, catchUpTimeout)
		}
		if n := len(d.versions.waiting); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}
