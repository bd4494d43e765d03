// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// at is a time of monday morning.
func at(seconds int) time.Time { return monday.Add(time.Duration(seconds) * time.Second) }

func span(from, until int) meeting.Span { return meeting.Span{From: at(from), Until: at(until)} }

// Time in which the engine could not be seen is kept, so that an empty room's time-out can leave it out, and no more.
func TestBlindTimes(t *testing.T) {
	l := newLooker(t)
	media, f := l.engine("a")
	name := roomName("a", "m")
	seen := func() []meeting.Span { return l.Seen(media, name).Outages }
	f.Break("rooms", faultyengine.ErrUnavailable)
	l.pass(0)
	if got := seen(); len(got) != 0 {
		t.Errorf("before anything was seen: %v", got)
	}
	f.Break("rooms", nil)
	l.pass(time.Second)
	f.Break("rooms", faultyengine.ErrUnavailable)
	l.pass(time.Second)
	l.pass(time.Second)
	if diff := cmp.Diff([]meeting.Span{span(1, 3)}, seen()); diff != "" {
		t.Errorf("while it lasts (-want +got):\n%s", diff)
	}
	f.Break("rooms", nil)
	l.pass(time.Second)
	l.pass(time.Second)
	f.Break("rooms", faultyengine.ErrUnavailable)
	l.pass(time.Second)
	f.Break("rooms", nil)
	l.pass(time.Second)
	first := seen()
	if diff := cmp.Diff([]meeting.Span{span(1, 4), span(5, 7)}, first); diff != "" {
		t.Errorf("two of them (-want +got):\n%s", diff)
	}
	for range maxOutages {
		f.Break("rooms", faultyengine.ErrUnavailable)
		l.pass(time.Second)
		f.Break("rooms", nil)
		l.pass(time.Second)
	}
	all := seen()
	if len(all) != maxOutages || all[0] != (meeting.Span{From: at(1), Until: at(9)}) {
		t.Errorf("of too many the oldest are one: %d, the first is %v", len(all), all[0])
	}
	if diff := cmp.Diff([]meeting.Span{span(1, 4), span(5, 7)}, first); diff != "" {
		t.Errorf("what was given out before has changed (-want +got):\n%s", diff)
	}
}
