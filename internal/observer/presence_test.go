// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// asked are those who were asked for since the last time.
func asked(f *faultyengine.Engine) (count int) {
	count = f.Count("present ")
	f.Took()
	return count
}

// passes lets time go by as it does: the observer looks every second.
func (l *looker) passes(d time.Duration) {
	for range d / time.Second {
		l.pass(time.Second)
	}
}

func newHaunted(t *testing.T, people ...string) (*looker, *tenant.Media, *faultyengine.Engine) {
	l := newLooker(t)
	media, f := l.engine("a")
	l.meeting("m", v1alpha1.MeetingActive)
	f.Set(roomName("a", "m"), people...)
	l.pass(0)
	return l, media, f
}

func TestPeopleOfALostNodeAreNotCounted(t *testing.T) {
	l, media, f := newHaunted(t, "anna", "bob", "carl")
	f.Haunt("anna", "bob", "carl")
	for asked(f) == 0 {
		l.passes(time.Second)
	}
	l.passes(4 * time.Second)
	if got := names(l.Seen(media, roomName("a", "m")).Participants); got != "anna bob carl" {
		t.Errorf("a participant who did not answer once is gone: %q are in", got)
	}
	l.passes(askAgainAfter + 4*time.Second)
	if got := l.Seen(media, roomName("a", "m")); len(got.Participants) != 0 || !got.Known || !got.RoomExists {
		t.Errorf("with nobody there it shows %+v", got)
	}
	if got := l.Look(t.Context(), media, roomName("a", "m")); len(got.Participants) != 0 || !got.Known {
		t.Errorf("a look at once shows %+v", got)
	}
}

func TestWhoComesBackIsCounted(t *testing.T) {
	l, media, f := newHaunted(t, "anna", "bob")
	f.Haunt("anna", "bob")
	l.passes(presenceEvery + 2*askAgainAfter)
	f.Haunt("bob")
	f.Rejoin(roomName("a", "m"), monday.Add(time.Minute))
	l.passes(4 * time.Second)
	if got := names(l.Seen(media, roomName("a", "m")).Participants); got != "anna" {
		t.Errorf("%q are in, want anna, who has joined again", got)
	}
}

func TestWhoAnswersAgainIsNoGhost(t *testing.T) {
	l, media, f := newHaunted(t, "anna")
	f.Haunt("anna")
	l.passes(presenceEvery + 2*askAgainAfter)
	f.Haunt()
	l.passes(askAgainAfter + 4*time.Second)
	if got := names(l.Seen(media, roomName("a", "m")).Participants); got != "anna" {
		t.Errorf("%q are in, want anna, whose node answers again", got)
	}
}

// Where the engine cannot be asked, nothing is known; nobody is gone for it.
func TestNoAnswerIsNoAbsence(t *testing.T) {
	l, media, f := newHaunted(t, "anna")
	f.Haunt("anna")
	f.Break("present", faultyengine.ErrUnavailable)
	l.passes(2 * presenceEvery)
	if got := names(l.Seen(media, roomName("a", "m")).Participants); got != "anna" {
		t.Errorf("%q are in", got)
	}
}

// One in each room is enough to see that the node is there, unless more are listed than the engine counts.
func TestWhoIsAskedFor(t *testing.T) {
	anna, bob, carl := engine.Participant{Identity: "anna"}, engine.Participant{Identity: "bob"}, engine.Participant{Identity: "carl", Traits: engine.Traits{Hidden: true}}
	everybody := []engine.Participant{anna, bob, carl}
	ago := func(d time.Duration) time.Time { return monday.Add(-d) }
	gone := func(last time.Duration) map[stay]absence {
		return map[stay]absence{stayOf(anna): {since: ago(time.Minute), last: ago(last)}}
	}
	for _, c := range []struct {
		reason   string
		presence presence
		want     int
	}{
		{"nobody is in", presence{called: ago(presenceEvery)}, 0},
		{"not yet", presence{listed: everybody, counted: 2, called: ago(presenceEvery - time.Second)}, 0},
		{"one, now and then", presence{listed: everybody, counted: 2, called: ago(presenceEvery)}, 1},
		{"all, when more are listed than there are", presence{listed: everybody, counted: 1, called: ago(askAgainAfter)}, 3},
		{"the engine's count is seconds behind its list", presence{listed: everybody, counted: 1, called: ago(time.Second)}, 0},
		{"hidden ones are in no count", presence{listed: []engine.Participant{carl}, called: ago(askAgainAfter)}, 0},
		{"all, when one participant has just not answered", presence{listed: everybody, counted: 2, called: ago(time.Second), all: true}, 3},
		{"who did not answer, again", presence{listed: everybody, counted: 2, called: ago(time.Second), missing: gone(askAgainAfter)}, 1},
		{"who has just not answered, not at once", presence{listed: everybody, counted: 2, called: ago(time.Second), missing: gone(time.Second)}, 0},
		{"a ghost is in no count", presence{listed: everybody, counted: 1, called: ago(askAgainAfter), missing: gone(time.Second)}, 0},
	} {
		if got := len(c.presence.due(monday)); got != c.want {
			t.Errorf("%s: %d are asked for, want %d", c.reason, got, c.want)
		}
	}
}

// What it costs where nothing is wrong.
func TestRollIsCalledSeldom(t *testing.T) {
	l, _, f := newHaunted(t, "anna", "bob", "carl")
	l.pass(time.Second) // The room is known by now.
	f.Took()
	l.passes(4 * presenceEvery)
	if diff := cmp.Diff(4, asked(f)); diff != "" {
		t.Errorf("questions in %s (-want +got):\n%s", 4*presenceEvery, diff)
	}
}
