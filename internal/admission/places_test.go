// SPDX-License-Identifier: Apache-2.0

package admission

import (
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
		out, err := d.enter(room, c.who, listed, limit)
		if (err != nil) != c.full {
			t.Errorf("%s: %v", c.who, err)
		}
		if err == nil {
			leave = append(leave, out)
		}
	}
	if _, err := d.enter("other", "cem", nil, limit); err != nil {
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
	if _, err := d.enter(room, "cem", listed, limit); err != nil {
		t.Errorf("in ann's place: %v", err)
	}
}
