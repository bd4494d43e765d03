// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"convene.dev/convene/api/v1alpha1"
)

// What another replica knows is waited for: in a listing, before a join, and before somebody is let in.
func TestReadersWaitForWhatOtherReplicasKnow(t *testing.T) {
	for name, read := range map[string]func(context.Context, *Store) error{
		"listing": func(ctx context.Context, s *Store) error {
			live, err := s.Live(ctx, tenantNamed("a"))
			if len(live) != 0 {
				t.Error("it lists what another replica has ended")
			}
			return err
		},
		"link": func(ctx context.Context, s *Store) error {
			if v, err := s.Enter(ctx, tenantNamed("a"), "room", ""); err == nil || !v.Ended {
				t.Error("it lets people into what another replica has ended")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Store{directory: newDirectory(), newest: func(context.Context) uint64 { return 8 }}
				s.directory.changed(aMeeting("u1", "a", "room", 1, 7))
				done := make(chan error, 1)
				go func() { done <- read(t.Context(), s) }()
				synctest.Wait()
				if len(done) > 0 {
					t.Error("it does not wait")
				}
				ending := aMeeting("u1", "a", "room", 1, 8)
				ending.Spec.End = &v1alpha1.MeetingEnd{}
				s.directory.changed(ending)
				if err := <-done; err != nil {
					t.Error(err)
				}
				if s.Known() != 8 {
					t.Errorf("it knows %d, want 8", s.Known())
				}
			})
		})
	}
}

// A cache to which nothing comes is not waited for long.
func TestReadersDoNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Store{directory: newDirectory(), newest: func(context.Context) uint64 { return 8 }}
		began := time.Now()
		if _, err := s.Live(t.Context(), tenantNamed("a")); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != catchUpTimeout {
			t.Errorf("it took %s, want %s", took, catchUpTimeout)
		}
		if n := len(s.directory.versions.waiting); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}
