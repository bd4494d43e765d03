// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/faultyengine"
)

func names(people []engine.Participant) string {
	var all []string
	for _, p := range people {
		all = append(all, p.Name)
	}
	return strings.Join(all, " ")
}

// What has not been looked at is unknown, not empty.
func TestNothingIsKnownBeforeALook(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	f.Set(roomName("a", "m"), "anna")
	if seen := l.Seen(media, roomName("a", "m")); seen.Known {
		t.Errorf("before any look: %+v", seen)
	}
	if since, err := l.Reach(media.Server); !since.IsZero() || err != nil {
		t.Errorf("before any look it is reachable since %s, %v", since, err)
	}
	f.Break("participants", faultyengine.ErrUnavailable)
	l.pass(0)
	if seen := l.Seen(media, roomName("a", "m")); seen.Known || !seen.RoomExists {
		t.Errorf("a room that is listed, and that nobody has looked into: %+v", seen)
	}
	f.Break("participants", nil)
	l.pass(participantsEvery)
	seen := l.Seen(media, roomName("a", "m"))
	if !seen.Known || !seen.RoomExists || names(seen.Participants) != "anna" || !seen.VisibleSince.Equal(monday) {
		t.Errorf("after a look: %+v", seen)
	}
	if seen := l.Seen(media, roomName("a", "other")); !seen.Known || seen.RoomExists {
		t.Errorf("a room that is not there: %+v", seen)
	}
	if seen := l.Seen(nil, roomName("a", "m")); seen.Known {
		t.Errorf("without media: %+v", seen)
	}
}

func TestEngineGoesAndReturns(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	l.meeting("m", v1alpha1.MeetingActive)
	f.Set(roomName("a", "m"), "anna")
	l.pass(0)
	for _, err := range []error{faultyengine.ErrUnavailable, context.DeadlineExceeded, errors.New("EOF")} {
		f.Break("rooms", err)
		l.pass(time.Second)
	}
	seen := l.Seen(media, roomName("a", "m"))
	if seen.Known || !seen.UnavailableSince.Equal(monday.Add(time.Second)) {
		t.Errorf("away since the first look that failed, not since the last: %+v", seen)
	}
	if _, err := l.Reach(media.Server); err == nil || l.Reachable()["http://a"] {
		t.Errorf("it is reachable: %v", err)
	}
	f.Break("rooms", nil)
	l.pass(time.Second)
	seen = l.Seen(media, roomName("a", "m"))
	blind := []meeting.Span{{From: monday, Until: monday.Add(4 * time.Second)}}
	if !seen.Known || !seen.UnavailableSince.IsZero() || !seen.VisibleSince.Equal(monday) || !slices.Equal(seen.Outages, blind) {
		t.Errorf("visible again, and blind from the last look that was answered to the next: %+v", seen)
	}
	if _, turned := l.heard(); !cmp.Equal(turned, []string{"http://a there", "http://a away", "http://a there"}) {
		t.Errorf("it turned so: %q", turned)
	}
}

// An engine that takes long holds up no other, and is not asked twice at once.
func TestSlowEngineHoldsUpNoOther(t *testing.T) {
	l := newLooker(t)
	slow, hanging := l.engine("slow")
	quick, f := l.engine("quick")
	answer := hanging.Hang("rooms")
	f.Set(roomName("quick", "m"), "anna")
	for i := range 3 {
		l.lookAll(t.Context())
		testkit.Eventually(t, 30*time.Second, func() error {
			if since, _ := l.Reach(quick.Server); since.IsZero() || !l.known(quick.Server).looking.TryLock() {
				return fmt.Errorf("look %d: the quick engine has not been seen", i)
			}
			l.known(quick.Server).looking.Unlock()
			return nil
		})
	}
	if since, _ := l.Reach(slow.Server); !since.IsZero() {
		t.Error("the slow engine answered")
	}
	close(answer)
	l.env.work.Wait()
	if calls := hanging.Took(); len(calls) != 1 {
		t.Errorf("the slow engine was asked %q", calls)
	}
	if since, _ := l.Reach(slow.Server); since.IsZero() {
		t.Error("the answer of the slow engine is lost")
	}
}

// LiveKit without Redis comes back with an empty list: the Meetings hear of it, and what they hear is that the room is
// gone, not that the engine is.
func TestListGoesEmpty(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	for _, name := range []string{"m1", "m2"} {
		l.meeting(name, v1alpha1.MeetingActive)
		f.Set(roomName("a", name), "anna")
	}
	l.pass(0)
	l.heard()
	f.Lose()
	l.pass(time.Second)
	changed, turned := l.heard()
	if len(changed) != 2 || len(turned) != 0 {
		t.Errorf("%q were woken, %q turned", changed, turned)
	}
	seen := l.Seen(media, roomName("a", "m1"))
	if !seen.Known || seen.RoomExists || len(seen.Participants) != 0 || !seen.VisibleSince.Equal(monday) {
		t.Errorf("%+v", seen)
	}
	l.pass(time.Second)
	if changed, _ := l.heard(); len(changed) != 0 {
		t.Errorf("%q were woken again", changed)
	}
}

