// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// effortBudget is the memory in KiB that password hashing may use at once in this process.
const effortBudget = 256 << 10

var (
	effort = semaphore.NewWeighted(effortBudget)
	// effortShare is the least that one computation takes of the budget, so that they keep at most half of the processors
	// busy, and one where there is only one: every other request needs the rest.
	effortShare = int64(effortBudget / max(1, min(runtime.GOMAXPROCS(0)/2, effortBudget)))
)

// withEffort runs a computation that takes that much memory, in KiB and at most effortBudget, when there is room for it.
func withEffort(memory int64, compute func()) {
	weight := max(memory, effortShare)
	_ = effort.Acquire(context.Background(), weight) // It fails only when the context ends.
	defer effort.Release(weight)
	compute()
}
