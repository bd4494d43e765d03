// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
)

// closed are the rooms that were closed since the last time.
func (f *faulty) closed() (rooms string) {
	var all []string
	for _, call := range f.took() {
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
		f.set(room("a", name), "anna")
	}
	f.set(room("another-installation", "x"), "bob")
	f.set("lobby-of-another-program", "eve")
	l.pass(0)
	if closed := f.closed(); closed != "" {
		t.Errorf("at the first look: %s", closed)
	}
	f.breakVerb("close", errAway)
	l.pass(time.Second)
	if closed := f.closed(); closed != string(room("a", "ended")) {
		t.Errorf("at the second look: %s", closed)
	}
	l.pass(time.Second)
	if closed := f.closed(); closed != string(room("a", "ended")) {
		t.Errorf("after a close that failed: %s", closed)
	}
	l.pass(time.Second)
	if closed := f.closed(); closed != "" {
		t.Errorf("less than two seconds after the second close that failed: %s", closed)
	}
	f.breakVerb("close", nil)
	l.pass(time.Second)
	f.took()
	l.pass(unknownAfter)
	if closed := f.closed(); closed != "" {
		t.Errorf("when it is closed: %s", closed)
	}
	if len(f.rooms) != 5 {
		t.Errorf("rooms left: %v", f.rooms)
	}
}

// A stray that is not there for a look is no stray any more: it begins anew.
func TestStrayMustBeSeenTwiceInARow(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.meeting("ended", v1alpha1.MeetingEnded)
	for range 3 {
		f.set(room("a", "ended"))
		l.pass(time.Second)
		f.lose()
		l.pass(time.Second)
	}
	if closed := f.closed(); closed != "" {
		t.Errorf("closed: %s", closed)
	}
}

// The engine may show a room before the cache shows its Meeting, and hints make looks follow each other quickly.
func TestRoomOfAFreshMeetingIsNotClosed(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	f.set(room("a", "fresh"), "anna")
	l.pass(0)
	for range 9 {
		l.Hint(room("a", "fresh"))
		l.pass(200 * time.Millisecond)
		l.pass(800 * time.Millisecond)
	}
	if closed := f.closed(); closed != "" {
		t.Fatalf("closed: %s", closed)
	}
	l.meeting("fresh", v1alpha1.MeetingActive)
	l.pass(unknownAfter)
	l.pass(unknownAfter)
	if closed := f.closed(); closed != "" {
		t.Errorf("closed: %s", closed)
	}
}

func TestRoomWithoutAMeetingIsClosedInTheEnd(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	f.set(room("a", "unknown"), "anna")
	l.pass(0)
	l.pass(unknownAfter - time.Millisecond)
	if closed := f.closed(); closed != "" {
		t.Errorf("too early: %s", closed)
	}
	l.pass(time.Millisecond)
	if closed := f.closed(); closed != string(room("a", "unknown")) {
		t.Errorf("closed: %q", closed)
	}
}

// The cache may be behind for much longer than that: before people are thrown out, the cluster's API is asked.
func TestRoomOfAMeetingThatOnlyTheAPIKnowsIsNotClosed(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	f.set(room("a", "newer"), "anna")
	f.set(room("a", "unknown"), "bob")
	l.newer = []v1alpha1.Meeting{{ObjectMeta: metav1.ObjectMeta{UID: "newer"}}}
	l.apiError = errAway
	for range 3 {
		l.pass(unknownAfter)
	}
	if closed := f.closed(); closed != "" {
		t.Fatalf("closed though nobody could say whether it has a Meeting: %s", closed)
	}
	l.apiError = nil
	l.pass(unknownAfter)
	if closed := f.closed(); closed != string(room("a", "unknown")) {
		t.Errorf("closed: %s", closed)
	}
	l.newer = nil
	l.pass(unknownAfter)
	if closed := f.closed(); closed != string(room("a", "newer")) {
		t.Errorf("closed once its Meeting is gone: %s", closed)
	}
}

// A list that could not be read closes nothing, and counts for nothing.
func TestNoStraysWhileTheEngineIsAway(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	f.set(room("a", "unknown"), "anna")
	l.pass(0)
	f.breakVerb("rooms", errAway)
	l.pass(unknownAfter)
	if closed := f.closed(); closed != "" {
		t.Errorf("closed: %s", closed)
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
	other.rooms = f.rooms // It is the same LiveKit.
	f.set(room("b", "newer"), "anna", "bob")
	l.newer = []v1alpha1.Meeting{{ObjectMeta: metav1.ObjectMeta{Namespace: "other", UID: "newer"}}}
	for range 4 {
		l.pass(unknownAfter)
	}
	if closed := f.closed() + other.closed(); closed != "" {
		t.Errorf("closed: %s", closed)
	}
}

// A ConferenceConfig went while its LiveKit was away. When that is back, the rooms are closed, and people go where their
// meetings said, also those of a Meeting that has lost its ConferenceConfig.
func TestRoomsOfAGoneConfigAreClosed(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.engine("b")
	gone, orphan, redirect := room("a", "gone"), room("a", "orphan"), v1alpha1.URL("https://x.example/bye")
	l.graves = map[string]meeting.View{"gone": {Redirect: "https://x.example/thanks"}}
	l.meeting("orphan", v1alpha1.MeetingPending)
	l.meetings[0].Spec.Redirect = redirect
	f.set(gone, "anna")
	f.set(orphan, "bob")
	l.configs = map[string]types.UID{"a": "a"}
	l.pass(0)
	f.breakVerb("rooms", errAway)
	l.tenants = l.tenants[1:]
	l.pass(5 * time.Minute)
	f.breakVerb("rooms", nil)
	for range 3 {
		l.pass(unknownAfter)
	}
	if closed := f.closed(); closed != "" {
		t.Fatalf("closed though the cluster's API still has the ConferenceConfig: %s", closed)
	}
	l.configs = map[string]types.UID{"a": "the-next-of-its-name"}
	for range 3 {
		l.pass(longestStrayPause)
	}
	if len(f.rooms) != 0 || f.redirects[gone] != "https://x.example/thanks" || f.redirects[orphan] != string(redirect) {
		t.Errorf("left: %v, sent to %q", f.rooms, f.redirects)
	}
	if reach := l.reachable(); len(reach) != 1 {
		t.Errorf("an engine that no tenant uses counts as one that should answer: %v", reach)
	}
	l.pass(goneQuiet)
	f.took()
	l.pass(time.Second)
	if calls := f.took(); len(calls) != 0 {
		t.Errorf("it is still looked at: %q", calls)
	}
}

// An ended Meeting's redirect holds for those whom its end did not reach.
func TestStraysAreSentWhereTheirMeetingSaid(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.meeting("ended", v1alpha1.MeetingEnded)
	l.meetings[0].Spec.Redirect = "https://x.example/bye"
	f.set(room("a", "ended"), "anna")
	l.pass(0)
	l.pass(time.Second)
	if to := f.redirects[room("a", "ended")]; to != "https://x.example/bye" {
		t.Errorf("sent to %q", to)
	}
}

// While a room without a Meeting cannot be closed, the cluster's API is asked ever more seldom.
func TestStraysThatCannotBeClosedAreTriedMoreSeldom(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	f.set(room("a", "unknown"), "anna")
	f.breakVerb("close", errAway)
	l.passes(5 * time.Minute)
	if tries := strings.Count(f.closed(), "unknown"); tries < 5 || tries > 12 || l.asked != tries {
		t.Errorf("in five minutes it was tried %d times, and the API asked %d times", tries, l.asked)
	}
}
