// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// withTracks is a participant with so many tracks, each with a name of so many bytes.
func withTracks(tracks, nameLength int) *lk.ParticipantInfo {
	p := &lk.ParticipantInfo{Identity: "eve-1"}
	for range tracks {
		p.Tracks = append(p.Tracks, &lk.TrackInfo{Sid: "TR_x", Name: strings.Repeat("x", nameLength)})
	}
	return p
}

// TestALongAnswerIsRefused: what participants have the media server keep does not decide how much memory a manager takes.
func TestALongAnswerIsRefused(t *testing.T) {
	var list proto.Message
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body, err := proto.Marshal(list)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/protobuf")
		_, _ = w.Write(body)
	}))
	defer server.Close()
	e, err := New(engine.Server{URL: server.URL, Key: "key", Secret: strings.Repeat("s", 32)})
	if err != nil {
		t.Fatal(err)
	}
	list = &lk.ListParticipantsResponse{Participants: []*lk.ParticipantInfo{withTracks(15, 1<<20)}}
	if people, err := e.Participants(t.Context(), "room"); err != nil || len(people) != 1 {
		t.Errorf("15 MiB: %d participants, %v", len(people), err)
	}
	list = &lk.ListParticipantsResponse{Participants: []*lk.ParticipantInfo{withTracks(17, 1<<20)}}
	people, err := e.Participants(t.Context(), "room")
	if err == nil {
		t.Fatalf("17 MiB: %d participants", len(people))
	}
	if fault.Is(err, fault.KindUnavailable) {
		t.Errorf("one room makes the whole server unavailable: %v", err)
	}
}

// honest is a participant as the page of one makes it, who sends all that there is.
func honest(t *testing.T, c *client, traits engine.Traits, name string) *lk.ParticipantInfo {
	t.Helper()
	p := &lk.ParticipantInfo{Identity: "67xvy3yygaz7iabm-kmbx42sxspnn5f5n", Name: name, Attributes: attributesOf(traits)}
	sealed, err := c.sealer.seal(noteOf(traits), "room", engine.Identity(p.Identity))
	if err != nil {
		t.Fatal(err)
	}
	p.Attributes[attributeClient], p.Attributes[attributeHand], p.Attributes[attributeHandSince] = sealed, yes, "1795698177026"
	for range 4 { // As LiveKit lists a picture in three sizes.
		p.Tracks = append(p.Tracks, &lk.TrackInfo{Sid: strings.Repeat("x", 300)})
	}
	return p
}

func TestWhoIsOversized(t *testing.T) {
	sealer, err := newSealer(strings.Repeat("s", 32))
	if err != nil {
		t.Fatal(err)
	}
	c := &client{sealer: sealer}
	longest := honest(t, c, engine.Traits{
		Chat: true, Notify: true, Avatar: strings.Repeat("a", 4096), OS: strings.Repeat("o", 64), Browser: strings.Repeat("b", 64),
		Username: strings.Repeat("<", 128), Since: time.Now(), Message: strings.Repeat("<", 200),
	}, strings.Repeat("𝕏", 128))
	for name, tc := range map[string]struct {
		who  *lk.ParticipantInfo
		want bool
	}{
		"an honest participant":                 {honest(t, c, engine.Traits{Chat: true, OS: "Windows", Browser: "Chrome 141"}, "Ann"), false},
		"one of whom everything is very long":   {longest, false},
		"one with very many tracks":             {withTracks(300, 36), true},
		"one with a very long track":            {withTracks(1, 13<<10), true},
		"one who sends the longest many times":  {withTracks(14, 1000), true},
		"one who sends the longest a few times": {withTracks(8, 1000), false},
	} {
		if got := c.participant("room", tc.who).Oversized; got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
