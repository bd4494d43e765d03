// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"time"

	"github.com/livekit/protocol/auth"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// Inspect says nothing of why a token is refused, so that no part of one gets into a log. It knows the tokens that
// LiveKit renews for those who are in, unless LiveKit has more keys than ours: it signs with any of them.
func (c *client) Inspect(token string) (engine.Bearer, error) {
	claims, valid, ok := c.verify(token)
	if !ok || !opensRoom(claims) {
		return engine.Bearer{}, errToken
	}
	b := engine.Bearer{Room: engine.RoomName(claims.Video.Room), Identity: engine.Identity(claims.Identity)}
	traits := traitsOf(claims.Attributes)
	c.sealer.open(claims.Attributes[attributeClient], b.Room, b.Identity).addTo(&traits)
	b.Username, b.Granted, b.In = traits.Username, traits.Granted, traits.In || valid.length() > maxLifetime
	return b, nil
}

var errToken = fault.Denied("This access token is not valid here; join the meeting again")

// opensRoom is false for the tokens of our own calls and of webhooks, which are signed with the same key.
func opensRoom(claims *auth.ClaimGrants) bool {
	return claims.Identity != "" && claims.Video != nil && claims.Video.RoomJoin && claims.Video.Room != ""
}

// validity is when a token becomes valid, and when it ends.
type validity struct{ from, to time.Time }

func (v validity) length() time.Duration { return v.to.Sub(v.from) }

func (c *client) KeyOf(token string) string {
	parsed, err := auth.ParseAPIToken(token)
	if err != nil {
		return ""
	}
	return parsed.APIKey()
}

// verify reads a token signed with our key, which pins the algorithm. It accepts, as LiveKit does, one minute past the
// token's end.
func (c *client) verify(token string) (claims *auth.ClaimGrants, valid validity, ok bool) {
	parsed, err := auth.ParseAPIToken(token)
	if err != nil || parsed.APIKey() != c.Key {
		return nil, valid, false
	}
	registered, claims, err := parsed.Verify(c.Secret)
	if err != nil {
		return nil, valid, false
	}
	valid = validity{registered.ExpiresAt.Time, registered.ExpiresAt.Time}
	if registered.NotBefore != nil {
		valid.from = registered.NotBefore.Time
	}
	return claims, valid, true
}
