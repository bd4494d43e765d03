// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

var expiry = time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)

func (h house) rawRoom(t *testing.T, room engine.RoomName) *lk.Room {
	t.Helper()
	rooms, ctx := h.raw(t, auth.VideoGrant{RoomList: true})
	list, err := rooms.ListRooms(ctx, &lk.ListRoomsRequest{Names: []string{string(room)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.GetRooms()) != 1 {
		t.Fatalf("%d rooms are named %s, want 1", len(list.GetRooms()), room)
	}
	return list.GetRooms()[0]
}

// metadata asks the room itself: the list lags.
func (h house) metadata(t *testing.T, room engine.RoomName) string {
	t.Helper()
	rooms, ctx := h.raw(t, auth.VideoGrant{RoomCreate: true})
	there, err := rooms.CreateRoom(ctx, &lk.CreateRoomRequest{Name: string(room)})
	if err != nil {
		t.Fatal(err)
	}
	return there.GetMetadata()
}

func (h house) setMetadata(t *testing.T, room engine.RoomName, metadata string) {
	t.Helper()
	rooms, ctx := h.raw(t, auth.VideoGrant{RoomAdmin: true, Room: string(room)})
	if _, err := rooms.UpdateRoomMetadata(ctx, &lk.UpdateRoomMetadataRequest{Room: string(room), Metadata: metadata}); err != nil {
		t.Fatal(err)
	}
}

// The room outlasts every time-out of ours, and is not left for ever where nobody closes it.
func TestEnsureMakesARoomThatLastsAndHasALimit(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := engine.RoomName("m-1")
	if err := h.Ensure(wait(t), room, engine.RoomOptions{MaxParticipants: 2}, engine.RoomState{ExpiresAt: expiry}); err != nil {
		t.Fatal(err)
	}
	made := h.rawRoom(t, room)
	got := map[string]any{
		"empty": made.GetEmptyTimeout(), "departure": made.GetDepartureTimeout(), "max": made.GetMaxParticipants(),
		"metadata": made.GetMetadata(),
	}
	want := map[string]any{
		"empty": uint32(25 * 60 * 60), "departure": uint32(25 * 60 * 60), "max": uint32(2),
		"metadata": `{"expiresAt":"2031-02-03T04:05:06Z"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("room (-want +got):\n%s", diff)
	}

	short := engine.RoomName("m-2")
	if err := h.Ensure(wait(t), short, engine.RoomOptions{EmptyTimeout: 30 * time.Second}, engine.RoomState{}); err != nil {
		t.Fatal(err)
	}
	if made := h.rawRoom(t, short); made.GetEmptyTimeout() != 30 || made.GetDepartureTimeout() != 30 {
		t.Errorf("a room that is kept for 30 s when it is empty: %v", made)
	}

	h.join(t, room, "one", engine.Traits{})
	h.join(t, room, "two", engine.Traits{})
	if p, err := peer.Join(wait(t), h.URL, h.grant(t, room, "three", engine.Traits{})); err == nil {
		p.Close()
		t.Error("the third got into a room for two")
	}
	h.join(t, room, "watcher", engine.Traits{Hidden: true}) // whom LiveKit does not count
}

func TestEnsureBringsTheStateUpToDate(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	sid := h.rawRoom(t, room).GetSid()
	p := h.join(t, room, "one", engine.Traits{})
	for _, state := range []engine.RoomState{{ExpiresAt: expiry}, {ExpiresAt: expiry.Add(time.Hour)}, {}, {}} {
		if err := h.Ensure(wait(t), room, engine.RoomOptions{}, state); err != nil {
			t.Fatal(err)
		}
		until(t, p, "the peer hears of "+state.ExpiresAt.String(), func() bool {
			var heard struct{ ExpiresAt time.Time }
			return json.Unmarshal([]byte(p.Metadata()), &heard) == nil && heard.ExpiresAt.Equal(state.ExpiresAt)
		})
		testkit.Eventually(t, patience, func() error { // the list lags
			rooms, err := h.Rooms(wait(t), room)
			if err == nil && !rooms[0].State.ExpiresAt.Equal(state.ExpiresAt) {
				err = errorf("the list shows %s, want %s", rooms[0].State.ExpiresAt, state.ExpiresAt)
			}
			return err
		})
	}
	if after := h.rawRoom(t, room).GetSid(); after != sid {
		t.Errorf("the room was %s and is %s", sid, after)
	}
}

func TestEnsureTakesARoomThatALateJoinMade(t *testing.T) {
	for name, metadata := range map[string]string{"no metadata": "", "another service's": "hello", "another type": "[1]"} {
		t.Run(name, func(t *testing.T) {
			h := open(t, testkit.LiveKitOptions{})
			rooms, ctx := h.raw(t, auth.VideoGrant{RoomCreate: true})
			if _, err := rooms.CreateRoom(ctx, &lk.CreateRoomRequest{Name: "m", Metadata: metadata}); err != nil {
				t.Fatal(err)
			}
			if err := h.Ensure(wait(t), "m", engine.RoomOptions{}, engine.RoomState{}); err != nil {
				t.Fatal(err)
			}
			if got := h.metadata(t, "m"); got != "{}" {
				t.Errorf("metadata is %q, want {}", got)
			}
		})
	}
}

func TestEnsureLeavesAnEndedRoomEnded(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	room := h.room(t)
	ended := `{"ended":true,"redirect":"https://example.com/thanks"}`
	h.setMetadata(t, room, ended)
	err := h.Ensure(wait(t), room, engine.RoomOptions{}, engine.RoomState{ExpiresAt: expiry})
	wantKind(t, err, fault.KindGone)
	if got := h.metadata(t, room); got != ended {
		t.Errorf("metadata is %q, want %q", got, ended)
	}
}

func TestRoomsListsThoseWithThePrefix(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	for _, room := range []engine.RoomName{"m-1", "m-2", "other-1"} {
		if err := h.Ensure(wait(t), room, engine.RoomOptions{}, engine.RoomState{}); err != nil {
			t.Fatal(err)
		}
	}
	h.join(t, "m-2", "one", engine.Traits{})
	h.join(t, "m-2", "watcher", engine.Traits{Hidden: true})
	testkit.Eventually(t, patience, func() error { // the count lags
		rooms, err := h.Rooms(wait(t), "m-")
		if err != nil {
			return err
		}
		got := map[engine.RoomName]int{}
		for _, r := range rooms {
			got[r.Name] = r.Participants
		}
		if diff := cmp.Diff(map[engine.RoomName]int{"m-1": 0, "m-2": 1}, got); diff != "" {
			return errorf("rooms and participants (-want +got):\n%s", diff)
		}
		return nil
	})
	if rooms, err := h.Rooms(wait(t), ""); err != nil || len(rooms) != 3 {
		t.Errorf("%d rooms and error %v without a prefix, want 3 and none", len(rooms), err)
	}
}

// A SID tells one room: the same by each address and key of a LiveKit, and another one when a room of that name is made again.
func TestSIDsTellRoomsApart(t *testing.T) {
	const otherSecret = "another-secret-of-more-than-32-characters"
	h := open(t, testkit.LiveKitOptions{MoreKeys: map[string]string{"another": otherSecret}})
	twin := dial(t, engine.Server{URL: strings.Replace(h.URL, "127.0.0.1", "localhost", 1), Key: "another", Secret: otherSecret})
	sid := func(e engine.Engine) string {
		t.Helper()
		listed, err := e.Rooms(wait(t), "m-1")
		if err != nil || len(listed) != 1 {
			t.Fatalf("%d rooms, %v", len(listed), err)
		}
		room, there, err := e.Room(wait(t), "m-1")
		if err != nil || !there || room.SID == "" || room.SID != listed[0].SID {
			t.Fatalf("room is %+v (%t, %v), listed as %+v", room, there, err, listed[0])
		}
		return room.SID
	}
	var sids [2]string
	for i := range sids {
		if err := h.Ensure(wait(t), "m-1", engine.RoomOptions{}, engine.RoomState{}); err != nil {
			t.Fatal(err)
		}
		if sids[i] = sid(h); sids[i] != sid(twin) {
			t.Errorf("one room has the SIDs %s and %s", sids[i], sid(twin))
		}
		if err := h.Drop(wait(t), "m-1"); err != nil {
			t.Fatal(err)
		}
	}
	if sids[0] == sids[1] {
		t.Errorf("two rooms have the SID %s", sids[0])
	}
}
