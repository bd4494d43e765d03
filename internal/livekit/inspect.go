// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"github.com/livekit/protocol/auth"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// Inspect says nothing of why a token is refused, so that no part of one gets into a log. It knows the tokens that
// LiveKit renews for those who are in, unless LiveKit has more keys than ours: it signs with any of them.
func (c *client) Inspect(token string) (engine.RoomName, engine.Identity, error) {
	claims, ok := c.verify(token)
	// The tokens of our own calls and of webhooks are signed with the same key, but open no room.
	if !ok || claims.Identity == "" || claims.Video == nil || !claims.Video.RoomJoin || claims.Video.Room == "" {
		return "", "", fault.Denied("This access token is not valid here; join the meeting again")
	}
	return engine.RoomName(claims.Video.Room), engine.Identity(claims.Identity), nil
}

// verify reads a token signed with our key, which pins the algorithm. It accepts, as LiveKit does, one minute past the
// token's end.
func (c *client) verify(token string) (*auth.ClaimGrants, bool) {
	parsed, err := auth.ParseAPIToken(token)
	if err != nil || parsed.APIKey() != c.Key {
		return nil, false
	}
	_, claims, err := parsed.Verify(c.Secret)
	return claims, err == nil
}
