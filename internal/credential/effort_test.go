// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"runtime"
	"sync"
	"testing"
)

// TestHalfOfTheProcessorsAreKeptFree: password checks that anybody can ask for leave the rest to other requests.
func TestHalfOfTheProcessorsAreKeptFree(t *testing.T) {
	most := max(1, runtime.GOMAXPROCS(0)/2)
	begun, end := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range most {
		all.Go(func() {
			withEffort(0, func() {
				begun <- struct{}{}
				<-end
			})
		})
	}
	for range most {
		<-begun
	}
	if effort.TryAcquire(effortShare) {
		effort.Release(effortShare)
		t.Errorf("there is room for another check beside %d", most)
	}
	close(end)
	all.Wait()
}
