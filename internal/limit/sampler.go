// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"sync"
	"time"
)

// Sampler lets through the first events of each key in a window of time, and counts the others. It is safe for concurrent
// use.
type Sampler[K comparable] struct {
	SamplerOptions
	report func(key K, dropped int)

	mu  sync.Mutex
	all map[K]*sample
	// passed are the events of all keys that were let through in this window, which began with the first of them.
	passed int
}

// SamplerOptions are the bounds of a Sampler.
type SamplerOptions struct {
	// Window is how long an event counts.
	Window time.Duration
	// Each and Total are how many events of one key, and of all, are let through in a window.
	Each, Total int
	// Keys is how many keys are told apart; events of the others are dropped and counted for the zero key.
	Keys int
}

type sample struct{ passed, dropped int }

// NewSampler makes a Sampler. Report is called at the end of a key's window if events of it were dropped.
func NewSampler[K comparable](o SamplerOptions, report func(key K, dropped int)) *Sampler[K] {
	return &Sampler[K]{SamplerOptions: o, report: report, all: map[K]*sample{}}
}

// Allow reports whether an event of a key is one of the first.
func (s *Sampler[K]) Allow(key K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.sampleOf(key)
	if of.passed >= s.Each || s.passed >= s.Total {
		of.dropped++
		return false
	}
	if s.passed++; s.passed == 1 {
		time.AfterFunc(s.Window, s.beginAgain)
	}
	of.passed++
	return true
}

func (s *Sampler[K]) sampleOf(key K) *sample {
	if of := s.all[key]; of != nil {
		return of
	}
	of := &sample{}
	if len(s.all) >= s.Keys {
		var none K
		if key = none; s.all[key] != nil {
			return s.all[key]
		}
		of.passed = s.Each
	}
	s.all[key] = of
	time.AfterFunc(s.Window, func() { s.end(key) })
	return of
}

func (s *Sampler[K]) beginAgain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passed = 0
}

// end forgets a key whose window is over.
func (s *Sampler[K]) end(key K) {
	s.mu.Lock()
	dropped := s.all[key].dropped
	delete(s.all, key)
	s.mu.Unlock()
	if dropped > 0 {
		s.report(key, dropped)
	}
}
