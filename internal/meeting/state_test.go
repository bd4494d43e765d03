// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
)

func TestOlder(t *testing.T) {
	made := func(second int, uid types.UID) *v1alpha1.Meeting {
		m := &v1alpha1.Meeting{}
		m.CreationTimestamp, m.UID = metav1.Date(2026, 11, 2, 9, 0, second, 0, time.UTC), uid
		return m
	}
	for _, tc := range []struct {
		reason string
		a, b   *v1alpha1.Meeting
		want   bool
	}{
		{"made before", made(1, "z"), made(2, "a"), true},
		{"made after", made(2, "a"), made(1, "z"), false},
		{"made in the same second, the UID decides", made(1, "a"), made(1, "b"), true},
		{"and the other way round", made(1, "b"), made(1, "a"), false},
		{"not older than itself", made(1, "a"), made(1, "a"), false},
	} {
		if got := Older(tc.a, tc.b); got != tc.want {
			t.Errorf("%s: %t", tc.reason, got)
		}
	}
}

func TestIsLeaving(t *testing.T) {
	now := metav1.Now()
	for _, tc := range []struct {
		reason        string
		m             v1alpha1.Meeting
		leaving, over bool
	}{
		{"new", v1alpha1.Meeting{}, false, false},
		{"active", v1alpha1.Meeting{Status: v1alpha1.MeetingStatus{Phase: v1alpha1.MeetingActive}}, false, false},
		{"asked to end, before the controllers know", v1alpha1.Meeting{Spec: v1alpha1.MeetingSpec{End: &v1alpha1.MeetingEnd{}}}, true, false},
		{"deleted, before the controllers know", v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}, true, false},
		{"ending", v1alpha1.Meeting{Status: v1alpha1.MeetingStatus{Phase: v1alpha1.MeetingEnding}}, true, false},
		{"ended", v1alpha1.Meeting{Status: v1alpha1.MeetingStatus{Phase: v1alpha1.MeetingEnded}}, true, true},
	} {
		if got := IsLeaving(&tc.m); got != tc.leaving {
			t.Errorf("%s: leaving is %t", tc.reason, got)
		}
		if got := IsOver(&tc.m); got != tc.over {
			t.Errorf("%s: over is %t", tc.reason, got)
		}
	}
}

func TestLineage(t *testing.T) {
	first := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	next := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{UID: "2", Annotations: map[string]string{v1alpha1.AnnotationLineage: "1"}}}
	if Lineage(first) != "1" || Lineage(next) != "1" {
		t.Errorf("%q is continued by %q", Lineage(first), Lineage(next))
	}
}

func TestEngineRoom(t *testing.T) {
	const config, uid = "0c4f3a8e-0000-4000-8000-000000000001", "0c4f3a8e-0000-4000-8000-000000000002"
	room := EngineRoom(config, uid)
	if !strings.HasPrefix(string(room), string(EngineRoomPrefix(config))) || !strings.HasPrefix(string(room), string(AllRooms)) {
		t.Errorf("%q does not begin with %q", room, EngineRoomPrefix(config))
	}
	if len(room) > 256 {
		t.Errorf("%q is longer than LiveKit allows", room)
	}
	gotConfig, gotUID, ok := ParseEngineRoom(room)
	if !ok || gotConfig != config || gotUID != uid {
		t.Errorf("%q is taken apart into %q and %q, %t", room, gotConfig, gotUID, ok)
	}
	for reason, other := range map[string]engine.RoomName{
		"another service's room": "lobby", "nothing": "", "no Meeting": EngineRoomPrefix(config), "no ConferenceConfig": "convene__x", "only the prefix": AllRooms,
	} {
		if _, _, ok := ParseEngineRoom(other); ok {
			t.Errorf("%s: %q is taken for one of ours", reason, other)
		}
	}
}

// Of a room's Meetings the oldest that is not over has the room, whatever order they are listed in.
func TestHolderIsTheOldestThatIsNotOver(t *testing.T) {
	at := func(uid string, second int, phase v1alpha1.MeetingPhase) *v1alpha1.Meeting {
		m := &v1alpha1.Meeting{}
		m.UID, m.CreationTimestamp, m.Status.Phase = types.UID(uid), metav1.Unix(int64(second), 0), phase
		return m
	}
	over, ending, waiting := at("a", 1, v1alpha1.MeetingEnded), at("c", 2, v1alpha1.MeetingEnding), at("b", 3, v1alpha1.MeetingPending)
	for _, all := range [][]*v1alpha1.Meeting{{over, ending, waiting}, {waiting, over, ending}} {
		if got := Holder(all); got != ending {
			t.Errorf("it is %+v", got)
		}
	}
	if got := Holder([]*v1alpha1.Meeting{over}); got != nil {
		t.Errorf("a room whose Meetings are over is held by %+v", got)
	}
}
