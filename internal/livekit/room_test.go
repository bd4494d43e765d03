// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/engineclaims"
	"convene.dev/convene/internal/testkit/faultyengine"
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

// TestLiveKitIsAsItsDoubles: what the doubles of a media server answer, LiveKit answers as well.
func TestLiveKitIsAsItsDoubles(t *testing.T) {
	h := open(t, testkit.LiveKitOptions{})
	enter := func(anna engine.Traits) { h.join(t, engineclaims.Room, "anna", anna) }
	if diff := cmp.Diff(engineclaims.Want, engineclaims.Answers(t, h.Engine, enter)); diff != "" {
		t.Errorf("answers (-want +got)\n%s", diff)
	}
	plain := mediaserver.New(t)
	enter = func(engine.Traits) { plain.Fill(string(engineclaims.Room), mediaserver.Person("anna", time.Now())) }
	if diff := cmp.Diff(engineclaims.Want, engineclaims.Answers(t, dialMediaServer(t, plain), enter)); diff != "" {
		t.Errorf("answers of package mediaserver (-want +got)\n%s", diff)
	}
	faulty := faultyengine.New()
	enter = func(anna engine.Traits) {
		faulty.Seat(engineclaims.Room, engine.Participant{Identity: "anna", JoinedAt: faultyengine.Monday, Traits: anna})
	}
	if diff := cmp.Diff(engineclaims.Want, engineclaims.Answers(t, faulty, enter)); diff != "" {
		t.Errorf("answers of package faultyengine (-want +got)\n%s", diff)
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
