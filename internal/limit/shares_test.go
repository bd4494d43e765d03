// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

func TestSharesHoldUpTheirOwnersOnly(t *testing.T) {
	s := NewShares[string](4, 2)
	var held []func()
	for range 2 {
		giveBack, err := s.Take(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, giveBack)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Take(over, "a"); err == nil {
		t.Error("a third thing at once")
	}
	if _, ok := s.Try("a"); ok {
		t.Error("a third thing at once")
	}
	for range 2 {
		other, ok := s.Try("b")
		if !ok {
			t.Fatal("another client is held up")
		}
		held = append(held, other)
	}
	if _, ok := s.Try("c"); ok {
		t.Error("a fifth thing at once")
	}
	if _, err := s.Take(over, "c"); err == nil {
		t.Error("a fifth thing at once")
	}
	held[2]()
	held[3]()
	held[0]()
	third, err := s.Take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	third()
	held[1]()
	if len(s.all) != 0 {
		t.Errorf("%d are remembered who do nothing", len(s.all))
	}
}

func TestSharesUnderManyOwners(t *testing.T) {
	const total, most, owners = 5, 3, 4
	s := NewShares[int](total, most)
	var busy [owners]atomic.Int32
	var together atomic.Int32
	var all sync.WaitGroup
	for i := range 100 * owners {
		all.Go(func() {
			giveBack, err := s.Take(context.Background(), i%owners)
			if err != nil {
				t.Error(err)
				return
			}
			if n := busy[i%owners].Add(1); n > most {
				t.Errorf("%d at once", n)
			}
			if n := together.Add(1); n > total {
				t.Errorf("%d at once of all", n)
			}
			together.Add(-1)
			busy[i%owners].Add(-1)
			giveBack()
		})
	}
	all.Wait()
	if len(s.all) != 0 {
		t.Errorf("%d are remembered who do nothing", len(s.all))
	}
}
