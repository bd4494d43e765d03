// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"context"
	"slices"

	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// mute lasts: the participant may not publish sound again, whatever they call it. A changed page would call its microphone
// the sound of its screen.
func (c *client) mute(ctx context.Context, room engine.RoomName, who engine.Identity) error {
	p, err := call(ctx, c, adminOf(room), c.rooms.GetParticipant, identityIn(room, who))
	if err != nil {
		return err
	}
	for _, track := range p.GetTracks() {
		if !isSound(track) || track.GetMuted() {
			continue
		}
		_, err := call(ctx, c, adminOf(room), c.rooms.MutePublishedTrack, &lk.MuteRoomTrackRequest{
			Room: string(room), Identity: string(who), TrackSid: track.GetSid(), Muted: true,
		})
		if err != nil && !fault.Is(err, fault.KindNotFound) {
			return err
		}
	}
	permission := silenced(p)
	if proto.Equal(permission, p.GetPermission()) {
		return nil
	}
	_, err = call(ctx, c, adminOf(room), c.rooms.UpdateParticipant, &lk.UpdateParticipantRequest{
		Room: string(room), Identity: string(who), Permission: permission,
	})
	return err
}

// isSound goes by the kind of track: LiveKit lets a participant send sound and call it its camera.
func isSound(track *lk.TrackInfo) bool { return track.GetType() == lk.TrackType_AUDIO }

// silenced takes the sources of sound, and what else the participant sends sound as, out of what it may publish. It
// returns a whole permission, because LiveKit takes a field that is left out for a no: an omitted hidden would show a
// hidden peer.
func silenced(p *lk.ParticipantInfo) *lk.ParticipantPermission {
	permission := proto.CloneOf(p.GetPermission())
	if !permission.GetCanPublish() {
		return permission
	}
	taken := slices.Clone(soundSources)
	for _, track := range p.GetTracks() {
		if isSound(track) {
			taken = append(taken, track.GetSource())
		}
	}
	left := permission.GetCanPublishSources()
	if len(left) == 0 { // which LiveKit takes for all
		left = sources
	}
	permission.CanPublishSources = slices.DeleteFunc(slices.Clone(left), func(s lk.TrackSource) bool {
		return slices.Contains(taken, s)
	})
	permission.CanPublish = len(permission.GetCanPublishSources()) > 0
	return permission
}
