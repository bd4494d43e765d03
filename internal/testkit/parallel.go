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
	// Light is a test that mostly waits for deadlines and for other processes: one for each core.
	Light Load = iota
	// Browsers is a test in which browsers show video: one for two cores. Pages that get no processor time miss their deadlines.
	Browsers
)

var cores = int64(runtime.GOMAXPROCS(0))

// running has a semaphore for each Load: a test that waits for the browsers' turn must not keep a light one from running.
var running = map[Load]*semaphore.Weighted{
	Light:    semaphore.NewWeighted(cores),
	Browsers: semaphore.NewWeighted(max(1, cores/2)),
}

// Parallel has a test run beside others, once the machine has room for it. It comes first in a test: what the test starts
// is started afterwards, and ends before the next test gets its room.
func Parallel(t *testing.T, load Load) {
	t.Helper()
	t.Parallel()
	if err := running[load].Acquire(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { running[load].Release(1) })
}