// What the pages of a room are told is seen too: a Meeting hears when it is something else.
func TestStateOfRooms(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	name := roomName("a", "m")
	l.meeting("m", v1alpha1.MeetingActive)
	f.Set(name, "anna")
	state := engine.RoomState{ExpiresAt: monday.Add(time.Hour)}
	if err := f.Ensure(t.Context(), name, engine.RoomOptions{}, state); err != nil {
		t.Fatal(err)
	}
	l.pass(0)
	if seen := l.Seen(media, name); seen.State != state {
		t.Errorf("a new room: %+v", seen.State)
	}
	l.heard()
	for _, step := range []struct {
		reason string
		to     time.Time
		woken  int
	}{{"they were told otherwise", monday, 1}, {"they were not", monday, 0}, {"the room was made again by a late join", time.Time{}, 1}} {
		f.Tell(name, engine.RoomState{ExpiresAt: step.to})
		l.pass(time.Second)
		if changed, _ := l.heard(); len(changed) != step.woken || !l.Seen(media, name).State.ExpiresAt.Equal(step.to) {
			t.Errorf("%s: %q were woken, and seen is %+v", step.reason, changed, l.Seen(media, name).State)
		}
	}
	l.Told(media, name, state)
	if seen := l.Seen(media, name); seen.State != state {
		t.Errorf("what we told them ourselves: %+v", seen.State)
	}
}

// One call lists all rooms each second; a room costs a call of its own only where there is a participant, or a reason.
func TestRoomsAreLookedIntoWhenThereIsAReason(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	busy, idle := roomName("a", "busy"), roomName("a", "idle")
	l.meeting("busy", v1alpha1.MeetingActive)
	l.meeting("idle", v1alpha1.MeetingActive)
	f.Set(busy, "anna")
	f.Set(idle)
	for _, step := range []struct {
		reason  string
		before  func()
		calls   []string
		changed []string
	}{
		{"new rooms", nil, []string{"rooms", "participants " + string(busy), "participants " + string(idle)}, []string{"busy", "idle"}},
		{"a second later", nil, []string{"rooms"}, nil},
		{"two seconds later", nil, []string{"rooms", "participants " + string(busy)}, nil},
		{"a hint", func() { l.Hint(idle) }, []string{"rooms", "participants " + string(idle)}, nil},
		{"one participant more, at the next look that is due", func() { f.Set(busy, "tom", "anna") }, []string{"rooms", "participants " + string(busy)}, []string{"busy"}},
		{"a hint of a new participant", func() { f.Set(busy, "anna", "tom", "eve"); l.Hint(busy) }, []string{"rooms", "participants " + string(busy)}, []string{"busy"}},
		{"the same people in another order", func() { f.Set(busy, "eve", "tom", "anna"); l.Hint(busy) }, []string{"rooms", "participants " + string(busy)}, nil},
		{"the count says that the idle one is not", func() { f.Set(idle, "bob") }, []string{"rooms", "participants " + string(idle)}, []string{"idle"}},
		{"the count says that all have left", func() { f.Set(busy); f.Set(idle) }, []string{"rooms", "participants " + string(busy), "participants " + string(idle)}, []string{"busy", "idle"}},
		{"nobody", nil, []string{"rooms"}, nil},
	} {
		if step.before != nil {
			step.before()
		}
		l.pass(time.Second)
		got := slices.DeleteFunc(f.Took(), func(call string) bool { return strings.HasPrefix(call, "present ") }) // has tests of its own
		sortTail(got)
		if diff := cmp.Diff(step.calls, got); diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", step.reason, diff)
		}
		changed, _ := l.heard()
		if !sameSet(step.changed, changed) {
			t.Errorf("%s: %q were woken, want %q", step.reason, changed, step.changed)
		}
	}
}

// sortTail sorts calls that are made at once.
func sortTail(calls []string) {
	if len(calls) > 2 && calls[1] > calls[2] {
		calls[1], calls[2] = calls[2], calls[1]
	}
}

