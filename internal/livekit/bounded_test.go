// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
	list = &lk.ListParticipantsResponse{Participants: []*lk.ParticipantInfo{withTracks(7, 1<<20)}}
	if people, err := e.Participants(t.Context(), "room"); err != nil || len(people) != 1 {
		t.Errorf("7 MiB: %d participants, %v", len(people), err)
	}
	list = &lk.ListParticipantsResponse{Participants: []*lk.ParticipantInfo{withTracks(9, 1<<20)}}
	people, err := e.Participants(t.Context(), "room")
	if err == nil {
		t.Fatalf("9 MiB: %d participants", len(people))
	}
	if fault.Is(err, fault.KindUnavailable) {
		t.Errorf("one room makes the whole server unavailable: %v", err)
	}
}

func TestWhoIsOversized(t *testing.T) {
	sealer, err := newSealer(strings.Repeat("s", 32))
	if err != nil {
		t.Fatal(err)
	}
	c := &client{sealer: sealer}
	for name, tc := range map[string]struct {
		who  *lk.ParticipantInfo
		want bool
	}{
		"an honest participant":      {withTracks(4, 36), false},
		"one with very many tracks":  {withTracks(2000, 36), true},
		"one with a very long track": {withTracks(1, 33<<10), true},
	} {
		if got := c.participant("room", tc.who).Oversized; got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
