// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/engine"
)

const someUID = "0a1b2c3d-0000-4000-8000-123456789abc"

func TestATestRoomIsKnownByItsName(t *testing.T) {
	want := TestRoom{ConfigUID: someUID, MediaServer: "00ff00ff00ff00ff", Ends: time.Unix(1_795_000_000, 0), ID: "abcdefgh"}
	got, ok := ParseTestRoom(want.Name())
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("%s (-want +got)\n%s", want.Name(), diff)
	}
	if got.IsOver(want.Ends.Add(-time.Nanosecond)) || !got.IsOver(want.Ends) {
		t.Error("it is over at another time than its end")
	}
	if config, _, ok := ParseEngineRoom(want.Name()); !ok || config != someUID {
		t.Errorf("it is a room of the ConferenceConfig %q", config)
	}
}

// TestNoOtherRoomIsATestRoom: whatever a room is called that people meet or wait in.
func TestNoOtherRoomIsATestRoom(t *testing.T) {
	test := TestRoom{ConfigUID: someUID, MediaServer: "tag", Ends: time.Unix(1, 0), ID: "id"}.Name()
	for _, room := range []engine.RoomName{
		EngineRoom(someUID, someUID), WaitingRoom(EngineRoom(someUID, someUID)), WaitingRoom(test), test + "-more", "lobby", "",
		EngineRoom(someUID, "test"), EngineRoom(someUID, "test-1-tag"), EngineRoom(someUID, "test-?-tag-id"),
	} {
		if IsTestRoom(room) {
			t.Errorf("%q is a test room", room)
		}
	}
}

func FuzzParseTestRoom(f *testing.F) {
	f.Add("convene_uid_test-aaaaa-tag-id")
	f.Add("convene_uid_test--9-tag-id")
	f.Add("convene_uid_test-zzzzzzzzzzzzzzzz-tag-id_waiting")
	f.Fuzz(func(t *testing.T, name string) {
		room, ok := ParseTestRoom(engine.RoomName(name))
		if !ok {
			return
		}
		if again, ok := ParseTestRoom(room.Name()); !ok || !again.Ends.Equal(room.Ends) || again.ID != room.ID || again.ConfigUID != room.ConfigUID {
			t.Errorf("%q is %+v, and its name %q is %+v", name, room, room.Name(), again)
		}
	})
}
