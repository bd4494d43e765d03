// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"context"
	"slices"

	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/internal/engine"
)

// letSpeak undoes mute: the participant may publish again all that a grant without a mute allows. Tracks stay muted
// until the participant switches them on.
func (c *client) letSpeak(ctx context.Context, room engine.RoomName, who engine.Identity) error {
	p, err := call(ctx, c, adminOf(room), c.rooms.GetParticipant, identityIn(room, who))
	if err != nil {
		return err
	}
	permission := speaking(p.GetPermission())
	if proto.Equal(permission, p.GetPermission()) {
		return nil
	}
	_, err = call(ctx, c, adminOf(room), c.rooms.UpdateParticipant, &lk.UpdateParticipantRequest{
		Room: string(room), Identity: string(who), Permission: permission,
	})
	return err
}

// speaking is a permission with all sources. A hidden participant publishes nothing: the others would see its tracks.
func speaking(now *lk.ParticipantPermission) *lk.ParticipantPermission {
	permission := proto.CloneOf(now)
	if permission.GetHidden() {
		return permission
	}
	permission.CanPublish = true
	permission.CanPublishSources = slices.Clone(sources)
	return permission
}
