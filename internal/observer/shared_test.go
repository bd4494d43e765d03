// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"slices"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// enters has somebody in the Meeting, which is at the first media server, and tells where it is.
func (l *placedLife) enters(name string) {
	l.t.Helper()
	l.in[name] = nil
	l.pass(5 * step)
	if l.in[name] != l.places[0] {
		l.t.Fatal("nobody is in")
	}
}

// Two MediaServers are one LiveKit: each lists the rooms of the other. Nobody is dropped, and it is reported.
func TestTwoMediaServersThatAreOneLiveKit(t *testing.T) {
	l := newPlacedLife(t, true)
	l.enters("anna")
	l.pass(time.Minute)
	if l.in["anna"] == nil || !slices.Contains(l.places[0].Left(), l.room()) {
		t.Error("the room was dropped")
	}
	if with, shared := l.SharedWith(l.places[1].media.Server); !shared || with != l.places[0].media.Name {
		t.Errorf("it is reported: %t, %s", shared, with)
	}
	if _, shared := l.SharedWith(l.places[0].media.Server); shared {
		t.Error("the media server that has the meeting is reported")
	}
	for _, p := range l.places {
		if n := p.Count("drop"); n > 0 {
			t.Errorf("%d rooms were dropped", n)
		}
		if n := p.Count("room "); n > 7 {
			t.Errorf("one room of both cost %d calls in a minute", n)
		}
	}
	l.in = map[string]*place{} // The meeting ends, and its room goes.
	l.pass(l.config.Settings.EmptyTimeout + sharedFor + time.Minute)
	if _, shared := l.SharedWith(l.places[1].media.Server); shared {
		t.Error("it is still reported")
	}
}

// A room that its Meeting has left is another one than at the place of the Meeting, and is dropped. While that place cannot be asked, the
// room is left alone.
func TestARoomThatItsMeetingHasLeftIsDroppedOnceThatIsSure(t *testing.T) {
	l := newPlacedLife(t, false)
	l.enters("anna")
	from, to := l.places[0], l.places[1]
	from.reach(faultyengine.ErrUnavailable)
	l.pass(2 * time.Minute)
	if l.at() != to || l.in["anna"] != from {
		t.Fatal("it has not moved")
	}
	l.in["bob"] = nil
	l.pass(5 * step)
	if l.in["bob"] != to {
		t.Fatal("nobody came to the new place")
	}
	to.reach(faultyengine.ErrUnavailable)
	from.reach(nil)
	to.Took()
	from.media.Draining = true // It must not move back.
	l.pass(30 * time.Second)
	if l.in["anna"] != from || from.Count("drop") > 0 {
		t.Fatal("the room was dropped, and nobody knew whether it is the same")
	}
	to.reach(nil)
	l.pass(2 * time.Minute)
	if l.in["anna"] != to || len(from.Left()) > 0 {
		t.Error("the room was not dropped")
	}
}

// The cache may be two moves behind: what counts is the place that the API server tells.
func TestTheSharedRoomIsLookedForAtTheNewestPlace(t *testing.T) {
	l := newLooker(t)
	_, f := l.engine("a")
	l.engine("b")
	_, twin := l.engine("twin")
	f.ShareRooms(twin)
	l.meeting("moved", v1alpha1.MeetingActive)
	l.newer = slices.Clone(l.meetings)
	config := l.tenants[0]
	for _, t := range l.tenants {
		t.Media[0].Name = t.NamespacedName
	}
	config.Media = []*tenant.Media{config.Media[0], l.tenants[1].Media[0], l.tenants[2].Media[0]}
	l.meetings[0].Status.MediaServer = &v1alpha1.MediaServerReference{Namespace: "ns", Name: "b"}
	l.newer[0].Status.MediaServer = &v1alpha1.MediaServerReference{Namespace: "ns", Name: "twin"}
	f.Set(roomName("a", "moved"), "anna")
	for range 5 {
		l.pass(time.Minute)
	}
	if f.Count("drop")+twin.Count("drop") > 0 {
		t.Error("the room was dropped")
	}
}
