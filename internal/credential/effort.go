// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"

	"convene.dev/convene/internal/fault"
)

// effortBudget is the memory in KiB that password hashing may use at once in this process.
const effortBudget = 256 << 10

var (
	effort = semaphore.NewWeighted(effortBudget)
	// effortShare is the least that one computation takes of the budget, so that they keep at most half of the processors
	// busy, and one where there is only one: every other request needs the rest.
	effortShare = int64(effortBudget / max(1, min(runtime.GOMAXPROCS(0)/2, effortBudget)))
)

// ErrBusy is for a password that could not be looked at before the time of a request was over.
var ErrBusy = fault.Unavailable("The service is busy with other passwords; try again in a moment")

// withEffort runs a computation that takes that much memory, in KiB and at most effortBudget, when there is room for it. It is ErrBusy
// if there is none before the context ends.
func withEffort(ctx context.Context, memory int64, compute func()) error {
	weight := max(memory, effortShare)
	if err := effort.Acquire(ctx, weight); err != nil {
		return ErrBusy.Because(err)
	}
	defer effort.Release(weight)
	compute()
	return nil
}
