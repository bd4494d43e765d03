// SPDX-License-Identifier: Apache-2.0

package livekit

import (
	"cmp"
	"context"
	"slices"

	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

// maxParticipantSize is beyond what LiveKit keeps of an honest participant, in bytes: 700 of most, and 7,500 of one with the longest
// name, image and message who sends all that there is. LiveKit itself has no limit on the names of tracks.
const maxParticipantSize = 12 << 10

// maxTracks is beyond what a page sends: four tracks. Whoever sends more is removed.
const maxTracks = 64

// fieldsOfAll are read of every participant: who it is, and whether we let it in.
var (
	participantFields = (*lk.ParticipantInfo)(nil).ProtoReflect().Descriptor()
	fieldsOfAll       = numbersOf(participantFields, "identity", "name", "state", "kind", "permission", "joined_at", "joined_at_ms")
)

// Participants answers oldest first.
func (c *client) Participants(ctx context.Context, room engine.RoomName) ([]engine.Participant, error) {
	var people []engine.Participant
	var p lk.ParticipantInfo
	err := readList(ctx, c, adminOf(room), c.rooms.ListParticipants, &lk.ListParticipantsRequest{Room: string(room)}, &list{
		element: participantFields, maxLength: maxParticipantSize, fields: fieldsOfAll,
		take: func(encoded []byte, isShort bool) (bool, error) {
			if err := proto.Unmarshal(encoded, &p); err != nil || !takesPart(&p, isShort) {
				return false, err
			}
			who := c.participant(room, &p)
			who.Oversized = isShort || len(p.GetTracks()) > maxTracks
			people = append(people, who)
			return true, nil
		},
	})
	if err := unlessNotFound(err); err != nil {
		return nil, err
	}
	if size := sizeOf(people); size > freeHeld && !heldLists.Hold(ctx, c.namespace, size) {
		return nil, errManyLists
	}
	slices.SortFunc(people, func(a, b engine.Participant) int {
		return cmp.Or(a.JoinedAt.Compare(b.JoinedAt), cmp.Compare(a.Identity, b.Identity))
	})
	return people, nil
}

// sizeOf is what a list takes, in bytes.
func sizeOf(people []engine.Participant) (bytes int) {
	for i := range people {
		bytes += people[i].Size()
	}
	return bytes
}

// Present has the participant's node change nothing about it: the list comes from Redis, this answer from the node.
func (c *client) Present(ctx context.Context, room engine.RoomName, who engine.Identity) (bool, error) {
	_, err := call(ctx, c, adminOf(room), c.rooms.UpdateParticipant,
		&lk.UpdateParticipantRequest{Room: string(room), Identity: string(who)})
	if nodeGone(err) || fault.Is(err, fault.KindNotFound) {
		return false, nil
	}
	return err == nil, err
}

// kinds has the kinds of participants whom the operator's LiveKit brings in.
var kinds = map[lk.ParticipantInfo_Kind]v1alpha1.ParticipantKind{
	lk.ParticipantInfo_SIP: v1alpha1.KindSIP, lk.ParticipantInfo_INGRESS: v1alpha1.KindIngress,
	lk.ParticipantInfo_CONNECTOR: v1alpha1.KindConnector, lk.ParticipantInfo_BRIDGE: v1alpha1.KindBridge,
}

// takesPart reports whether this one is a participant who has not left. All others are services of the operator: recorders and agents. Of an agent
// that is short, nothing says whose it is.
func takesPart(p *lk.ParticipantInfo, isShort bool) bool {
	if p.GetState() == lk.ParticipantInfo_DISCONNECTED {
		return false
	}
	switch p.GetKind() {
	case lk.ParticipantInfo_STANDARD:
		return true
	case lk.ParticipantInfo_AGENT:
		return p.GetPermission().GetHidden() && (isShort || p.GetAttributes()[attributeClient] != "")
	}
	return kinds[p.GetKind()] != ""
}

func (c *client) participant(room engine.RoomName, p *lk.ParticipantInfo) engine.Participant {
	who := engine.Participant{
		Identity: engine.Identity(p.GetIdentity()),
		Name:     p.GetName(),
		Kind:     kinds[p.GetKind()],
		JoinedAt: when(p.GetJoinedAtMs(), p.GetJoinedAt()),
		Traits:   traitsOf(p.GetAttributes()),
		Hand:     p.GetAttributes()[attributeHand] == yes,
		Admitted: p.GetAttributes()[attributeAdmitted] == yes,
	}
	who.Hidden = p.GetPermission().GetHidden()
	switch {
	case who.Kind != "":
		who.Name = cmp.Or(who.Name, p.GetIdentity())
		who.Forbidden = namedIn(p.GetAttributes(), attributeForbidden)
	case !who.Hidden:
		who.Forbidden = forbiddenOf(p.GetPermission(), parseSources(p.GetAttributes()[attributeDisguises]))
	}
	c.sealer.open(p.GetAttributes()[attributeClient], room, who.Identity).addTo(&who.Traits)
	for _, track := range p.GetTracks() {
		if track.GetMuted() {
			continue
		}
		shows := carries(track)
		who.Audio = who.Audio || shows.Has(engine.Microphone)
		who.Video = who.Video || shows.Has(engine.Camera)
		who.Screen = who.Screen || shows.Has(engine.Screen)
	}
	return who
}
