// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Shares let only so many things be done at once, and no owner do more than a share of them; what is beyond its owner's
// share waits, and holds up its own owner only. They are safe for concurrent use, and remember no more than those who do
// something or wait.
type Shares[K comparable] struct {
	total *semaphore.Weighted
	each  int64
	mu    sync.Mutex
	all   map[K]*share
}

type share struct {
	places *semaphore.Weighted
	// users do something or wait.
	users int
}

// NewShares makes Shares of so many things at once. One owner may do so many of them.
func NewShares[K comparable](total, each int) *Shares[K] {
	return &Shares[K]{total: semaphore.NewWeighted(int64(total)), each: int64(each), all: map[K]*share{}}
}

// Take waits for a place, and gives the means to return it. Its error is the context's.
func (s *Shares[K]) Take(ctx context.Context, owner K) (giveBack func(), err error) {
	return s.TakeN(ctx, owner, 1)
}

// TakeN is Take of n places at once. For more than an owner's share it waits until the context ends.
func (s *Shares[K]) TakeN(ctx context.Context, owner K, n int) (giveBack func(), err error) {
	own := s.join(owner)
	if err := own.places.Acquire(ctx, int64(n)); err != nil {
		s.leave(owner, own)
		return nil, err
	}
	if err := s.total.Acquire(ctx, int64(n)); err != nil {
		own.places.Release(int64(n))
		s.leave(owner, own)
		return nil, err
	}
	return s.giveBack(owner, own, n), nil
}

// Try takes a place if one is free.
func (s *Shares[K]) Try(owner K) (giveBack func(), ok bool) {
	own := s.join(owner)
	if !own.places.TryAcquire(1) {
		s.leave(owner, own)
		return nil, false
	}
	if !s.total.TryAcquire(1) {
		own.places.Release(1)
		s.leave(owner, own)
		return nil, false
	}
	return s.giveBack(owner, own, 1), true
}

func (s *Shares[K]) giveBack(owner K, own *share, n int) func() {
	return func() {
		s.total.Release(int64(n))
		own.places.Release(int64(n))
		s.leave(owner, own)
	}
}

func (s *Shares[K]) join(owner K) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.all[owner]
	if own == nil {
		own = &share{places: semaphore.NewWeighted(s.each)}
		s.all[owner] = own
	}
	own.users++
	return own
}

func (s *Shares[K]) leave(owner K, own *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(s.all, owner)
	}
}
