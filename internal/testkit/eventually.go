// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"testing"
	"time"
)

const pollInterval = 20 * time.Millisecond

// Eventually fails the test unless check returns nil within the timeout. The last error is shown. It is a wait for a
// condition, not a measurement: give generous timeouts.
func Eventually(t testing.TB, timeout time.Duration, check func() error) {
	t.Helper()
	if err := poll(timeout, check); err != nil {
		t.Fatalf("not so after %s: %v", timeout, err)
	}
}

func poll(timeout time.Duration, check func() error) error {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-deadline.C:
			return err
		case <-tick.C:
		}
	}
}
