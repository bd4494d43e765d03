// SPDX-License-Identifier: Apache-2.0

package signalling

import (
	"context"
	"encoding/json"
	"slices"

	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	// maxSmall bounds most messages, and maxNames those that name tracks, in bytes. maxState bounds what passes of the state of a page
	// that comes back.
	maxSmall, maxNames, maxState = 2 << 10, 32 << 10, 64 << 10
	// maxTracks is how many tracks of others a message may name, and maxStateTracks how many in each list of the state of a page
	// that comes back.
	maxTracks, maxStateTracks = 200, 1000
	// maxTrack bounds the announcement of a track, in bytes: of what livekit-client sends, a picture in three sizes has 136, and 230
	// with a second codec. maxLayers and maxCodecs are of one track: LiveKit keeps the layers of each codec.
	maxTrack, maxLayers, maxCodecs = 512, 4, 2
	// maxCandidate bounds an ICE candidate, in bytes.
	maxCandidate = 512
)

// messageType is how messages of one type pass.
type messageType struct {
	// most bounds a message, in bytes.
	most int
	// spends is its budget beside bytes and messages; ofMessages is for none.
	spends budget
	// build leaves in a message what goes on. Its error is an InvalidError.
	build func(*lk.SignalRequest) error
	// cut leaves out parts of an encoded message before they take memory; nil for none. Its error is an InvalidError.
	cut func([]byte) ([]byte, error)
}

// types are the messages that livekit-client sends for the page, by the names of their fields in SignalRequest.
var types = map[protoreflect.Name]messageType{
	"offer":                   {most: maxOffer + maxSmall, spends: ofDescriptions, build: buildOffer},
	"answer":                  {most: maxMessage, spends: ofDescriptions, build: buildAnswer},
	"trickle":                 {most: maxSmall, spends: ofCandidates, build: buildTrickle},
	"add_track":               {most: maxTrack, spends: ofTracks, build: buildTrack},
	"mute":                    {most: maxSmall, spends: ofChanges, build: asItIs},
	"update_audio_track":      {most: maxSmall, spends: ofChanges, build: asItIs},
	"subscription":            {most: maxNames, spends: ofMessages, build: buildSubscription},
	"track_setting":           {most: maxNames, spends: ofMessages, build: buildTrackSetting},
	"subscription_permission": {most: maxSmall, spends: ofChanges, build: buildPermission},
	"sync_state":              {most: maxMessage, spends: ofStates, build: buildState, cut: cutState},
	"leave":                   {most: maxSmall, spends: ofMessages, build: buildLeave},
	"ping":                    {most: maxSmall, spends: ofMessages, build: asItIs},
	"ping_req":                {most: maxSmall, spends: ofMessages, build: asItIs},
	"simulate":                {most: maxSmall, spends: ofSimulations, build: buildSimulation},
}

var requestFields = (&lk.SignalRequest{}).ProtoReflect().Descriptor().Fields()

// typeOf returns the type of an encoded message. Its error is an InvalidError.
func typeOf(data []byte) (messageType, error) {
	number, _, length := protowire.ConsumeField(data)
	if length != len(data) {
		return messageType{}, errMalformed
	}
	field := requestFields.ByNumber(number)
	if field == nil {
		return messageType{}, invalid("messages of type %d are not passed on", number)
	}
	known, ok := types[field.Name()]
	switch {
	case !ok:
		return known, invalid("messages of type %s are not passed on", field.Name())
	case len(data) > known.most:
		return known, invalid("%s is longer than %d bytes", field.Name(), known.most)
	}
	return known, nil
}

// request builds the message that the media server gets in place of a browser's. It waits while the participant has spent too
// much. It is empty for an answer to nothing, which a page may send after its connection broke. Its error is an InvalidError, a closeError, or
// the context's.
func request(ctx context.Context, data []byte, spent account) ([]byte, error) {
	known, err := typeOf(data)
	if err != nil {
		return nil, err
	}
	if known.spends != ofMessages {
		if err := spent.take(ctx, known.spends, 1); err != nil {
			return nil, err
		}
	}
	built, err := build(data, known)
	if err != nil {
		return nil, err
	}
	for _, track := range built.announces {
		if err := spent.announce(track); err != nil {
			return nil, err
		}
	}
	if built.isAnswer && !spent.takeAnswer(len(built.data)) {
		return nil, nil
	}
	return built.data, spent.name(ctx, built.names)
}

// built is an encoded message that the media server gets, and what counts of it. A participant may have to wait before it goes on, and
// the decoded message would take a multiple meanwhile.
type built struct {
	data []byte
	// announces are the participant's own tracks that the message announces, and names the tracks of others in it, by hash.
	announces, names []uint64
	isAnswer         bool
}

// maxDecoded is what a message takes at most while it is decoded and encoded again, in bytes.
const maxDecoded = 16 << 20

// building bounds how many messages are decoded at once.
var building = make(chan struct{}, 2)

// build decodes a message of a type, leaves in it what goes on, and encodes it again. Its error is an InvalidError.
func build(data []byte, known messageType) (built, error) {
	building <- struct{}{}
	defer func() { <-building }()
	if known.cut != nil {
		var err error
		if data, err = known.cut(data); err != nil {
			return built{}, err
		}
	}
	m := &lk.SignalRequest{}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, m); err != nil || m.GetMessage() == nil {
		return built{}, errMalformed
	}
	if err := known.build(m); err != nil {
		return built{}, err
	}
	var b built
	if track := m.GetAddTrack(); track != nil {
		b.announces = append(b.announces, hash(track.GetCid()))
	}
	for _, track := range named(m) {
		b.names = append(b.names, hash(track))
	}
	b.isAnswer = m.GetAnswer() != nil
	var err error
	b.data, err = proto.Marshal(m)
	return b, err
}

