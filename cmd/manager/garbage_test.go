// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestAllowedGarbage(t *testing.T) {
	for _, tc := range []struct {
		reason string
		live   uint64
		want   int
	}{
		{"nothing is known yet", 0, 400},
		{"an empty cache", 4 << 20, 400},
		{"a few meetings", 12 << 20, 200},
		{"as Go would", 24 << 20, 100},
		{"10,000 meetings", 48 << 20, 50},
		{"many more: a part of what is in use", 1 << 30, 40},
	} {
		if got := allowed(tc.live); got != tc.want {
			t.Errorf("%s: %d %%, want %d %%", tc.reason, got, tc.want)
		}
	}
}
