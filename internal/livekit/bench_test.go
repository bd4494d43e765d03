// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"fmt"
	"testing"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// BenchmarkParticipants is what every look at a room costs: every room with a participant in it, every two seconds.
func BenchmarkParticipants(b *testing.B) {
	server := testkit.LiveKit(b, testkit.LiveKitOptions{})
	e, err := livekit.New("media", engine.Server{URL: server.URL, Key: server.Key, Secret: server.Secret})
	if err != nil {
		b.Fatal(err)
	}
	for _, people := range []int{0, 10} {
		room := engine.RoomName(fmt.Sprintf("m-%d", people))
		if err := e.Ensure(b.Context(), room, engine.RoomOptions{}, engine.RoomState{}); err != nil {
			b.Fatal(err)
		}
		for i := range people {
			token, err := e.Grant(engine.Grant{
				Room: room, Identity: engine.Identity(fmt.Sprint(i)), Lifetime: time.Minute,
				Traits: engine.Traits{Chat: true, OS: "Linux", Browser: "Firefox"},
			})
			if err != nil {
				b.Fatal(err)
			}
			p, err := peer.Join(b.Context(), server.URL, token)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(p.Close)
		}
		b.Run(fmt.Sprintf("people=%d", people), func(b *testing.B) {
			for b.Loop() {
				if got, err := e.Participants(b.Context(), room); err != nil || len(got) != people {
					b.Fatalf("%d participants and error %v, want %d", len(got), err, people)
				}
			}
		})
	}
}
