// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"fmt"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// TestTheMemoryOfOneNamespace: what a namespace's media servers list is kept while there is memory, and those of others are seen all the time.
func TestTheMemoryOfOneNamespace(t *testing.T) {
	l := newLooker(t)
	const each = 40 * roomSize
	l.env.memory = limit.NewBudget(10*each, each)
	mine, f := l.engine("a")
	others, g := l.engine("b")
	mine.Name.Namespace, others.Name.Namespace = "a", "b"
	l.meeting("m", v1alpha1.MeetingActive)
	room, other := roomName("a", "m"), roomName("b", "m")
	f.Set(room, "anna")
	g.Set(other, "ben")
	looks := func(why string, media *tenant.Media, room engine.RoomName, want int, reason string) {
		t.Helper()
		l.pass(2 * time.Second)
		_, err := l.Reach(media.Server)
		got := ""
		if err != nil {
			got = fault.As(err).Reason
		}
		if seen := l.Seen(media, room); got != reason || len(seen.Participants) != want {
			t.Errorf("%s: %d participants, want %d; %v", why, len(seen.Participants), want, err)
		}
	}
	many := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("participant %03d", i))
		}
		return names
	}
	looks("at the start", mine, room, 1, "")
	f.Set(room, many(20)...)
	looks("twenty participants", mine, room, 20, "")
	f.Set(room, many(200)...)
	looks("more than there is memory for", mine, room, 20, "")
	g.Set(other, many(20)...)
	looks("meanwhile at another", others, other, 20, "")
	f.Set(room, "anna")
	looks("as few as before", mine, room, 1, "")
	for i := range 100 {
		f.Set(roomName("a", fmt.Sprint("room", i)))
	}
	looks("more rooms than there is memory for", mine, room, 1, v1alpha1.ReasonNamespaceFull)
	g.Set(other, "ben")
	looks("meanwhile at another", others, other, 1, "")
	l.tenants = nil
	for range 3 {
		l.pass(goneFor)
	}
	if left := l.env.memory.Left("a"); left != each || l.known(mine.Server) != nil {
		t.Errorf("nobody looks at the media server, and %d of %d bytes are left", left, each)
	}
}

// TestAnIdleMediaServer is asked for its rooms less often, until a meeting is placed there, or somebody is in a room.
func TestAnIdleMediaServer(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.meeting("m", v1alpha1.MeetingActive)
	lists := func(why string, d time.Duration, want int) {
		t.Helper()
		before := f.Count("rooms")
		l.passes(d)
		if got := f.Count("rooms") - before; got != want {
			t.Errorf("%s: %d lists in %s, want %d", why, got, d, want)
		}
	}
	lists("with meetings", 2*time.Minute, 120)
	l.idle = true
	lists("just idle", idleAfter, 60)
	lists("idle", time.Minute, 12)
	f.Break("rooms", faultyengine.ErrUnavailable)
	lists("idle and silent", time.Minute, 12)
	f.Break("rooms", nil)
	l.idle = false
	lists("a meeting is placed there", time.Minute, 60)
	l.idle = true
	lists("idle again", 2*time.Minute, 60+12)
	f.Set(roomName("a", "m"), "anna")
	lists("somebody is in a room", 2*time.Minute, 116)
}
