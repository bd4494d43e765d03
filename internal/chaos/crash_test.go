// SPDX-License-Identifier: Apache-2.0

//go:build faults

package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// away is how long a part is gone: longer than clients' first tries again.
const away = 15 * time.Second

// stream is backends that open and end meetings all the time, and note what was confirmed to them.
type stream struct {
	stop context.CancelFunc
	all  sync.WaitGroup

	mu sync.Mutex
	// opened are rooms whose meetings were confirmed; true are those whose end was confirmed too.
	opened map[string]bool
}

func (w *world) stream(t *testing.T, prefix string) *stream {
	ctx, stop := context.WithCancel(context.Background())
	s := &stream{stop: stop, opened: map[string]bool{}}
	note := func(room string, ended bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.opened[room] = ended
	}
	for worker := range 3 {
		s.all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				room := fmt.Sprintf("%s-%d-%d", prefix, worker, i)
				// What was begun is carried through, so that it is known what has to be.
				carry, cancel := context.WithTimeout(context.Background(), patience)
				err := w.backend.open(carry, map[string]any{"room": room, "duration": "01:00:00"})
				if err == nil && i%4 != 0 {
					err = w.backend.end(carry, room)
				}
				cancel()
				if err != nil {
					t.Error(err)
					return
				}
				note(room, i%4 != 0)
				pause(ctx, 100*time.Millisecond)
			}
		})
	}
	t.Cleanup(stop)
	return s
}

// TestPartsCrash kills parts of the platform in a stream of opened and ended meetings.
func TestPartsCrash(t *testing.T) {
	t.Parallel()
	for _, crash := range []struct {
		name       string
		kill, back func(t *testing.T, w *world)
	}{
		{"kill -9 of kube-apiserver", func(t *testing.T, w *world) { w.KillAPIServer(t) }, func(t *testing.T, w *world) { w.StartAPIServer(t) }},
		{"kill -9 of etcd", func(t *testing.T, w *world) { w.KillEtcd(t) }, func(t *testing.T, w *world) { w.StartEtcd(t) }},
		{"kill -9 of both", func(t *testing.T, w *world) { w.KillEtcd(t); w.KillAPIServer(t) },
			func(t *testing.T, w *world) { w.StartEtcd(t); w.StartAPIServer(t) }},
		{"kill -9 of LiveKit", func(_ *testing.T, w *world) { w.livekit.Kill() }, func(t *testing.T, w *world) { w.livekit.Start(t) }},
	} {
		t.Run(crash.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, testkit.OwnControlPlane(t), options{})
			for round := range 3 {
				w.crash(t, fmt.Sprint("round", round), crash.kill, crash.back, crash.name)
				if t.Failed() {
					t.FailNow()
				}
			}
		})
	}
}

func (w *world) crash(t *testing.T, prefix string, kill, back func(*testing.T, *world), name string) {
	lively := prefix + "lively"
	if err := w.backend.open(t.Context(), map[string]any{"room": lively}); err != nil {
		t.Fatal(err)
	}
	g := w.guest(t, lively, "")
	w.eventually(t, w.occupied(lively, 1))
	s := w.stream(t, prefix)
	pause(t.Context(), time.Second) // so that it is in the middle of things
	kill(t, w)
	pause(t.Context(), away)
	back(t, w)
	returned := time.Now()
	// All is well when the guest is in, and what is begun now is done.
	w.eventually(t, w.occupied(lively, 1))
	if err := errors.Join(w.backend.open(t.Context(), map[string]any{"room": prefix + "after"}), w.backend.end(t.Context(), prefix+"after")); err != nil {
		t.Error(err)
	}
	w.eventually(t, func() error {
		if _, err := w.ofRoom(prefix + "after"); err == nil {
			return errors.New("what was ended afterwards is not over")
		}
		return nil
	})
	took := time.Since(returned)
	s.stop()
	s.all.Wait()
	w.eventually(t, func() error { return w.holds(s) })
	if g.isOver() {
		t.Error("a meeting was ended that nobody ended")
	}
	w.unbroken(t)
	summary.tried("opens and ends", name, prefix, !t.Failed(), took)
	t.Logf("%s, %s: %d meetings, all well after %s", name, prefix, len(s.opened), took)
}

// holds says which confirmed call was not kept.
func (w *world) holds(s *stream) error {
	all, err := w.meetings()
	if err != nil {
		return err
	}
	live := map[string]int{}
	for i := range all {
		if all[i].Status.Phase == v1alpha1.MeetingActive {
			live[all[i].Spec.Room]++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for room, ended := range s.opened {
		if want := map[bool]int{true: 0, false: 1}[ended]; live[room] != want {
			return fmt.Errorf("%d live meetings of %s, which was ended: %t", live[room], room, ended)
		}
	}
	return w.quiet()
}
