// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/meeting"
)

// TestATestRoomIsRemovedInTime: a test room is removed at its end and not before, even while a participant stays in it. Until then
// the observer does not look into it and does not count it.
func TestATestRoomIsRemovedInTime(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	room := meeting.TestRoom{ConfigUID: "a", MediaServer: "tag", Ends: l.now().Add(meeting.TestDuration), ID: "id"}.Name()
	f.Set(room, "anna", "receiver")
	l.pass(0)
	l.pass(unknownAfter)
	l.pass(meeting.TestDuration - unknownAfter - time.Second)
	calls := f.Took()
	if slices.ContainsFunc(calls, func(call string) bool { return strings.HasSuffix(call, string(room)) }) {
		t.Errorf("before its end: %v", calls)
	}
	if rooms, participants := l.Counts(media.Server); rooms != 0 || participants != 0 {
		t.Errorf("it counts as %d rooms with %d participants", rooms, participants)
	}
	l.pass(time.Second)
	l.pass(time.Second)
	if rooms := closed(f); rooms != string(room) {
		t.Errorf("after its end: closed %q", rooms)
	}
	if changed, _ := l.heard(); len(changed) > 0 || l.asked > 0 {
		t.Errorf("it woke %v, and asked the API server %d times", changed, l.asked)
	}
}
