// SPDX-License-Identifier: Apache-2.0

// Package limit counts what a client may do only so often, in bounded memory. Each replica counts for itself.
package limit

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rate is how fast a bucket fills, in tokens per second, and how many it holds.
type Rate struct {
	PerSecond rate.Limit
	Burst     int
}

// Every is a rate of one token per interval.
func Every(interval time.Duration, burst int) Rate { return Rate{rate.Every(interval), burst} }

const (
	// sweepInterval is how often buckets that are full again are forgotten while keys arrive, and fullSweepInterval how
	// often while there is no room for a new one: a sweep of 65,536 buckets takes some milliseconds.
	sweepInterval     = time.Minute
	fullSweepInterval = time.Second
)

// Buckets are token buckets by key. Only a full bucket is forgotten: it says no more than none at all. While so many are
// not full that there is no room, a new key has to wait. They are safe for concurrent use.
type Buckets[K comparable] struct {
	mu    sync.Mutex
	all   map[K]*bucket
	most  int
	swept time.Time
}

type bucket struct {
	*rate.Limiter
	// tried are attempts whose result is not known yet.
	tried int
	// ended is closed when one of them ends. Nil while nobody waits for that.
	ended chan struct{}
}

// WaitError is returned while a bucket has no token.
type WaitError struct {
	// For is the time until the bucket has a token again.
	For time.Duration
}

func (e WaitError) Error() string { return "there is no token for " + e.For.String() }

// New makes buckets, at most so many. Each takes about 300 bytes.
func New[K comparable](most int) *Buckets[K] {
	return &Buckets[K]{all: map[K]*bucket{}, most: most}
}

// Take takes a token, or says how long until there is one.
func (b *Buckets[K]) Take(key K, r Rate, now time.Time) (wait time.Duration) {
	return b.TakeN(key, r, 1, now)
}

// TakeN takes n tokens if the bucket has one at least, and otherwise returns the time until it has. The bucket owes the tokens that are missing:
// a caller who needs many does not have to wait for a full bucket, which callers who need few would keep empty. TakeN takes no more tokens
// than a bucket holds.
func (b *Buckets[K]) TakeN(key K, r Rate, n int, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of, wait := b.bucket(key, r, now)
	if wait == 0 {
		of.ReserveN(now, min(n, r.Burst))
	}
	return wait
}

// Try begins an attempt that takes a token only if it counts in the end. No more are under way than there are tokens: one
// more waits until another ends. Its error is a WaitError where the tokens are spent, and the context's otherwise. Without
// an error, done must be called.
func (b *Buckets[K]) Try(ctx context.Context, key K, r Rate, now func() time.Time) (done func(counts bool), err error) {
	for {
		of, ended, err := b.begin(key, r, now())
		switch {
		case err != nil:
			return nil, err
		case ended == nil:
			return func(counts bool) { b.end(key, of, counts, now()) }, nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// begin counts an attempt, or gives what tells that another has ended.
func (b *Buckets[K]) begin(key K, r Rate, now time.Time) (of *bucket, ended <-chan struct{}, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of, wait := b.bucket(key, r, now)
	if wait > 0 {
		return nil, nil, WaitError{wait}
	}
	if of.wait(of.tried+1, now) == 0 {
		of.tried++
		return of, nil, nil
	}
	if of.ended == nil {
		of.ended = make(chan struct{})
	}
	return nil, of.ended, nil
}

func (b *Buckets[K]) end(key K, of *bucket, counts bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of.tried--
	if counts {
		of.AllowN(now, 1)
	}
	if of.ended != nil {
		close(of.ended)
		of.ended = nil
	}
	if of.isFull(now) {
		delete(b.all, key)
	}
}

// bucket is the bucket of a key, set to the rate as it is now, and how long until it has a token.
func (b *Buckets[K]) bucket(key K, r Rate, now time.Time) (*bucket, time.Duration) {
	of := b.all[key]
	if of == nil {
		if wait := b.makeRoom(now); wait > 0 {
			return nil, wait
		}
		of = &bucket{Limiter: rate.NewLimiter(r.PerSecond, r.Burst)}
		b.all[key] = of
		return of, of.wait(1, now)
	}
	if of.Limit() != r.PerSecond {
		of.SetLimitAt(now, r.PerSecond)
	}
	if of.Burst() != r.Burst {
		of.SetBurstAt(now, r.Burst)
	}
	return of, of.wait(1, now)
}

// makeRoom sees to it that there is room for one more bucket, or says when to try again.
func (b *Buckets[K]) makeRoom(now time.Time) (wait time.Duration) {
	interval := sweepInterval
	if len(b.all) >= b.most {
		interval = fullSweepInterval
	}
	if since := now.Sub(b.swept); since >= interval || since < 0 {
		b.swept = now
		for key, of := range b.all {
			if of.isFull(now) {
				delete(b.all, key)
			}
		}
	}
	if len(b.all) < b.most {
		return 0
	}
	return fullSweepInterval
}

func (b *bucket) isFull(now time.Time) bool {
	return b.tried == 0 && b.TokensAt(now) >= float64(b.Burst())
}

// wait is the time until the bucket has this number of tokens.
func (b *bucket) wait(tokens int, now time.Time) time.Duration {
	missing := float64(tokens) - b.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	// Whole microseconds, because counting in floating point is off by some nanoseconds.
	return time.Duration(math.Round(missing/float64(b.Limit())*1e6)) * time.Microsecond
}
