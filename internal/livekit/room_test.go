// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/mediaserver"
)

func dialMediaServer(t *testing.T, s *mediaserver.Server) engine.Engine {
	t.Helper()
	return dial(t, engine.Server{URL: s.URL, Key: s.Key, Secret: s.Secret})
}

// A look at one room costs one room, however many the server has.
func TestRoomAsksForOneRoom(t *testing.T) {
	server := mediaserver.New(t)
	for i := range 1000 {
		server.Fill(fmt.Sprintf("m-%d", i), mediaserver.Person("anna", time.Now()))
	}
	room, there, err := dialMediaServer(t, server).Room(wait(t), "m-7")
	if err != nil || !there || room.Name != "m-7" || room.Participants != 1 {
		t.Errorf("the room is %+v, there: %t, error: %v", room, there, err)
	}
	if n := server.Listed(); n != 1 {
		t.Errorf("the server answered with %d rooms, want 1", n)
	}
}

// The media server of the tests answers what LiveKit answers.
func TestMediaServerAnswersAsLiveKit(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	plain := mediaserver.New(t)
	want := script(t, h.Engine, func(room engine.RoomName) { h.join(t, room, "anna", engine.Traits{}) })
	got := script(t, dialMediaServer(t, plain), func(room engine.RoomName) {
		plain.Fill(string(room), mediaserver.Person("anna", time.Now()))
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("LiveKit's answers (-) and those of the media server (+):\n%s", diff)
	}
}

// TestMediaServerSaysAsMuchAsLiveKit: what the media server of the tests says about a room and a participant is as long as what LiveKit says.
// Bounds on lists depend on that.
func TestMediaServerSaysAsMuchAsLiveKit(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	name := h.room(t)
	h.join(t, name, "anna", engine.Traits{})
	plain := mediaserver.New(t)
	anna := mediaserver.Person("anna", time.Now())
	anna.Name = "Name of anna"
	plain.Fill(string(name), anna)
	sizes := func(at house) (room, participant int) {
		t.Helper()
		c, ctx := at.raw(t, auth.VideoGrant{RoomList: true, RoomAdmin: true, Room: string(name)})
		rooms, err := c.ListRooms(ctx, &lk.ListRoomsRequest{Names: []string{string(name)}})
		if err != nil {
			t.Fatal(err)
		}
		people, err := c.ListParticipants(ctx, &lk.ListParticipantsRequest{Room: string(name)})
		if err != nil {
			t.Fatal(err)
		}
		return proto.Size(rooms.GetRooms()[0]), proto.Size(people.GetParticipants()[0])
	}
	wantRoom, wantParticipant := sizes(h)
	gotRoom, gotParticipant := sizes(house{LiveKitServer: &testkit.LiveKitServer{URL: plain.URL, Key: plain.Key, Secret: plain.Secret}})
	near := func(got, want int) bool { return 10*got > 9*want && 10*got < 11*want }
	if !near(gotRoom, wantRoom) || !near(gotParticipant, wantParticipant) {
		t.Errorf("LiveKit says %d bytes about a room and %d about a participant, the media server %d and %d", wantRoom, wantParticipant, gotRoom, gotParticipant)
	}
}

// script asks a server all that Convene asks, and writes the answers down.
func script(t *testing.T, e engine.Engine, enter func(engine.RoomName)) []string {
	t.Helper()
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	kind := func(err error) string {
		if err == nil {
			return "ok"
		}
		return fmt.Sprint(fault.As(err).Kind)
	}
	rooms := func() {
		list, err := e.Rooms(wait(t), "m-")
		var names []string
		for _, r := range list {
			names = append(names, string(r.Name))
		}
		say("rooms %s: %s", strings.Join(names, " "), kind(err))
	}
	one := func(name engine.RoomName) {
		room, there, err := e.Room(wait(t), name)
		say("room %s there %t: %s", room.Name, there, kind(err))
		people, err := e.Participants(wait(t), name)
		for _, p := range people {
			say("in %s: %s, hidden %t, audio %t, joined %t", name, p.Identity, p.Hidden, p.Audio, !p.JoinedAt.IsZero())
		}
		say("participants: %s", kind(err))
	}
	rooms()
	one("m-1")
	say("close what is not there: %s", kind(e.Close(wait(t), "m-1", "")))
	say("ensure: %s", kind(e.Ensure(wait(t), "m-1", engine.RoomOptions{MaxParticipants: 10}, engine.RoomState{})))
	say("ensure again: %s", kind(e.Ensure(wait(t), "m-1", engine.RoomOptions{}, engine.RoomState{})))
	rooms()
	one("m-1")
	enter("m-1")
	testkit.Eventually(t, patience, func() error {
		if people, err := e.Participants(wait(t), "m-1"); err != nil || len(people) != 1 {
			return errorf("%d are in, error %v", len(people), err)
		}
		return nil
	})
	one("m-1")
	for _, who := range []engine.Identity{"anna", "nobody"} {
		there, err := e.Present(wait(t), "m-1", who)
		say("%s is present %t: %s", who, there, kind(err))
		say("remove %s: %s", who, kind(e.Act(wait(t), "m-1", engine.Remove{Who: who})))
	}
	say("close: %s", kind(e.Close(wait(t), "m-1", "")))
	one("m-1")
	return lines
}
