// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	lk "github.com/livekit/protocol/livekit"
	"github.com/twitchtv/twirp"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// needed is what a participant has to be allowed for a source. A changed page would call its microphone the sound of its screen.
var needed = map[lk.TrackSource]engine.Abilities{
	lk.TrackSource_MICROPHONE:         engine.Microphone,
	lk.TrackSource_CAMERA:             engine.Camera,
	lk.TrackSource_SCREEN_SHARE:       engine.Screen,
	lk.TrackSource_SCREEN_SHARE_AUDIO: engine.Screen | engine.Microphone,
}

// sources are what a participant may publish. None named would mean all.
var sources = slices.Sorted(maps.Keys(needed))

// allowedSources are those that a participant may publish who is forbidden something, and has sent sound as some others.
func allowedSources(forbidden engine.Abilities, disguises []lk.TrackSource) []lk.TrackSource {
	return slices.DeleteFunc(slices.Clone(sources), func(s lk.TrackSource) bool {
		return forbidden&needed[s] != 0 || slices.Contains(disguises, s)
	})
}

// forbiddenOf is what a permission keeps a participant from, but for disguises.
func forbiddenOf(permission *lk.ParticipantPermission, disguises []lk.TrackSource) (forbidden engine.Abilities) {
	allowed := permission.GetCanPublishSources()
	if len(allowed) == 0 && permission.GetCanPublish() { // which LiveKit takes for all
		return 0
	}
	for s, needs := range needed {
		// What the sound of a screen needs are the abilities of two other sources.
		if s != lk.TrackSource_SCREEN_SHARE_AUDIO && !slices.Contains(disguises, s) && (!permission.GetCanPublish() || !slices.Contains(allowed, s)) {
			forbidden |= needs
		}
	}
	return forbidden
}

// isSound goes by the kind of track: LiveKit lets a participant send sound and call it its camera.
func isSound(track *lk.TrackInfo) bool { return track.GetType() == lk.TrackType_AUDIO }

// setRights lasts: what is forbidden cannot be published again, whatever it is called.
func (c *client) setRights(ctx context.Context, room engine.RoomName, who engine.Identity, rights engine.Rights) error {
	off, on, update, err := c.change(ctx, room, who, rights)
	if err != nil {
		return err
	}
	if err := c.muteTracks(ctx, room, who, true, off); err != nil {
		return err
	}
	// A LiveKit that may not unmute refuses the next try, too.
	refused := c.muteTracks(ctx, room, who, false, on)
	if refused != nil && !fault.Is(refused, fault.KindConflict) {
		return refused
	}
	if update != nil {
		if _, err = call(ctx, c, adminOf(room), c.rooms.UpdateParticipant, update); err != nil {
			return err
		}
	}
	return refused
}

// change returns the tracks to turn off and to turn on for some rights, and the update of the participant, which is nil for none. All else that the
// media server says of the participant is let go: these calls may take their time.
func (c *client) change(
	ctx context.Context, room engine.RoomName, who engine.Identity, rights engine.Rights,
) (off, on []string, update *lk.UpdateParticipantRequest, err error) {
	p, err := call(ctx, c, adminOf(room), c.rooms.GetParticipant, identityIn(room, who))
	if err != nil {
		return nil, nil, nil, err
	}
	if kinds[p.GetKind()] == "" {
		// LiveKit ends all else with the permission.
		off = tracksOf(p, rights.Forbidden&engine.Microphone)
	} else {
		off = tracksOf(p, rights.Forbidden)
		on = mutedTracksOf(p, namedIn(p.GetAttributes(), attributeForbidden)&^mutedBefore(p), rights.Forbidden)
	}
	if update = updateOf(p, rights); update == nil {
		return off, on, nil, nil
	}
	if _, changes := update.GetAttributes()[attributePresenter]; changes {
		if update.Attributes[attributeClient], err = c.noteRole(p.GetAttributes(), room, who); err != nil {
			return nil, nil, nil, err
		}
	}
	update.Room, update.Identity = string(room), string(who)
	return off, on, update, nil
}

// noteRole is the sealed note of a participant whose role is about to change, with what they came as, unless it has that already.
func (c *client) noteRole(attributes map[string]string, room engine.RoomName, who engine.Identity) (string, error) {
	n := c.sealer.open(attributes[attributeClient], room, who)
	if n.Granted != nil {
		return attributes[attributeClient], nil
	}
	granted := attributes[attributePresenter] == yes
	n.Granted = &granted
	return c.sealer.seal(n, room, who)
}

// updateOf is what has to change of a participant for some rights; nil for nothing. It has a whole permission, because LiveKit
// takes a field that is left out for a no: an omitted hidden would show a hidden peer.
func updateOf(p *lk.ParticipantInfo, rights engine.Rights) *lk.UpdateParticipantRequest {
	attributes := map[string]string{}
	set := func(name, value string) {
		if p.GetAttributes()[name] != value {
			attributes[name] = value
		}
	}
	set(attributePresenter, flag(rights.Presenter))
	set(attributePromoted, flag(rights.Promoted))
	set(attributeHeld, strings.Join(rights.Held.Names(), ","))
	permission := proto.CloneOf(p.GetPermission())
	switch {
	case kinds[p.GetKind()] != "":
		set(attributeForbidden, strings.Join(rights.Forbidden.Names(), ","))
	case permission != nil && !permission.GetHidden(): // A hidden participant publishes nothing: the others would see its tracks.
		disguises := disguisesOf(p, rights.Forbidden)
		set(attributeDisguises, nameSources(disguises))
		permission.CanPublishSources = allowedSources(rights.Forbidden, disguises)
		permission.CanPublish = len(permission.GetCanPublishSources()) > 0
	}
	if len(attributes) == 0 && samePermission(permission, p.GetPermission()) {
		return nil
	}
	return &lk.UpdateParticipantRequest{Permission: permission, Attributes: attributes}
}

