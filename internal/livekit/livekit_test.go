// SPDX-License-Identifier: Apache-2.0

package livekit_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"
	"github.com/twitchtv/twirp"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// patience is for what must happen; nothing here is measured by it.
const patience = 20 * time.Second

// house is an Engine and the LiveKit behind it.
type house struct {
	engine.Engine
	*testkit.LiveKitServer
}

func open(t *testing.T, opts testkit.LiveKitOptions) house {
	t.Helper()
	t.Parallel()
	server := testkit.LiveKit(t, opts)
	return house{dial(t, engine.Server{URL: server.URL, Key: server.Key, Secret: server.Secret}), server}
}

func dial(t *testing.T, server engine.Server) engine.Engine {
	t.Helper()
	e, err := livekit.New("media", server)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func wait(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// room makes a room that lasts until told.
func (h house) room(t *testing.T) engine.RoomName {
	t.Helper()
	name := engine.RoomName("room-" + rand.Text())
	if err := h.Ensure(wait(t), name, engine.RoomOptions{}, engine.RoomState{}); err != nil {
		t.Fatal(err)
	}
	return name
}

func (h house) grant(t *testing.T, room engine.RoomName, who engine.Identity, traits engine.Traits) string {
	t.Helper()
	token, err := h.Grant(engine.Grant{Room: room, Identity: who, Name: "Name of " + string(who), Traits: traits, Lifetime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func (h house) join(t *testing.T, room engine.RoomName, who engine.Identity, traits engine.Traits) *peer.Peer {
	t.Helper()
	return h.enter(t, h.grant(t, room, who, traits))
}

func (h house) enter(t *testing.T, token string) *peer.Peer {
	t.Helper()
	p, err := peer.Join(wait(t), h.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// participant returns what the engine lists of a participant.
func (h house) participant(t *testing.T, room engine.RoomName, who engine.Identity) (engine.Participant, error) {
	t.Helper()
	people, err := h.Participants(wait(t), room)
	if err != nil {
		return engine.Participant{}, err
	}
	for _, p := range people {
		if p.Identity == who {
			return p, nil
		}
	}
	return engine.Participant{}, errors.New(string(who) + " is not listed")
}

// raw is LiveKit's own API, for what only others do to it.
func (h house) raw(t *testing.T, grant auth.VideoGrant) (lk.RoomService, context.Context) {
	t.Helper()
	token, err := auth.NewAccessToken(h.Key, h.Secret).SetVideoGrant(&grant).ToJWT()
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := twirp.WithHTTPRequestHeaders(wait(t), http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		t.Fatal(err)
	}
	return lk.NewRoomServiceProtobufClient(h.URL, http.DefaultClient), ctx
}

func wantKind(t *testing.T, err error, want fault.Kind) {
	t.Helper()
	if !fault.Is(err, want) {
		t.Fatalf("error is %v of kind %v, want kind %v", err, fault.As(err).Kind, want)
	}
}

func reasonOf(t *testing.T, p *peer.Peer) peer.Reason {
	t.Helper()
	select {
	case reason := <-p.Disconnected():
		return reason
	case <-wait(t).Done():
		t.Fatal("the peer is still connected")
		return ""
	}
}

func until(t *testing.T, p *peer.Peer, what string, condition func() bool) {
	t.Helper()
	if err := p.Until(wait(t), condition); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
