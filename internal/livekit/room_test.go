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
	"convene.dev/convene/internal/testkit/peer"
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
	anna, traits := engine.Identity("anna"), engine.Traits{Chat: true, OS: "Linux", Browser: "Chrome 156"}
	page := h.join(t, name, anna, traits)
	for _, source := range []peer.Source{peer.Microphone, peer.Camera} {
		if _, err := page.Publish(wait(t), source); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Eventually(t, patience, func() error {
		if p, err := h.participant(t, name, anna); err != nil || !p.Audio || !p.Video {
			return fmt.Errorf("LiveKit lists %+v, %w", p, err)
		}
		return nil
	})
	plain := mediaserver.New(t)
	plain.Fill(string(name))
	double := house{dialMediaServer(t, plain), &testkit.LiveKitServer{URL: plain.URL, Key: plain.Key, Secret: plain.Secret}}
	err := plain.Join(double.grant(t, name, anna, traits))
	if err == nil {
		err = plain.Publish(string(name), string(anna), mediaserver.Microphone(), mediaserver.Camera())
	}
	if err != nil {
		t.Fatal(err)
	}
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
	gotRoom, gotParticipant := sizes(double)
	near := func(got, want int) bool { return 10*got > 9*want && 10*got < 11*want }
	// The camera here has one size. A browser sends three.
	if !near(gotRoom, wantRoom) || gotParticipant < wantParticipant || gotParticipant > wantParticipant+200 {
		t.Errorf("LiveKit says %d bytes about a room and %d about a participant, the media server %d and %d", wantRoom, wantParticipant, gotRoom, gotParticipant)
	}
}
