// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"net/netip"
	"testing"

	"convene.dev/convene/internal/engine"
)

func TestPlaces(t *testing.T) {
	d := newPlaces()
	const room, limit = engine.RoomName("room"), 3
	listed := []engine.Participant{{Identity: "listed"}}
	var leave []func()
	for _, c := range []struct {
		who  engine.Identity
		full bool
	}{
		{"ann", false}, {"bob", false}, {"cem", true}, {"ann", false}, {"listed", false}, {"dan", true},
	} {
		out, err := d.enter(room, c.who, netip.Prefix{}, listed, limit)
		if (err != nil) != c.full {
			t.Errorf("%s: %v", c.who, err)
		}
		if err == nil {
			leave = append(leave, out)
		}
	}
	if _, err := d.enter("other", "cem", netip.Prefix{}, nil, limit); err != nil {
		t.Errorf("another room: %v", err)
	}
	leave[0]() // the first of ann's two connections
	if !d.has(room, "ann") {
		t.Error("ann was counted out with one of her connections")
	}
	leave[2]()
	if d.has(room, "ann") {
		t.Error("ann is still counted in")
	}
	if _, err := d.enter(room, "cem", netip.Prefix{}, listed, limit); err != nil {
		t.Errorf("in ann's place: %v", err)
	}
}

// TestPlacesOfOneSite: whoever makes participants without an end, on each of two replicas, leaves places to others. A small room may be full of
// people of one site.
func TestPlacesOfOneSite(t *testing.T) {
	class, home := netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("198.51.100.1/32")
	for _, tc := range []struct{ limit, left int }{{1000, 75}, {100, 8}, {30, 0}, {1, 0}} {
		replicas := []*places{newPlaces(), newPlaces()}
		var listed []engine.Participant
		for n := range 2 * len(replicas) * tc.limit {
			who := engine.Identity(fmt.Sprint("guest-", n))
			at := replicas[n/(2*tc.limit)]
			if _, err := at.enter("room", who, class, listed, tc.limit); err == nil {
				listed = append(listed, engine.Participant{Identity: who})
			}
		}
		if left := tc.limit - len(listed); left != tc.left {
			t.Errorf("of %d places one site leaves %d, want %d", tc.limit, left, tc.left)
		}
		for n := range tc.left {
			who, at := engine.Identity(fmt.Sprint("other-", n)), replicas[n%2]
			from := netip.PrefixFrom(netip.AddrFrom4([4]byte{203, 0, 113, byte(n)}), 32)
			if at.isFull("room", who, from, listed, tc.limit) {
				t.Fatalf("of %d places, %d are left, and %s finds none", tc.limit, tc.left-n, who)
			}
			if _, err := at.enter("room", who, from, listed, tc.limit); err != nil {
				t.Fatal(err)
			}
			listed = append(listed, engine.Participant{Identity: who})
		}
		for _, at := range replicas {
			if !at.isFull("room", "one more", home, listed, tc.limit) {
				t.Errorf("of %d places one more is there", tc.limit)
			}
			if _, err := at.enter("room", listed[0].Identity, class, listed, tc.limit); err != nil {
				t.Errorf("of %d places, one who is in has none: %v", tc.limit, err)
			}
		}
	}
}
