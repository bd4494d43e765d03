// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"testing"

	"convene.dev/convene/internal/testkit"
)

// TestEveryRefusalLeavesARoomAsItWasOrAsAsked tries every command, each of its calls, and each way in which the call fails.
func TestEveryRefusalLeavesARoomAsItWasOrAsAsked(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	r := newRefusals(t, 32)
	t.Cleanup(func() { t.Logf("%d refusals of %d commands", r.tried.Load(), len(commands)) })
	// To look into a room that has a meeting changes nothing there: the command comes again after it.
	hasMeeting := func(c command) bool { return c.in == liveRoom || c.in == occupiedRoom }
	r.refuse(t, commandsWhere(hasMeeting), r.ways, []bool{false, true}, []bool{false})
	r.refuse(t, commandsWhere(func(c command) bool { return !hasMeeting(c) }), r.ways, []bool{false, true}, []bool{false, true})
}
