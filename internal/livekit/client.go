// SPDX-License-Identifier: Apache-2.0

// Package livekit does with LiveKit what package engine asks. It alone knows LiveKit's protocol.
package livekit

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"
	"github.com/twitchtv/twirp"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/outbound"
)

const (
	// requestTimeout bounds one call. LiveKit takes 3 s to find out that a room's node is gone, and only the answer to
	// that tells us to move the room.
	requestTimeout = 8 * time.Second
	// requestLifetime is how long the token of one call is good for: the call, and clocks that differ.
	requestLifetime = 2 * time.Minute
)

// transports are shared by the Engines whose servers have the same caBundle.
var transports = outbound.NewTransports(func(t *http.Transport) {
	t.MaxIdleConns = 0 // no limit over all servers
	t.MaxIdleConnsPerHost = 64
})

var _ engine.Dialer = New

type client struct {
	rooms lk.RoomService
	engine.Server
	sealer sealer
	// namespace is whose share of the memory for lists is taken.
	namespace string
}

// New makes an Engine for a LiveKit server of a namespace, without connecting. A server without an http or https URL, a key or a
// secret is an invalid fault.
func New(namespace string, server engine.Server) (engine.Engine, error) {
	at, err := url.Parse(server.URL)
	if err != nil || (at.Scheme != "http" && at.Scheme != "https") || at.Host == "" || at.User != nil {
		return nil, fault.Invalid("url", "The media server's URL must be absolute, http or https, and without a user, for example http://livekit.media.svc:7880")
	}
	if server.Key == "" || server.Secret == "" {
		return nil, fault.Invalid("key", "The media server's key and secret must both be set")
	}
	sealer, err := newSealer(server.Secret)
	if err != nil {
		return nil, err
	}
	rooms := lk.NewRoomServiceProtobufClient(server.URL,
		&http.Client{Transport: bounded{transports.For(server.CABundle), namespace}, Timeout: requestTimeout},
		twirp.WithClientInterceptors(observe))
	return &client{rooms: rooms, Server: server, sealer: sealer, namespace: namespace}, nil
}

// call does one LiveKit call with a token that allows just that.
func call[Request any, Response proto.Message](
	ctx context.Context, c *client, grant auth.VideoGrant,
	verb func(context.Context, Request) (Response, error), request Request,
) (Response, error) {
	var none Response
	token, err := auth.NewAccessToken(c.Key, c.Secret).SetVideoGrant(&grant).SetValidFor(requestLifetime).ToJWT()
	if err != nil {
		return none, err
	}
	ctx, err = twirp.WithHTTPRequestHeaders(ctx, http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		return none, err
	}
	response, err := verb(context.WithValue(ctx, answerOf{}, none.ProtoReflect().Descriptor()), request)
	if err != nil {
		return none, asFault(err)
	}
	return response, nil
}

// adminOf allows everything about one room but making and deleting it.
func adminOf(room engine.RoomName) auth.VideoGrant {
	return auth.VideoGrant{RoomAdmin: true, Room: string(room)}
}

// maker may make and delete rooms.
var maker = auth.VideoGrant{RoomCreate: true}
