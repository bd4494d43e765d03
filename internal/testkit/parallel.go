// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"runtime"
	"testing"

	"golang.org/x/sync/semaphore"
)

// Load is how much of the machine a test takes while it runs.
type Load int64

const (
	// Light is a test that mostly waits for deadlines and for other processes.
	Light Load = 1
	// Browsers is a test in which browsers show video: two cores have room for one, beside a light one. Pages that get no
	// processor time miss their deadlines.
	Browsers Load = 3
)

// capacity is how much Load runs at once: two light tests for each core.
var capacity = 2 * int64(runtime.GOMAXPROCS(0))

var running = semaphore.NewWeighted(capacity)

// Parallel has a test run beside others, once the machine has room for it. It comes first in a test: what the test starts
// is started afterwards, and ends before the next test gets its room.
func Parallel(t *testing.T, load Load) {
	t.Helper()
	t.Parallel()
	if err := running.Acquire(t.Context(), int64(load)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { running.Release(int64(load)) })
}
