// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	"convene.dev/convene/internal/engine"
)

// A webhook reaches any replica. The one that leads looks, the others pass it on, and keep nothing.
func TestHintsGoToTheReplicaThatLeads(t *testing.T) {
	var seen, sent []string
	known := func(room engine.RoomName) bool { return room == "known" }
	leader := &hints{known: known, forward: func(room string) { t.Errorf("the leader passes on %s", room) }}
	stop := leader.to(func(room engine.RoomName) { seen = append(seen, string(room)) })
	standby := &hints{known: known, forward: func(room string) {
		sent = append(sent, room)
		leader.forwarded(room)
	}}
	standby.give(nil, "known")
	standby.give(nil, "made up")
	leader.give(nil, "new")
	if !slices.Equal(sent, []string{"known", "made up"}) {
		t.Errorf("passed on: %q", sent)
	}
	if !slices.Equal(seen, []string{"known", "new"}) {
		t.Errorf("looked at: %q", seen)
	}
	stop()
	leader.forwarded("known")
	if len(seen) != 2 {
		t.Error("a replica that leads no longer looks")
	}
	(&hints{known: known}).give(nil, "known") // There is no other replica, and this one does not lead yet.
}
