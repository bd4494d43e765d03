// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"errors"
	"slices"

	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// maxNameBytes is LiveKit's limit on names of rooms and identities.
const maxNameBytes = 256

// sources are what a participant may publish. None named would mean all.
var sources = []lk.TrackSource{
	lk.TrackSource_CAMERA, lk.TrackSource_MICROPHONE, lk.TrackSource_SCREEN_SHARE, lk.TrackSource_SCREEN_SHARE_AUDIO,
}

// soundSources are those of them that carry sound.
var soundSources = []lk.TrackSource{lk.TrackSource_MICROPHONE, lk.TrackSource_SCREEN_SHARE_AUDIO}

func (c *client) Grant(grant engine.Grant) (string, error) {
	if err := check(grant); err != nil {
		return "", fault.As(err)
	}
	attributes := attributesOf(grant.Traits)
	sealed, err := c.sealer.seal(grant.OS, grant.Browser, grant.Room, grant.Identity)
	if err != nil {
		return "", err
	}
	if sealed != "" {
		attributes[attributeClient] = sealed
	}
	token := auth.NewAccessToken(c.Key, c.Secret).
		SetIdentity(string(grant.Identity)).
		SetName(grant.Name).
		SetAttributes(attributes).
		SetVideoGrant(videoGrant(grant)).
		SetValidFor(grant.Lifetime)
	if grant.Hidden {
		// LiveKit does not count agents among a room's participants: the count would give a hidden one away.
		token.SetKind(lk.ParticipantInfo_AGENT)
	}
	signed, err := token.ToJWT()
	if err != nil {
		return "", fault.As(err)
	}
	return signed, nil
}

// check refuses what LiveKit would take for something wider: no room is every room, no lifetime six hours.
func check(grant engine.Grant) error {
	switch {
	case grant.Room == "" || len(grant.Room) > maxNameBytes:
		return errors.New("a grant needs a room name of 1 to 256 bytes")
	case grant.Identity == "" || len(grant.Identity) > maxNameBytes:
		return errors.New("a grant needs an identity of 1 to 256 bytes")
	case grant.Lifetime <= 0:
		return errors.New("a grant needs a lifetime")
	}
	return nil
}

// sourcesOf leaves more than nothing, which LiveKit would take for all.
func sourcesOf(grant engine.Grant) []lk.TrackSource {
	return slices.DeleteFunc(slices.Clone(sources), func(s lk.TrackSource) bool {
		return grant.Muted && slices.Contains(soundSources, s)
	})
}

func videoGrant(grant engine.Grant) *auth.VideoGrant {
	video := &auth.VideoGrant{RoomJoin: true, Room: string(grant.Room), Hidden: grant.Hidden}
	video.SetCanSubscribe(true)
	// A hidden publisher's tracks would be offered to the others.
	video.SetCanPublish(!grant.Hidden)
	if !grant.Hidden {
		video.SetCanPublishSources(sourcesOf(grant))
	}
	// Data goes through us, which is how chat can be off for some.
	video.SetCanPublishData(false)
	// It would let a peer change its own name and every attribute.
	video.SetCanUpdateOwnMetadata(false)
	return video
}
