// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// closed are the rooms that were closed since the last time.
func closed(f *faultyengine.Engine) (rooms string) {
	var all []string
	for _, call := range f.Took() {
		if name, ok := strings.CutPrefix(call, "close "); ok {
			all = append(all, name)
		}
	}
	return strings.Join(all, " ")
}

func TestStraysAreClosedAfterTwoLooks(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.meeting("ended", v1alpha1.MeetingEnded)
	l.meeting("live", v1alpha1.MeetingActive)
	l.meeting("ending", v1alpha1.MeetingEnding)
	l.meeting("pending", v1alpha1.MeetingPending)
	for _, name := range []string{"ended", "live", "ending", "pending"} {
		f.Set(roomName("a", name), "anna")
	}
	f.Set(roomName("another-installation", "x"), "bob")
	f.Set("lobby-of-another-program", "eve")
	l.pass(0)
	if rooms := closed(f); rooms != "" {
		t.Errorf("at the first look: %s", rooms)
	}
	f.Break("close", faultyengine.ErrUnavailable)
	l.pass(time.Second)
	if rooms := closed(f); rooms != string(roomName("a", "ended")) {
		t.Errorf("at the second look: %s", rooms)
	}
	l.pass(time.Second)
	if rooms := closed(f); rooms != string(roomName("a", "ended")) {
		t.Errorf("after a close that failed: %s", rooms)
	}
	l.pass(time.Second)
	if rooms := closed(f); rooms != "" {
		t.Errorf("less than two seconds after the second close that failed: %s", rooms)
	}
	f.Break("close", nil)
	l.pass(time.Second)
	f.Took()
	l.pass(unknownAfter)
	if rooms := closed(f); rooms != "" {
		t.Errorf("when it is closed: %s", rooms)
	}
	if left := f.Left(); len(left) != 5 {
		t.Errorf("rooms left: %v", left)
	}
}

// A stray that is not there for a look is no stray any more: it begins again.
func TestStrayMustBeSeenTwiceInARow(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.meeting("ended", v1alpha1.MeetingEnded)
	for range 3 {
		f.Set(roomName("a", "ended"))
		l.pass(time.Second)
		f.Lose()
		l.pass(time.Second)
	}
	if rooms := closed(f); rooms != "" {
		t.Errorf("closed: %s", rooms)
	}
}

// The engine may show a room before the cache shows its Meeting, and hints make looks follow each other quickly.
func TestRoomOfAFreshMeetingIsNotClosed(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	f.Set(roomName("a", "fresh"), "anna")
	l.pass(0)
	for range 9 {
		l.Hint(roomName("a", "fresh"))
		l.pass(200 * time.Millisecond)
		l.pass(800 * time.Millisecond)
	}
	if rooms := closed(f); rooms != "" {
		t.Fatalf("closed: %s", rooms)
	}
	l.meeting("fresh", v1alpha1.MeetingActive)
	l.pass(unknownAfter)
	l.pass(unknownAfter)
	if rooms := closed(f); rooms != "" {
		t.Errorf("closed: %s", rooms)
	}
}

func TestRoomWithoutAMeetingIsClosedInTheEnd(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	f.Set(roomName("a", "unknown"), "anna")
	l.pass(0)
	l.pass(unknownAfter - time.Millisecond)
	if rooms := closed(f); rooms != "" {
		t.Errorf("too early: %s", rooms)
	}
	l.pass(listEvery)
	if rooms := closed(f); rooms != string(roomName("a", "unknown")) {
		t.Errorf("closed: %q", rooms)
	}
}

// The cache may be behind for much longer than that: before people are thrown out, the API server is asked.
func TestRoomOfAMeetingThatOnlyTheAPIKnowsIsNotClosed(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	f.Set(roomName("a", "newer"), "anna")
	f.Set(roomName("a", "unknown"), "bob")
	l.newer = []v1alpha1.Meeting{{ObjectMeta: metav1.ObjectMeta{UID: "newer"}}}
	l.apiError = faultyengine.ErrUnavailable
	for range 3 {
		l.pass(unknownAfter)
	}
	if rooms := closed(f); rooms != "" {
		t.Fatalf("closed though nobody could say whether it has a Meeting: %s", rooms)
	}
	l.apiError = nil
	l.pass(unknownAfter)
	if rooms := closed(f); rooms != string(roomName("a", "unknown")) {
		t.Errorf("closed: %s", rooms)
	}
	l.newer = nil
	l.pass(unknownAfter)
	if rooms := closed(f); rooms != string(roomName("a", "newer")) {
		t.Errorf("closed once its Meeting is gone: %s", rooms)
	}
}

// A list that could not be read closes nothing, and counts for nothing.
func TestNoStraysWhileTheEngineIsAway(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	f.Set(roomName("a", "unknown"), "anna")
	l.pass(0)
	f.Break("rooms", faultyengine.ErrUnavailable)
	l.pass(unknownAfter)
	if rooms := closed(f); rooms != "" {
		t.Errorf("closed: %s", rooms)
	}
}

