// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
)

// profileRate is of how many bytes that are allocated one is in the profile of memory.
const profileRate = 512

func init() { runtime.MemProfileRate = profileRate }

// weight is what a process keeps, whatever it keeps it in.
type weight struct {
	bytes      float64
	goroutines int
}

// weigh leaves out Kubernetes Events, which client-go keeps for six minutes to count those that come again.
func weigh() weight {
	runtime.GC()
	runtime.GC() // The profile is as of the collection before the last.
	all := make([]runtime.MemProfileRecord, 100_000)
	n, _ := runtime.MemProfile(all, false)
	w := weight{goroutines: runtime.NumGoroutine()}
	for _, record := range all[:n] {
		if count := float64(record.InUseObjects()); !ofEvents(record.Stack()) {
			size := float64(record.InUseBytes()) / count
			w.bytes += count * size / (1 - math.Exp(-size/profileRate)) // Of small objects few are in the profile.
		}
	}
	return w
}

func ofEvents(stack []uintptr) bool {
	frames := runtime.CallersFrames(stack)
	for {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "k8s.io/client-go/tools/events.") || strings.HasPrefix(frame.Function, "k8s.io/api/events/") {
			return true
		}
		if !more {
			return false
		}
	}
}

// keepsNothing does something n times, and n times again, and wants no more memory and goroutines to be kept than after the
// first n but a little for each time. A map, channel or handler that grows by an entry each time keeps more.
func keepsNothing(t *testing.T, n int, each float64, do func(times int)) {
	t.Helper()
	do(n)
	before := weigh()
	do(n)
	var bytes float64
	var goroutines int
	testkit.Eventually(t, patience, func() error {
		after := weigh()
		bytes, goroutines = (after.bytes-before.bytes)/float64(n), after.goroutines-before.goroutines
		if bytes > each || goroutines > n/10 { // Connections come and go, too.
			return fmt.Errorf("each of %d times keeps %.0f bytes, all together %d goroutines", n, bytes, goroutines)
		}
		return nil
	})
	t.Logf("each of %d times keeps %.1f bytes, all together %d goroutines", n, bytes, goroutines)
}

// leads has the controllers run until stop is called, and waits until they do.
func (r *replica) leads() (stop func()) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- controllerRunner{r.parts}.lead(ctx) }()
	testkit.Eventually(r.t, patience, func() error {
		if r.hints.receiver.Load() == nil {
			return errors.New("it does not lead")
		}
		return nil
	})
	return func() {
		cancel()
		if err := <-ended; err != nil {
			r.t.Error(err)
		}
	}
}

// live makes and ends meetings as requests do, and waits until they have gone.
func (r *replica) live(of *tenant.Tenant, from, times int) {
	r.t.Helper()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := from + worker; i < from+times; i += 8 {
				room := fmt.Sprint("room-", i)
				testkit.Eventually(r.t, patience, func() error {
					_, err := r.conference.Create(context.Background(), of, conference.CreateCommand{Room: room})
					return err
				})
				testkit.Eventually(r.t, patience, func() error {
					_, err := r.conference.End(context.Background(), of, conference.EndCommand{Room: room})
					if fault.Is(err, fault.KindNotFound) {
						return nil // It ended with the try before, which got no answer.
					}
					return err
				})
			}
		})
	}
	all.Wait()
	testkit.Eventually(r.t, patience, func() error {
		var left v1alpha1.MeetingList
		if err := r.cache.List(context.Background(), &left); err != nil || len(left.Items) > 0 {
			return fmt.Errorf("%d meetings are left: %w", len(left.Items), err)
		}
		return nil
	})
}

// comeAndGo has the directory told of Meetings of as many tenants that come, change and go.
func (r *replica) comeAndGo(times int) {
	for i := range times {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{
			Namespace: "elsewhere", Name: fmt.Sprint("m-", i), UID: types.UID(fmt.Sprint("uid-", i)), ResourceVersion: "1",
		}}
		m.Spec.Room, m.Spec.ConfigRef.Name = "board", fmt.Sprint("tenant-", i)
		ended := m.DeepCopy()
		ended.ResourceVersion, ended.Status.Phase = "2", v1alpha1.MeetingEnded
		for _, h := range r.tapped.handlers {
			h.OnAdd(m, false)
			h.OnUpdate(m, ended)
			h.OnDelete(ended)
		}
	}
}
