// SPDX-License-Identifier: Apache-2.0

//go:build slow

package observer

import (
	"math/rand/v2"
	"testing"
)

// As TestRandomLivesOverTwoMediaServers, with other lives each time.
func TestManyRandomLivesOverTwoMediaServers(t *testing.T) {
	seeds := make([]uint64, 2000)
	for i := range seeds {
		seeds[i] = rand.Uint64()
	}
	liveRandomly(t, seeds, map[string]int{})
}