// Two tenants reach one LiveKit with two keys, from two namespaces. The cache does not have a Meeting of the second yet:
// the look with the key of the first must not close its room.
func TestRoomOfAnotherKeysTenantIsNotClosed(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	mediaB, other := l.engine("b")
	mediaB.Server = engine.Server{URL: "http://a", Key: "another"}
	l.tenants[1].Namespace = "other"
	f.ShareRooms(other)
	f.Set(roomName("b", "newer"), "anna", "bob")
	l.newer = []v1alpha1.Meeting{{ObjectMeta: metav1.ObjectMeta{Namespace: "other", UID: "newer"}}}
	for range 4 {
		l.pass(unknownAfter)
	}
	if rooms := closed(f) + closed(other); rooms != "" {
		t.Errorf("closed: %s", rooms)
	}
}

// A ConferenceConfig went while its LiveKit was away. When that is back, the rooms are closed, and people go where their
// meetings said, also those of a Meeting that has lost its ConferenceConfig.
func TestRoomsOfAGoneConfigAreClosed(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.engine("b")
	gone, orphan, redirect := roomName("a", "gone"), roomName("a", "orphan"), v1alpha1.URL("https://x.example/bye")
	l.meeting("orphan", v1alpha1.MeetingPending)
	l.meetings[0].Spec.Redirect = redirect
	f.Set(gone, "anna")
	f.Set(orphan, "bob")
	l.configs = map[string]types.UID{"a": "a"}
	l.pass(0)
	f.Break("rooms", faultyengine.ErrUnavailable)
	l.tenants = l.tenants[1:]
	l.pass(5 * time.Minute)
	f.Break("rooms", nil)
	for range 3 {
		l.pass(unknownAfter)
	}
	if rooms := closed(f); rooms != "" {
		t.Fatalf("closed though the API server still has the ConferenceConfig: %s", rooms)
	}
	l.configs = map[string]types.UID{"a": "the-next-of-its-name"}
	l.graves = map[string]meeting.View{"gone": {Redirect: "https://x.example/thanks"}}
	for range 3 {
		l.pass(longestStrayPause)
	}
	if left := f.Left(); len(left) != 0 || f.SentTo(gone) != "https://x.example/thanks" || f.SentTo(orphan) != string(redirect) {
		t.Errorf("left: %v, sent to %q and %q", left, f.SentTo(gone), f.SentTo(orphan))
	}
	if reach := l.Reachable(); len(reach) != 1 {
		t.Errorf("an engine that no tenant uses counts as one that should answer: %v", reach)
	}
	l.pass(goneQuiet)
	f.Took()
	l.pass(time.Second)
	if calls := f.Took(); len(calls) != 0 {
		t.Errorf("it is still looked at: %q", calls)
	}
}

// An ended Meeting's redirect holds for those whom its end did not reach.
func TestStraysAreSentWhereTheirMeetingSaid(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.meeting("ended", v1alpha1.MeetingEnded)
	l.meetings[0].Spec.Redirect = "https://x.example/bye"
	f.Set(roomName("a", "ended"), "anna")
	l.pass(0)
	l.pass(time.Second)
	if to := f.SentTo(roomName("a", "ended")); to != "https://x.example/bye" {
		t.Errorf("sent to %q", to)
	}
}

// While a room without a Meeting cannot be closed, the API server is asked ever more seldom.
func TestStraysThatCannotBeClosedAreTriedMoreSeldom(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	f.Set(roomName("a", "unknown"), "anna")
	f.Break("close", faultyengine.ErrUnavailable)
	l.passes(5 * time.Minute)
	if tries := strings.Count(closed(f), "unknown"); tries < 5 || tries > 12 || l.asked != tries {
		t.Errorf("in five minutes it was tried %d times, and the API asked %d times", tries, l.asked)
	}
}

// No Meeting comes back that the cache saw go: nothing has to be waited for.
func TestRoomsOfDeletedMeetingsAreClosedAtOnce(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	deleted := []engine.RoomName{roomName("a", "deleted"), meeting.WaitingRoom(roomName("a", "deleted"))}
	lives := roomName("a", "fresh")
	for _, room := range append(deleted, lives, roomName("a", "unknown")) {
		f.Set(room, "anna")
	}
	l.graves = map[string]meeting.View{
		"deleted": {UID: "deleted", Ended: true, Redirect: "https://example.com/after"},
		"fresh":   {UID: "fresh"}, // The cache learns of it between the two questions.
	}
	l.pass(0)
	l.pass(time.Second)
	if left := f.Left(); !slices.Equal(left, []engine.RoomName{lives, roomName("a", "unknown")}) {
		t.Errorf("there are the rooms %q", left)
	}
	for _, room := range deleted {
		if to := f.SentTo(room); to != "https://example.com/after" {
			t.Errorf("those of %s were sent to %q", room, to)
		}
	}
}
