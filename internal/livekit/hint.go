// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"

	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/encoding/protojson"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// Signed reports whether this server signed a webhook: some body, by its hash. Hint checks that it is this one.
func (c *client) Signed(authorization string) bool {
	claims, _, ok := c.verify(authorization)
	return ok && claims.Sha256 != ""
}

// Hint answers a denied fault for a webhook that this server did not sign, and an invalid one for one about no room.
func (c *client) Hint(authorization string, body []byte) (engine.RoomName, error) {
	claims, _, ok := c.verify(authorization)
	// The token vouches for the body by its hash, which no other token of ours has.
	sum := sha256.Sum256(body)
	if !ok || subtle.ConstantTimeCompare([]byte(claims.Sha256), []byte(base64.StdEncoding.EncodeToString(sum[:]))) != 1 {
		return "", fault.Denied("This webhook is not signed with the media server's key")
	}
	var event lk.WebhookEvent
	// Newer servers have newer fields.
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(body, &event); err != nil {
		return "", fault.Invalid("body", "This webhook is not an event").Because(err)
	}
	if event.GetRoom().GetName() == "" {
		return "", fault.Invalid("room", "This webhook is about no room")
	}
	return engine.RoomName(event.GetRoom().GetName()), nil
}
