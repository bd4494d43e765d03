// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"math"
	"runtime/debug"
)

// FitsMemory is how many things of a size in bytes fit into a share (0 to 1) of the memory that the process may use
// (GOMEMLIMIT), and at most so many, which is the answer where no limit is set.
func FitsMemory(share float64, size int64, most int) int {
	return fits(debug.SetMemoryLimit(-1), share, size, most) // A negative limit changes nothing.
}

func fits(memory int64, share float64, size int64, most int) int {
	if memory == math.MaxInt64 {
		return most
	}
	return max(1, min(most, int(float64(memory)*share)/int(size)))
}
