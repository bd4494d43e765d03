// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// maxLifetime bounds the tokens that are made here: LiveKit renews a token for at least ten minutes, and for those alone who are connected.
const maxLifetime = 5 * time.Minute

// maxNameBytes is LiveKit's limit on names of rooms and identities.
const maxNameBytes = 256

func (c *client) Grant(grant engine.Grant) (string, error) {
	if err := check(grant); err != nil {
		return "", fault.As(err)
	}
	attributes := attributesOf(grant.Traits)
	sealed, err := c.sealer.seal(noteOf(grant.Traits), grant.Room, grant.Identity)
	if err != nil {
		return "", err
	}
	if sealed != "" {
		attributes[attributeClient] = sealed
	}
	return c.sign(grant, attributes)
}

// Limit keeps of a token who it is for and what it tells about them. What it allows is made again, so that nothing else is in it.
func (c *client) Limit(token string, rights engine.Rights) (string, error) {
	claims, valid, ok := c.verify(token)
	if !ok || !opensRoom(claims) {
		return "", errToken
	}
	grant := engine.Grant{
		Room: engine.RoomName(claims.Video.Room), Identity: engine.Identity(claims.Identity), Name: claims.Name,
		Traits: engine.Traits{Hidden: claims.Video.Hidden}, Forbidden: rights.Forbidden, Waiting: !claims.Video.GetCanSubscribe(),
		// A token is taken for a moment after its end, where clocks differ.
		Lifetime: max(time.Until(valid.to), time.Second),
	}
	attributes := maps.Clone(claims.Attributes)
	if attributes == nil {
		attributes = map[string]string{}
	}
	if attributes[attributePresenter] != flag(rights.Presenter) {
		sealed, err := c.noteRole(attributes, grant.Room, grant.Identity)
		if err != nil {
			return "", err
		}
		attributes[attributeClient], attributes[attributePresenter] = sealed, flag(rights.Presenter)
	}
	attributes[attributePromoted], attributes[attributeHeld] = flag(rights.Promoted), strings.Join(rights.Held.Names(), ",")
	maps.DeleteFunc(attributes, func(_, value string) bool { return value == "" })
	return c.sign(grant, attributes)
}

func (c *client) sign(grant engine.Grant, attributes map[string]string) (string, error) {
	token := auth.NewAccessToken(c.Key, c.Secret).
		SetIdentity(string(grant.Identity)).
		SetName(grant.Name).
		SetAttributes(attributes).
		SetVideoGrant(videoGrant(grant)).
		SetValidFor(grant.Lifetime)
	if grant.Hidden || grant.Waiting {
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
	case grant.Lifetime <= 0 || grant.Lifetime > maxLifetime:
		return errors.New("a grant needs a lifetime of at most 5 minutes")
	}
	return nil
}

func videoGrant(grant engine.Grant) *auth.VideoGrant {
	hidden := grant.Hidden || grant.Waiting
	video := &auth.VideoGrant{RoomJoin: true, Room: string(grant.Room), Hidden: hidden}
	video.SetCanSubscribe(!grant.Waiting)
	allowed := allowedSources(grant.Forbidden, nil)
	// A hidden publisher's tracks would be offered to the others. No source at all would be taken for all.
	video.SetCanPublish(!hidden && len(allowed) > 0)
	if !hidden {
		video.SetCanPublishSources(allowed)
	}
	// Data goes through us, which is how chat can be off for some.
	video.SetCanPublishData(false)
	// It would let a peer change its own name and every attribute.
	video.SetCanUpdateOwnMetadata(false)
	return video
}
