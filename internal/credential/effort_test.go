// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"convene.dev/convene/internal/fault"
)

// TestHalfOfTheProcessorsAreKeptFree: password checks that anybody can ask for leave the rest to other requests.
func TestHalfOfTheProcessorsAreKeptFree(t *testing.T) {
	most := max(1, runtime.GOMAXPROCS(0)/2)
	begun, end := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range most {
		all.Go(func() {
			_ = withEffort(t.Context(), 0, func() {
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
	// Who waits for longer than there is time is told so, and nothing about the password.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := HashPassword(ctx, "open sesame"); !errors.Is(err, context.Canceled) || fault.As(err).Message != ErrBusy.Message {
		t.Errorf("a password to be hashed: %v", err)
	}
	close(end)
	all.Wait()
}
