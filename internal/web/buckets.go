// SPDX-License-Identifier: Apache-2.0

package web

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"k8s.io/apimachinery/pkg/types"
)

// maxBuckets bounds the memory of all limits of one kind: about 10 MB. Beyond it the one that was not used for longest
// is forgotten, which gives its owner a full one again.
const maxBuckets = 1 << 16

// rate is how fast a bucket fills, and how much it holds.
type rate struct {
	every time.Duration
	burst int
}

// What a bucket limits.
type bucketUse byte

const (
	bucketPasswords bucketUse = iota
	bucketLogins
	bucketCalls
)

// bucketKey names a bucket, in a fixed size whatever the subject is.
type bucketKey struct {
	tenant  types.UID
	what    bucketUse
	from    netip.Addr
	subject [16]byte
}

func subjectOf(name string) (subject [16]byte) {
	sum := sha256.Sum256([]byte(name))
	copy(subject[:], sum[:])
	return subject
}

// buckets are token buckets in the form of the generic cell rate algorithm (ITU-T I.371): of each only the time is
// kept at which it would be full.
type buckets struct {
	mu     sync.Mutex
	fullAt *simplelru.LRU[bucketKey, time.Time]
}

func newBuckets() *buckets {
	// The error is for a size below one.
	lru, _ := simplelru.NewLRU[bucketKey, time.Time](maxBuckets, nil)
	return &buckets{fullAt: lru}
}

// take takes one from a bucket, or says how long until there is one.
func (b *buckets) take(key bucketKey, r rate, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fullAt, ok := b.fullAt.Get(key)
	if !ok || fullAt.Before(now) {
		fullAt = now
	}
	fullAt = fullAt.Add(r.every)
	if wait := fullAt.Sub(now) - time.Duration(r.burst)*r.every; wait > 0 {
		return wait
	}
	b.fullAt.Add(key, fullAt)
	return 0
}

// giveBack undoes a take.
func (b *buckets) giveBack(key bucketKey, r rate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if fullAt, ok := b.fullAt.Get(key); ok {
		b.fullAt.Add(key, fullAt.Add(-r.every))
	}
}
