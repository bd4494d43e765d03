// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"runtime"
	"testing"

	"golang.org/x/sync/semaphore"
)

// Load is how much of the machine a test takes while it runs.
type Load int

const (
	// Light is a test that mostly waits for deadlines and for other processes.
	Light Load = iota
	// Browsers is a test in which browsers show video. Pages that get no processor time miss their deadlines.
	Browsers
)

var cores = int64(runtime.GOMAXPROCS(0))

var (
	// running has a place for each core and one more: every test waits for something now and then.
	running = semaphore.NewWeighted(cores + 1)
	// showing has the places that tests with browsers may take: one stays for a light one.
	showing = semaphore.NewWeighted(cores)
)

// Parallel has a test run beside others, once the machine has room for it. It comes first in a test: what the test starts
// is started afterwards, and ends before the next test gets its room.
func Parallel(t *testing.T, load Load) {
	t.Helper()
	t.Parallel()
	if load == Browsers {
		acquire(t, showing)
	}
	acquire(t, running)
}

func acquire(t *testing.T, places *semaphore.Weighted) {
	t.Helper()
	if err := places.Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { places.Release(1) })
}