func sameSet(a, b []string) bool {
	count := map[string]int{}
	for _, x := range a {
		count[x]++
	}
	for _, x := range b {
		count[x]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// Rooms of which hints come and that are never listed must not fill the memory, and those that no Meeting has even less.
func TestHintsAreDropped(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.Hint(roomName("a", strings.Repeat("x", 60<<10)))
	if hints := l.env.hints.all(); len(hints) != 0 {
		t.Errorf("a hint of a room of no Meeting is kept")
	}
	l.meeting("later", v1alpha1.MeetingActive)
	l.meeting("never", v1alpha1.MeetingActive)
	f.Break("rooms", faultyengine.ErrUnavailable)
	l.Hint(roomName("a", "later"))
	l.pass(5 * time.Second)
	f.Break("rooms", nil)
	f.Set(roomName("a", "later"))
	l.Hint(roomName("a", "never"))
	l.pass(hintLife)
	if calls := strings.Join(f.Took(), ","); !strings.Contains(calls, "participants "+string(roomName("a", "later"))) {
		t.Errorf("the hint was lost with the look that failed: %s", calls)
	}
	l.pass(time.Second)
	if hints := l.env.hints.all(); len(hints) != 0 {
		t.Errorf("hints are kept: %v", hints)
	}
}

// What decides an end: looks at one room, the second of which confirms the first.
func TestLook(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	name := roomName("a", "m")
	look := func(d time.Duration) meeting.Seen {
		l.mu.Lock()
		l.clock = l.clock.Add(d)
		l.mu.Unlock()
		return l.Look(t.Context(), media, name)
	}
	f.Set(name, "anna")
	if seen := look(0); !seen.Known || !seen.RoomExists || names(seen.Participants) != "anna" || !seen.AbsentSince.IsZero() {
		t.Errorf("a room that is there: %+v", seen)
	}
	f.Lose()
	first := look(time.Second)
	if second := look(time.Second); !first.AbsentSince.Equal(monday.Add(time.Second)) || !second.AbsentSince.Equal(first.AbsentSince) || second.RoomExists || len(second.Participants) > 0 {
		t.Errorf("absent since the first look: %+v, %+v", first, second)
	}
	f.Break("rooms", faultyengine.ErrUnavailable)
	if seen := look(time.Second); seen.Known || !seen.UnavailableSince.IsZero() {
		t.Errorf("a look that fails says nothing, not even since when: %+v", seen)
	}
	l.pass(time.Second)
	if seen := look(time.Second); seen.Known || !seen.UnavailableSince.Equal(monday.Add(4*time.Second)) {
		t.Errorf("the looks at the whole engine tell since when: %+v", seen)
	}
	f.Break("rooms", nil)
	f.Set(name)
	l.pass(0)
	if seen := look(time.Second); !seen.Known || !seen.AbsentSince.IsZero() {
		t.Errorf("made again: %+v", seen)
	}
	f.Lose()
	if seen := look(time.Second); !seen.AbsentSince.Equal(monday.Add(7 * time.Second)) {
		t.Errorf("gone again: %+v", seen)
	}
	f.Set(name)
	l.pass(time.Second) // a full look that finds the room breaks the row of looks that did not
	f.Lose()
	if seen := look(time.Second); !seen.AbsentSince.Equal(monday.Add(9 * time.Second)) {
		t.Errorf("gone a third time: %+v", seen)
	}
	l.pass(absentFor + time.Second)
	if seen := l.Seen(media, name); !seen.AbsentSince.IsZero() {
		t.Errorf("not forgotten: %+v", seen)
	}
	f.Set(name, "anna")
	f.Break("participants", faultyengine.ErrUnavailable)
	if seen := look(time.Second); seen.Known {
		t.Errorf("who is in is unknown, and yet: %+v", seen)
	}
	if seen := l.Look(t.Context(), nil, name); seen.Known {
		t.Errorf("without media: %+v", seen)
	}
}

// Nobody waits for a media server that is known to be unavailable.
func TestLookAtAnUnavailableServer(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	l.pass(0)
	f.Break("rooms", faultyengine.ErrUnavailable)
	l.pass(time.Second)
	f.Took()
	if seen := l.Look(t.Context(), media, roomName("a", "m")); seen.Known || seen.UnavailableSince.IsZero() {
		t.Errorf("seen is %+v", seen)
	}
	if calls := f.Took(); len(calls) != 0 {
		t.Errorf("calls: %q", calls)
	}
}

// An engine that no tenant uses any more is forgotten, and so is what was seen of it.
func TestUnusedEnginesAreForgotten(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	f.Set(roomName("a", "m"), "anna")
	l.pass(0)
	l.tenants[0].Media = nil
	l.pass(time.Second)
	if since, _ := l.Reach(media.Server); !since.IsZero() || l.Seen(media, roomName("a", "m")).Known {
		t.Error("it is still known")
	}
}

// Two tenants of one LiveKit cost one look.
func TestTenantsShareALook(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	l.engine("b")
	l.tenants[1].Media = []*tenant.Media{media}
	l.pass(0)
	if calls := f.Took(); len(calls) != 1 {
		t.Errorf("calls: %q", calls)
	}
}

// The loop itself, on a real clock: it looks at once, on hints, and ends.
func TestStartLooksUntilItIsStopped(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- l.Start(ctx) }()
	seen := func() error {
		if s := l.Seen(media, roomName("a", "m")); !s.Known || names(s.Participants) != "anna" {
			return fmt.Errorf("seen is %+v", s)
		}
		return nil
	}
	f.Set(roomName("a", "m"), "anna")
	l.Hint(roomName("a", "m"))
	testkit.Eventually(t, 30*time.Second, seen)
	f.Hang("rooms") // it ends even while an engine hangs
	l.Hint(roomName("a", "m"))
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
