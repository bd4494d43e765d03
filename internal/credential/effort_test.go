// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestHalfOfTheProcessorsAreKeptFree: password checks that anybody can ask for leave the rest to other requests.
func TestHalfOfTheProcessorsAreKeptFree(t *testing.T) {
	most := max(1, runtime.GOMAXPROCS(0)/2)
	var all sync.WaitGroup
	var busy, peak atomic.Int32
	full := make(chan struct{})
	isFull := sync.OnceFunc(func() { close(full) })
	for range 4 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			withEffort(0, func() {
				n := busy.Add(1)
				defer busy.Add(-1)
				for was := peak.Load(); n > was && !peak.CompareAndSwap(was, n); was = peak.Load() {
				}
				if int(n) >= most {
					isFull()
				}
				<-full
			})
		})
	}
	all.Wait()
	if int(peak.Load()) != most {
		t.Errorf("%d at once, want %d", peak.Load(), most)
	}
}