// samePermission knows that LiveKit keeps sources in an order of its own.
func samePermission(a, b *lk.ParticipantPermission) bool {
	a, b = proto.CloneOf(a), proto.CloneOf(b)
	slices.Sort(a.GetCanPublishSources())
	slices.Sort(b.GetCanPublishSources())
	return proto.Equal(a, b)
}

// disguisesOf are allowed sources as which a participant sends what is forbidden, or has sent it since: sound as a camera, or a picture as a
// microphone. They are forbidden too while that is: the participant would send it again.
func disguisesOf(p *lk.ParticipantInfo, forbidden engine.Abilities) (disguises []lk.TrackSource) {
	disguises = parseSources(p.GetAttributes()[attributeDisguises])
	for _, track := range p.GetTracks() {
		if s := track.GetSource(); carries(track)&forbidden != 0 && !slices.Contains(disguises, s) {
			disguises = append(disguises, s)
		}
	}
	slices.Sort(disguises)
	return slices.DeleteFunc(disguises, func(s lk.TrackSource) bool {
		disguised := engine.Microphone
		if needed[s].Has(engine.Microphone) {
			disguised = engine.Camera
		}
		return needed[s] == 0 || needed[s]&forbidden != 0 || disguised&forbidden == 0
	})
}

func nameSources(list []lk.TrackSource) string {
	var names []string
	for _, s := range list {
		names = append(names, s.String())
	}
	return strings.Join(names, ",")
}

func parseSources(names string) (list []lk.TrackSource) {
	for name := range strings.SplitSeq(names, ",") {
		if s, known := lk.TrackSource_value[name]; known {
			list = append(list, lk.TrackSource(s))
		}
	}
	return list
}

// mute turns off what a participant publishes of some abilities.
func (c *client) mute(ctx context.Context, room engine.RoomName, who engine.Identity, what engine.Abilities) error {
	p, err := call(ctx, c, adminOf(room), c.rooms.GetParticipant, identityIn(room, who))
	if err != nil {
		return err
	}
	tracks := tracksOf(p, what)
	if err := c.muteTracks(ctx, room, who, true, tracks); err != nil || len(tracks) == 0 {
		return err
	}
	// A page that comes back after a break of its connection would switch on again what it had on.
	attributes := map[string]string{}
	for _, name := range what.Names() {
		attributes[name+attributeMutedAt] = now()
	}
	return unlessNotFound(c.setAttributes(ctx, room, who, attributes))
}

// unmute turns on what a participant without a page sends of some abilities. All others switch it on themselves.
func (c *client) unmute(ctx context.Context, room engine.RoomName, who engine.Identity, what engine.Abilities) error {
	p, err := call(ctx, c, adminOf(room), c.rooms.GetParticipant, identityIn(room, who))
	if err != nil || kinds[p.GetKind()] == "" {
		return err
	}
	tracks := mutedTracksOf(p, what, namedIn(p.GetAttributes(), attributeForbidden))
	if err := c.muteTracks(ctx, room, who, false, tracks); err != nil || what&mutedBefore(p) == 0 {
		return err
	}
	attributes := map[string]string{}
	for _, name := range what.Names() {
		attributes[name+attributeMutedAt] = ""
	}
	return unlessNotFound(c.setAttributes(ctx, room, who, attributes))
}

// mutedBefore is the set of what was turned off for a participant, and not locked.
func mutedBefore(p *lk.ParticipantInfo) (what engine.Abilities) {
	for _, a := range engine.AllAbilities() {
		if p.GetAttributes()[a.Name+attributeMutedAt] != "" {
			what |= a.Abilities
		}
	}
	return what
}

// tracksOf lists the tracks of some abilities that a participant sends. No participant who stays has more than maxTracks.
func tracksOf(p *lk.ParticipantInfo, what engine.Abilities) []string {
	return tracksWhere(p, func(track *lk.TrackInfo) bool { return carries(track)&what != 0 && !track.GetMuted() })
}

// mutedTracksOf lists the tracks of some abilities that are turned off, and have nothing that is forbidden.
func mutedTracksOf(p *lk.ParticipantInfo, what, forbidden engine.Abilities) []string {
	return tracksWhere(p, func(track *lk.TrackInfo) bool {
		return carries(track)&what != 0 && carries(track)&forbidden == 0 && track.GetMuted()
	})
}

func tracksWhere(p *lk.ParticipantInfo, is func(*lk.TrackInfo) bool) (sids []string) {
	for _, track := range p.GetTracks() {
		if is(track) && len(sids) < maxTracks {
			sids = append(sids, track.GetSid())
		}
	}
	return sids
}

// carries is what a track shows of its participant, whatever the participant calls it.
func carries(track *lk.TrackInfo) engine.Abilities {
	of := needed[track.GetSource()]
	switch {
	case isSound(track):
		return engine.Microphone | of&engine.Screen
	case of.Has(engine.Screen):
		return engine.Screen
	}
	return engine.Camera
}

func (c *client) muteTracks(ctx context.Context, room engine.RoomName, who engine.Identity, muted bool, sids []string) error {
	for _, sid := range sids {
		_, err := call(ctx, c, adminOf(room), c.rooms.MutePublishedTrack, &lk.MuteRoomTrackRequest{
			Room: string(room), Identity: string(who), TrackSid: sid, Muted: muted,
		})
		if err := unlessNotFound(err); err != nil {
			if answer := twirp.Error(nil); errors.As(err, &answer) && answer.Code() == twirp.FailedPrecondition {
				return errNoUnmute.Because(err)
			}
			return err
		}
	}
	return nil
}
