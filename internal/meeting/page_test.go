// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestPagesHaveEachEntryOnce reads lists page by page, while entries leave them.
func TestPagesHaveEachEntryOnce(t *testing.T) {
	type entry struct {
		place Cursor
		left  bool
		read  int
	}
	placeOf := func(e *entry) Cursor {
		if e.left {
			return Cursor{}
		}
		return e.place
	}
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 0))
		list := make([]*entry, random.IntN(20))
		for i := range list {
			list[i] = &entry{place: Cursor{time.UnixMilli(random.Int64N(3)), fmt.Sprintf("%d.%d", random.IntN(5), i)}}
		}
		slices.SortFunc(list, func(a, b *entry) int { return a.place.Compare(b.place) })
		p := Page{Limit: 1 + random.IntN(5)}
		for {
			page, next := Cut(list, p, placeOf)
			for _, e := range page {
				e.read++
			}
			if len(page) > p.Limit || next != (Cursor{}) && len(page) < p.Limit {
				t.Fatalf("seed %d: %d entries on a page of %d, and next is %q", seed, len(page), p.Limit, next)
			}
			var ok bool
			if p.After, ok = ParseCursor(next.String()); !ok {
				t.Fatalf("seed %d: %q cannot be read", seed, next)
			}
			if next == (Cursor{}) {
				break
			}
			list[random.IntN(len(list))].left = true
		}
		for _, e := range list {
			if e.read > 1 || e.read == 0 && !e.left {
				t.Fatalf("seed %d: %v was read %d times", seed, e.place, e.read)
			}
		}
	}
}

func TestCursorsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"1", ".", "1.", ".a", "a.b", "1e3.a", "99999999999999999999.a", " 1.a"} {
		if c, ok := ParseCursor(text); ok {
			t.Errorf("%q is read as %v", text, c)
		}
	}
}
