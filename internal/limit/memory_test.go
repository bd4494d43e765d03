// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"math"
	"testing"
)

func TestFits(t *testing.T) {
	for _, tc := range []struct {
		reason string
		memory int64
		share  float64
		want   int
	}{
		{"no limit", math.MaxInt64, 0.5, 1000},
		{"room for more than the most", 1 << 40, 0.5, 1000},
		{"a half", 1 << 20, 0.5, 512},
		{"room for none", 100, 0.5, 1},
	} {
		if got := fits(tc.memory, tc.share, 1<<10, 1000); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.reason, got, tc.want)
		}
	}
}
