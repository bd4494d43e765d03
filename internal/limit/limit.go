// SPDX-License-Identifier: Apache-2.0

// Package limit counts what somebody may do only so often, in bounded memory. Each replica counts for itself.
package limit

import (
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// Rate is how fast a bucket fills, in tokens per second, and how many it holds.
type Rate struct {
	PerSecond rate.Limit
	Burst     int
}

// Every is a rate of one token per interval.
func Every(interval time.Duration, burst int) Rate { return Rate{rate.Every(interval), burst} }

// Buckets are token buckets by key. The one that was not used for longest is forgotten when there are too many, which
// gives its owner a full one again. They are safe for concurrent use.
type Buckets[K comparable] struct {
	mu  sync.Mutex
	all *simplelru.LRU[K, *bucket]
}

type bucket struct {
	*rate.Limiter
	// tried are attempts of which it is not yet known whether they count.
	tried int
}

// New makes buckets, at most so many. Each takes about 300 bytes.
func New[K comparable](most int) *Buckets[K] {
	all, err := simplelru.NewLRU[K, *bucket](most, nil)
	if err != nil {
		panic("limit: " + err.Error()) // It is for sizes below one.
	}
	return &Buckets[K]{all: all}
}

// Take takes a token, or says how long until there is one.
func (b *Buckets[K]) Take(key K, r Rate, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.bucket(key, r, now)
	if wait = of.wait(now); wait == 0 {
		of.AllowN(now, 1)
	}
	return wait
}

// Try begins an attempt that takes a token only if it counts in the end, or says how long until there is one. Done must
// be called unless there is a wait; until then the attempt counts, so that no more are made at once than there are
// tokens.
func (b *Buckets[K]) Try(key K, r Rate, now time.Time) (done func(counts bool), wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.bucket(key, r, now)
	if wait = of.wait(now); wait > 0 {
		return nil, wait
	}
	of.tried++
	return func(counts bool) {
		b.mu.Lock()
		defer b.mu.Unlock()
		of.tried--
		if counts {
			of.AllowN(now, 1)
		}
	}, 0
}

// Len is how many buckets there are.
func (b *Buckets[K]) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Len()
}

// bucket of a key, with the settings as they are now.
func (b *Buckets[K]) bucket(key K, r Rate, now time.Time) *bucket {
	of, ok := b.all.Get(key)
	if !ok {
		of = &bucket{Limiter: rate.NewLimiter(r.PerSecond, r.Burst)}
		b.all.Add(key, of)
		return of
	}
	if of.Limit() != r.PerSecond {
		of.SetLimitAt(now, r.PerSecond)
	}
	if of.Burst() != r.Burst {
		of.SetBurstAt(now, r.Burst)
	}
	return of
}

// wait is how long until there is a token beside those of the attempts under way.
func (b *bucket) wait(now time.Time) time.Duration {
	missing := 1 + float64(b.tried) - b.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	// Whole microseconds, because counting in floating point is off by some nanoseconds.
	return time.Duration(math.Round(missing/float64(b.Limit())*1e6)) * time.Microsecond
}
