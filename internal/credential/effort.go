// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"context"
	"math"
	"net/netip"
	"runtime"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
)

// Turn is whose turn a password is. Namespaces take turns; in a namespace, backends and people; among people, sites.
type Turn struct {
	// Namespace is that of the ConferenceConfig: one team may have a hundred of these.
	Namespace string
	// Site is where the person is. A backend has none.
	Site netip.Prefix
}

// lane is what takes turns with all others.
type lane struct {
	namespace string
	backend   bool
}

// effortMemory is the share of the memory that password hashing may use at once, and maxEffort how much that is where the memory has no limit,
// in KiB. There is room for any hash that is allowed.
const effortMemory, maxEffort = 1. / 6, 256 << 10

var (
	effortBudget = max(maxArgon2Memory, limit.FitsMemory(effortMemory, 1<<10, maxEffort))
	// effortShare is the least that one computation takes of the budget, so that they keep at most half of the processors
	// busy, and one where there is only one: every other request needs the rest.
	effortShare = effortBudget / max(1, min(runtime.GOMAXPROCS(0)/2, effortBudget))
	// lanes have the budget. No lane and no site waits for more than the whole budget at once, so that they take turns.
	lanes = limit.NewShares[lane](effortBudget, effortBudget)
	sites = limit.NewShares[Turn](math.MaxInt, effortBudget)
)

// ErrBusy is for a password that could not be looked at before the time of a request was over.
var ErrBusy = fault.Unavailable("Too many password checks at once; try again in a moment")

// withEffort runs a computation that takes that much memory, in KiB and at most maxArgon2Memory, when it is its turn. It is ErrBusy if
// that is not before the context ends.
func withEffort(ctx context.Context, turn Turn, memory int, compute func()) error {
	weight := max(memory, effortShare)
	ofSite, err := sites.TakeN(ctx, turn, weight)
	if err != nil {
		return ErrBusy.Because(err)
	}
	defer ofSite()
	ofLane, err := lanes.TakeN(ctx, lane{turn.Namespace, !turn.Site.IsValid()}, weight)
	if err != nil {
		return ErrBusy.Because(err)
	}
	defer ofLane()
	compute()
	return nil
}
