// SPDX-License-Identifier: Apache-2.0

package limit

import "testing"

// TestBudget: what one owner may not hold any more, another may.
func TestBudget(t *testing.T) {
	b := NewBudget(250, 100)
	for i, step := range []struct {
		owner string
		by    int
		want  bool
		left  int
	}{
		{"a", 60, true, 40},
		{"a", 41, false, 40},
		{"a", 40, true, 0},
		{"b", 100, true, 0},
		{"c", 51, false, 50},
		{"a", -30, true, 30},
		{"c", 51, true, 29},
		{"c", -51, true, 80},
		{"a", -70, true, 100},
		{"b", -100, true, 100},
	} {
		if got, left := b.Change(step.owner, step.by), b.Left(step.owner); got != step.want || left != step.left {
			t.Errorf("step %d, %s %+d: %t with %d left, want %t with %d", i, step.owner, step.by, got, left, step.want, step.left)
		}
	}
	if len(b.owners) > 0 || b.taken != 0 {
		t.Errorf("nothing is held, and %v is remembered", b.owners)
	}
}