// named are the tracks of others that a message names.
func named(m *lk.SignalRequest) []string {
	state := m.GetSyncState()
	return slices.Concat(m.GetSubscription().GetTrackSids(), m.GetTrackSetting().GetTrackSids(), state.GetSubscription().GetTrackSids(), state.GetTrackSidsDisabled())
}

func asItIs(m *lk.SignalRequest) error { return bounded(m.ProtoReflect(), maxList) }

// buildTrack bounds what LiveKit keeps of a track, and tells all others.
func buildTrack(m *lk.SignalRequest) error {
	t := m.GetAddTrack()
	if len(t.GetSimulcastCodecs()) > maxCodecs {
		return invalid("simulcast_codecs has more than %d elements", maxCodecs)
	}
	for _, codec := range append([]*lk.SimulcastCodec{{Layers: t.GetLayers()}}, t.GetSimulcastCodecs()...) {
		if len(codec.GetLayers()) > maxLayers {
			return invalid("layers has more than %d elements", maxLayers)
		}
	}
	return asItIs(m)
}

func buildOffer(m *lk.SignalRequest) error {
	built, err := description(m.GetOffer(), "offer")
	m.Message = &lk.SignalRequest_Offer{Offer: built}
	return err
}

func buildAnswer(m *lk.SignalRequest) error {
	built, err := description(m.GetAnswer(), "answer")
	m.Message = &lk.SignalRequest_Answer{Answer: built}
	return err
}

// candidate is an ICE candidate as browsers write it (RTCIceCandidateInit).
type candidate struct {
	Candidate        string  `json:"candidate"`
	SDPMid           *string `json:"sdpMid"`
	SDPMLineIndex    *uint16 `json:"sdpMLineIndex"`
	UsernameFragment *string `json:"usernameFragment"`
}

func buildTrickle(m *lk.SignalRequest) error {
	t := m.GetTrickle()
	if len(t.GetCandidateInit()) > maxCandidate {
		return invalid("an ICE candidate is longer than %d bytes", maxCandidate)
	}
	var c candidate
	if err := json.Unmarshal([]byte(t.GetCandidateInit()), &c); err != nil {
		return invalid("an ICE candidate cannot be parsed")
	}
	built, err := json.Marshal(c)
	t.CandidateInit = string(built)
	return err
}

func buildTrackSetting(m *lk.SignalRequest) error { return bounded(m.ProtoReflect(), maxTracks) }

func buildSubscription(m *lk.SignalRequest) error {
	s := m.GetSubscription()
	s.ParticipantTracks = nil // livekit-client names the same tracks in both.
	return bounded(m.ProtoReflect(), maxTracks)
}

// stateFields are the fields of the state that pass. LiveKit reads session descriptions there only when a meeting moves between its
// nodes, and the page publishes no data tracks.
var stateFields = numbersOf(&lk.SyncState{}, "subscription", "publish_tracks", "track_sids_disabled")

func cutState(data []byte) ([]byte, error) {
	number, _, tag := protowire.ConsumeTag(data)
	state, length := protowire.ConsumeBytes(data[tag:])
	if length < 0 {
		return nil, errMalformed
	}
	kept, err := only(stateFields, state, 2*maxStateTracks)
	if err != nil {
		return nil, err
	}
	if len(kept) > maxState {
		return nil, invalid("the state of a page is longer than %d bytes", maxState)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), kept), nil
}

// buildState builds the state of a page that comes back.
func buildState(m *lk.SignalRequest) error {
	s := m.GetSyncState()
	if len(s.GetPublishTracks()) > 2*maxList {
		return invalid("publish_tracks has more than %d elements", 2*maxList)
	}
	built := &lk.SyncState{TrackSidsDisabled: s.GetTrackSidsDisabled()}
	if subscription := s.GetSubscription(); subscription != nil {
		built.Subscription = &lk.UpdateSubscription{TrackSids: subscription.GetTrackSids(), Subscribe: subscription.GetSubscribe()}
	}
	for _, t := range s.GetPublishTracks() {
		track := &lk.TrackPublishedResponse{Cid: t.GetCid()}
		if t.GetTrack() != nil { // Without it, LiveKit asks for a new connection.
			track.Track = &lk.TrackInfo{Sid: t.GetTrack().GetSid()}
		}
		built.PublishTracks = append(built.PublishTracks, track)
	}
	m.Message = &lk.SignalRequest_SyncState{SyncState: built}
	return bounded(m.ProtoReflect(), maxStateTracks)
}

// buildPermission lets through what livekit-client says at the beginning: the page keeps its tracks from nobody.
func buildPermission(m *lk.SignalRequest) error {
	if p := m.GetSubscriptionPermission(); !p.GetAllParticipants() || len(p.GetTrackPermissions()) > 0 {
		return invalid("tracks are for all participants")
	}
	return nil
}

func buildLeave(m *lk.SignalRequest) error {
	m.Message = &lk.SignalRequest_Leave{Leave: &lk.LeaveRequest{Reason: m.GetLeave().GetReason(), Action: m.GetLeave().GetAction()}}
	return nil
}

// buildSimulation lets through the switch to TCP, for the test of the connection. All else that can be simulated costs the media
// server or the others.
func buildSimulation(m *lk.SignalRequest) error {
	if tcp, ok := m.GetSimulate().GetScenario().(*lk.SimulateScenario_SwitchCandidateProtocol); !ok || tcp.SwitchCandidateProtocol != lk.CandidateProtocol_TCP {
		return invalid("nothing but TCP is simulated")
	}
	return nil
}
