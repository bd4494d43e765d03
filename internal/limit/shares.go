// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"context"
	"sync"
)

// Shares let nobody do more than so many things at once; what is beyond waits, and holds up its own owner only. They
// are safe for concurrent use, and remember no more than those who do something or wait.
type Shares[K comparable] struct {
	most int
	mu   sync.Mutex
	all  map[K]*share
}

type share struct {
	places chan struct{}
	// users do something or wait.
	users int
}

// NewShares makes Shares of so many things at once.
func NewShares[K comparable](most int) *Shares[K] { return &Shares[K]{most: most, all: map[K]*share{}} }

// Take waits for a place, and gives the means to return it. Its error is the context's.
func (s *Shares[K]) Take(ctx context.Context, key K) (giveBack func(), err error) {
	own := s.join(key)
	select {
	case own.places <- struct{}{}:
		return s.giveBack(key, own), nil
	case <-ctx.Done():
		s.leave(key, own)
		return nil, ctx.Err()
	}
}

// Try takes a place if one is free.
func (s *Shares[K]) Try(key K) (giveBack func(), ok bool) {
	own := s.join(key)
	select {
	case own.places <- struct{}{}:
		return s.giveBack(key, own), true
	default:
		s.leave(key, own)
		return nil, false
	}
}

func (s *Shares[K]) giveBack(key K, own *share) func() {
	return func() {
		<-own.places
		s.leave(key, own)
	}
}

func (s *Shares[K]) join(key K) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.all[key]
	if own == nil {
		own = &share{places: make(chan struct{}, s.most)}
		s.all[key] = own
	}
	own.users++
	return own
}

func (s *Shares[K]) leave(key K, own *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(s.all, key)
	}
}
