// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"slices"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// errRefused is what LiveKit answers to a key that it does not know.
var errRefused = fault.Unavailable("LiveKit refuses the key").WithReason(v1alpha1.ReasonUnauthorized)

// isLive fails the test unless the Meeting goes on at a place.
func (l *placedLife) isLive(at *place) {
	l.t.Helper()
	if l.m.Status.EndReason != "" || l.at() != at {
		l.fail("it is on %v: %s", l.m.Status.MediaServer, l.m.Status.EndReason)
	}
}

// The leader loses sight of a media server on which people talk: the Meeting moves, for those who come, and does not end. When the media
// server is seen again, the Meeting comes back to its participants, and nobody is dropped.
func TestAMeetingThatMovedDoesNotEndWhileItsPeopleTalk(t *testing.T) {
	l := newPlacedLife(t, false)
	from, to := l.places[0], l.places[1]
	l.enters("anna")
	from.reach(faultyengine.ErrUnavailable)
	l.pass(time.Minute + 2*step)
	l.isLive(to)
	l.pass(time.Hour)
	l.isLive(to)
	from.Took()
	from.reach(nil)
	for range 5 { // The reconciler has much to do, and comes late.
		l.lookAll(t.Context())
		l.env.work.Wait()
		l.clock = l.clock.Add(step)
	}
	l.pass(time.Minute)
	l.isLive(from)
	if l.in["anna"] != from || from.Count("drop") > 0 {
		t.Error("those who were in were dropped")
	}
	l.in = map[string]*place{}
	l.pass(l.config.Settings.EmptyTimeout + 10*step)
	if l.m.Status.EndReason != v1alpha1.EndEmpty || len(from.Left()) > 0 {
		t.Error("when all have left it does not end")
	}
}

// Where others have come to the new place meanwhile, those of the old one come there too.
func TestThoseWhoWereOutOfSightComeToTheOthers(t *testing.T) {
	l := newPlacedLife(t, false)
	from, to := l.places[0], l.places[1]
	l.enters("anna")
	from.reach(faultyengine.ErrUnavailable)
	l.pass(time.Minute + 2*step)
	l.in["bob"] = nil
	l.pass(5 * step)
	if l.in["bob"] != to {
		t.Fatal("bob is not at the new place")
	}
	delete(l.in, "bob")
	l.pass(time.Hour)
	l.isLive(to)
	l.in["bob"] = nil
	l.pass(5 * step)
	from.reach(nil)
	l.pass(time.Minute)
	l.isLive(to)
	if l.in["anna"] != to || len(from.Left()) > 0 {
		t.Error("they are not together")
	}
}

// A media server that refuses the key runs: its meetings stay there, however long that lasts, and also where it is silent now and then.
func TestAMediaServerThatRefusesTheKeyIsNotLost(t *testing.T) {
	l := newPlacedLife(t, false)
	from := l.places[0]
	l.enters("anna")
	from.reach(errRefused)
	l.pass(30 * time.Minute)
	l.isLive(from)
	for range 10 {
		from.reach(faultyengine.ErrUnavailable)
		l.pass(50 * time.Second)
		from.reach(errRefused)
		l.pass(20 * time.Second)
	}
	l.isLive(from)
	from.reach(nil)
	l.pass(time.Minute)
	l.isLive(from)
	if l.in["anna"] != from || from.Count("drop") > 0 {
		t.Error("somebody was dropped")
	}
	from.reach(errRefused)
	l.pass(time.Minute)
	from.reach(faultyengine.ErrUnavailable)
	l.pass(time.Minute + 2*step)
	l.isLive(l.places[1])
}

// An end waits for the media server that the Meeting left, and its room there is closed, whenever it answers.
func TestAnEndReachesTheMediaServerThatWasLeft(t *testing.T) {
	for _, away := range []time.Duration{time.Minute, 10 * time.Minute} {
		l := newPlacedLife(t, false)
		from := l.places[0]
		l.enters("anna")
		from.reach(faultyengine.ErrUnavailable)
		l.pass(time.Minute + 2*step)
		l.m.Spec.End = &v1alpha1.MeetingEnd{}
		l.pass(away)
		if ended := l.m.Status.Phase == v1alpha1.MeetingEnded; ended != (away > 5*time.Minute) {
			t.Errorf("after %s it is %s", away, l.m.Status.Phase)
		}
		from.reach(nil)
		l.pass(30 * time.Second)
		if l.m.Status.Phase != v1alpha1.MeetingEnded || slices.Contains(from.Left(), l.room()) {
			t.Errorf("after %s it is %s, and its room is there: %v", away, l.m.Status.Phase, from.Left())
		}
		if from.Count("drop") > 0 {
			t.Error("they were not told that it is over")
		}
	}
}
