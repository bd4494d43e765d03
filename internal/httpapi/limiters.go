// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxLimiters is how many limiters a generation holds: two generations take about 2 MiB.
const maxLimiters = 4096

// limiters is a bounded set of token buckets. When a generation is full it becomes the old one, and what was in the old
// one and not used since is forgotten: a forgotten bucket is a full one again.
type limiters[K comparable] struct {
	mu       sync.Mutex
	now, old map[K]*rate.Limiter
}

// take takes one token out of a bucket, with those settings, and returns how long to wait when there is none.
func (l *limiters[K]) take(key K, limit rate.Limit, burst int, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket := l.bucket(key, limit, burst)
	if bucket.Limit() != limit {
		bucket.SetLimitAt(now, limit)
	}
	if bucket.Burst() != burst {
		bucket.SetBurstAt(now, burst)
	}
	reservation := bucket.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

func (l *limiters[K]) bucket(key K, limit rate.Limit, burst int) *rate.Limiter {
	if bucket := l.now[key]; bucket != nil {
		return bucket
	}
	bucket := l.old[key]
	if bucket == nil {
		bucket = rate.NewLimiter(limit, burst)
	}
	if l.now == nil || len(l.now) >= maxLimiters {
		l.old, l.now = l.now, make(map[K]*rate.Limiter)
	}
	l.now[key] = bucket
	return bucket
}
