// SPDX-License-Identifier: Apache-2.0

package limit

import "sync"

// Budget counts something that owners hold, such as bytes of memory, and bounds what one owner and what all together hold. It is safe for
// concurrent use.
type Budget struct {
	all, each int

	mu     sync.Mutex
	taken  int
	owners map[string]int
}

// NewBudget makes a Budget of so much for all owners, and for each.
func NewBudget(all, each int) *Budget { return &Budget{all: all, each: each, owners: map[string]int{}} }

// assumedMemory is the memory, in bytes, of a process that has no limit.
const assumedMemory = 4 << 30

// NewMemoryBudget makes a Budget of bytes: parts (0 to 1) of the memory that the process may use (GOMEMLIMIT), 4 GiB where no limit is set.
func NewMemoryBudget(all, each float64) *Budget {
	return NewBudget(FitsMemory(all, 1, int(all*assumedMemory)), FitsMemory(each, 1, int(each*assumedMemory)))
}

// Size is what all owners together may hold, and each of them.
func (b *Budget) Size() (all, each int) { return b.all, b.each }

// Change adds to what an owner holds, or takes away from it where by is negative. It reports false, and changes nothing, where there is not
// so much.
func (b *Budget) Change(owner string, by int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.owners[owner] + by
	if by > 0 && (now > b.each || b.taken+by > b.all) {
		return false
	}
	b.taken += by
	if b.owners[owner] = now; now == 0 {
		delete(b.owners, owner)
	}
	return true
}

// Left is how much more an owner may hold.
func (b *Budget) Left(owner string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return min(b.each-b.owners[owner], b.all-b.taken)
}
