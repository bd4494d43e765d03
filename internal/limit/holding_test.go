// SPDX-License-Identifier: Apache-2.0

package limit

import "testing"

func TestHolding(t *testing.T) {
	b := NewBudget(10, 8)
	left := func(why string, want int) {
		t.Helper()
		if got := b.Left("one"); got != want {
			t.Errorf("%s: %d left, want %d", why, got, want)
		}
	}
	if !b.Hold(t.Context(), "one", 100) {
		t.Error("work that holds nothing is refused")
	}
	left("nothing is held", 8)
	outer, endOuter := Holding(t.Context())
	inner, endInner := Holding(outer)
	if !b.Hold(outer, "one", 3) || !b.Hold(inner, "one", 2) || !b.Hold(inner, "one", 1) {
		t.Error("there is enough")
	}
	left("both hold", 2)
	if b.Hold(inner, "one", 3) || b.Hold(outer, "two", 5) {
		t.Error("there is not so much")
	}
	left("what is refused is not taken", 2)
	endInner()
	left("the inner work has ended", 5)
	if !b.Hold(inner, "one", 1) {
		t.Error("after its end")
	}
	left("what is taken after the end is given back", 5)
	endOuter()
	endOuter()
	left("both have ended", 8)
}
