// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"sync"
	"testing"
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

func TestOnlyAttemptsThatCountTakeTokens(t *testing.T) {
	b, r := New[int](1), Every(time.Second, 3)
	for range 100 {
		done, wait := b.Try(0, r, start)
		if wait != 0 {
			t.Fatalf("an attempt that did not count was counted: wait %s", wait)
		}
		done(false)
	}
	for range r.Burst {
		done, _ := b.Try(0, r, start)
		done(true)
	}
	if _, wait := b.Try(0, r, start); wait != time.Second {
		t.Errorf("wait %s after those that counted", wait)
	}
}

func TestAttemptsAtOnceAreNoMoreThanTokens(t *testing.T) {
	b, r := New[int](1), Every(time.Second, 3)
	var let sync.WaitGroup
	open := make(chan func(bool), 100)
	for range cap(open) {
		let.Go(func() {
			if done, wait := b.Try(0, r, start); wait == 0 {
				open <- done
			}
		})
	}
	let.Wait()
	if len(open) != r.Burst {
		t.Fatalf("%d attempts at once, want %d", len(open), r.Burst)
	}
	(<-open)(false)
	if wait := b.Take(0, r, start); wait != 0 {
		t.Errorf("the token of an attempt that did not count is gone: wait %s", wait)
	}
	if wait := b.Take(0, r, start); wait != time.Second {
		t.Errorf("wait %s while attempts are under way", wait)
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

func TestWhatDoesNotCountLeavesNothing(t *testing.T) {
	b, r := New[int](10), Every(time.Second, 3)
	for i := range 5 {
		done, _ := b.Try(i, r, start)
		done(false)
	}
	if n := len(b.all); n != 0 {
		t.Errorf("%d buckets of attempts that did not count", n)
	}
}
