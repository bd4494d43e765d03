// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"context"
	"sync"
)

// holding is what some work holds of Budgets until it ends.
type holding struct {
	mu    sync.Mutex
	taken map[held]int
	ended bool
}

type held struct {
	of    *Budget
	owner string
}

type holdingKey struct{}

// Holding returns a context for some work, which holds until end is called what it takes with Hold.
func Holding(ctx context.Context) (_ context.Context, end func()) {
	h := &holding{taken: map[held]int{}}
	return context.WithValue(ctx, holdingKey{}, h), h.end
}

// Hold takes what the innermost Holding of a context holds from now on. It reports false, and takes nothing, where there is not so much. In a
// context without Holding it takes nothing and reports true.
func (b *Budget) Hold(ctx context.Context, owner string, n int) bool {
	h, ok := ctx.Value(holdingKey{}).(*holding)
	if !ok {
		return true
	}
	if !b.Change(owner, n) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ended {
		b.Change(owner, -n)
	} else {
		h.taken[held{b, owner}] += n
	}
	return true
}

func (h *holding) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	for of, n := range h.taken {
		of.of.Change(of.owner, -n)
	}
	clear(h.taken)
}
