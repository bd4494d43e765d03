// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestTake(t *testing.T) {
	b, r := New[string](10), Every(time.Second, 2)
	for i, tc := range []struct {
		key         string
		after, want time.Duration
	}{
		{"a", 0, 0},
		{"a", 0, 0},
		{"a", 0, time.Second},
		{"a", 0, time.Second},
		{"b", 0, 0},
		{"a", 1500 * time.Millisecond, 0},
		{"a", 1500 * time.Millisecond, 500 * time.Millisecond},
		{"a", time.Hour, 0},
		{"a", time.Hour, 0},
		{"a", time.Hour, time.Second},
	} {
		if got := b.Take(tc.key, r, start.Add(tc.after)); got != tc.want {
			t.Errorf("take %d, of %s after %s: wait %s, want %s", i, tc.key, tc.after, got, tc.want)
		}
	}
}

func TestEveryRateKeepsItsTime(t *testing.T) {
	for _, every := range []time.Duration{time.Millisecond, 7 * time.Millisecond, 200 * time.Millisecond, 6 * time.Second, time.Hour} {
		b, r, at := New[int](1), Every(every, 3), start
		for range r.Burst {
			b.Take(0, r, at)
		}
		for i := range 1000 {
			if wait := b.Take(0, r, at); wait != every {
				t.Fatalf("one per %s: the %d. wait is %s", every, i, wait)
			}
			at = at.Add(every)
			if wait := b.Take(0, r, at); wait != 0 {
				t.Fatalf("one per %s: after that time: %s", every, wait)
			}
		}
	}
}

// at is a clock that stands.
func at(now time.Time) func() time.Time { return func() time.Time { return now } }

// begin begins an attempt that has not to wait for another.
func begin[K comparable](t *testing.T, b *Buckets[K], key K, r Rate) func(counts bool) {
	t.Helper()
	done, err := b.Try(t.Context(), key, r, at(start))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestOnlyAttemptsThatCountTakeTokens(t *testing.T) {
	b, r := New[int](1), Every(time.Hour, 3)
	for range 100 {
		begin(t, b, 0, r)(false)
	}
	for range r.Burst {
		begin(t, b, 0, r)(true)
	}
	if _, err := b.Try(t.Context(), 0, r, at(start)); !errors.As(err, &WaitError{}) {
		t.Errorf("with all tokens taken: got %v, want a WaitError", err)
	}
}

// TestAttemptsAtOnce: of a hundred attempts, no more are under way than there are tokens. None is refused where none counts;
// where all count, as many succeed as there are tokens.
func TestAttemptsAtOnce(t *testing.T) {
	for _, counts := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b, r := New[int](1), Every(time.Hour, 3)
			var underWay, refused atomic.Int32
			finish := make(chan struct{})
			var all sync.WaitGroup
			for range 100 {
				all.Go(func() {
					done, err := b.Try(t.Context(), 0, r, at(start))
					if err != nil {
						refused.Add(1)
						return
					}
					underWay.Add(1)
					<-finish
					underWay.Add(-1)
					done(counts)
				})
			}
			most := int32(0)
			for synctest.Wait(); underWay.Load() > 0; synctest.Wait() {
				most = max(most, underWay.Load())
				finish <- struct{}{}
			}
			all.Wait()
			want := map[bool]int32{false: 0, true: 97}[counts]
			if most != 3 || refused.Load() != want {
				t.Errorf("%d at once, want 3; %d refused, want %d", most, refused.Load(), want)
			}
		})
	}
}

func TestAnAttemptWaitsNoLongerThanItMay(t *testing.T) {
	b, r := New[int](1), Every(time.Hour, 1)
	done := begin(t, b, 0, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Try(ctx, 0, r, at(start)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	done(false)
	begin(t, b, 0, r)(false)
	if n := len(b.all); n != 0 {
		t.Errorf("%d buckets of attempts that did not count", n)
	}
}

func TestARateThatChangesCountsAtOnce(t *testing.T) {
	b := New[int](1)
	b.Take(0, Every(time.Hour, 1), start)
	if wait := b.Take(0, Every(time.Second, 1), start); wait != time.Second {
		t.Errorf("wait %s", wait)
	}
}

// TestABucketThatIsNotFullIsNeverForgotten: however many other keys come, what a key has spent is spent.
func TestABucketThatIsNotFullIsNeverForgotten(t *testing.T) {
	const most = 100
	b, r := New[int](most), Every(time.Hour, 1)
	b.Take(-1, r, start)
	for i := range 10 * most {
		at := start.Add(time.Duration(i) * time.Second)
		if wait := b.Take(i, r, at); i >= most && wait != fullSweepInterval {
			t.Fatalf("key %d: wait %s where there is no room", i, wait)
		}
		if wait := b.Take(-1, r, at); wait == 0 {
			t.Fatalf("forgotten after %d others", i)
		}
	}
	if n := len(b.all); n != most {
		t.Errorf("%d buckets, want %d", n, most)
	}
	later := start.Add(2 * time.Hour)
	if wait := b.Take(10*most, r, later); wait != 0 {
		t.Errorf("wait %s when the buckets are full again", wait)
	}
	if n := len(b.all); n != 1 {
		t.Errorf("%d buckets, want the new one", n)
	}
}

// TestManyTokensAtOnce: the bucket owes what it does not have, and gives nothing until that is paid.
func TestManyTokensAtOnce(t *testing.T) {
	b, r := New[string](10), Every(time.Second, 10)
	for _, tc := range []struct {
		n           int
		after, wait time.Duration
	}{
		{n: 9},
		{n: 10}, // One is there, and nine are owed.
		{n: 1, wait: 10 * time.Second},
		{n: 1, after: 9 * time.Second, wait: time.Second},
		{n: 1000, after: 10 * time.Second}, // As many as a bucket holds.
		{n: 1, after: 10 * time.Second, wait: 10 * time.Second},
		{n: 1, after: time.Hour},
	} {
		if wait := b.TakeN("a", r, tc.n, start.Add(tc.after)); wait != tc.wait {
			t.Errorf("%d after %s: wait %s, want %s", tc.n, tc.after, wait, tc.wait)
		}
	}
}

func TestWhatDoesNotCountLeavesNothing(t *testing.T) {
	b, r := New[int](10), Every(time.Second, 3)
	for i := range 5 {
		begin(t, b, i, r)(false)
	}
	if n := len(b.all); n != 0 {
		t.Errorf("%d buckets of attempts that did not count", n)
	}
}
