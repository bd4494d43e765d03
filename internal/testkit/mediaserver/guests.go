// SPDX-License-Identifier: Apache-2.0

package mediaserver

import (
	"context"
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/livekit/protocol/auth"
	lk "github.com/livekit/protocol/livekit"
	"github.com/livekit/protocol/webhook"
	"github.com/twitchtv/twirp"
	"google.golang.org/protobuf/proto"
)

// Notify has webhooks sent to URLs from now on, by LiveKit's own sender; to none without a URL.
func (s *Server) Notify(t testing.TB, urls ...string) {
	t.Helper()
	webhook.InitWebhookStats(nil)
	config := webhook.DefaultWebHookConfig
	config.URLs, config.APIKey = urls, s.Key
	sender, err := webhook.NewDefaultNotifier(config, auth.NewSimpleKeyProvider(s.Key, s.Secret))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sender.Stop(true) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhooks = sender
}

// notify queues the webhook of an event. The caller holds mu.
func (s *Server) notify(name string, in *room, who *lk.ParticipantInfo, track *lk.TrackInfo) {
	if s.webhooks == nil {
		return
	}
	event := &lk.WebhookEvent{Event: name, Id: "EV_" + rand.Text()[:12], CreatedAt: time.Now().Unix(), Room: in.info, Participant: who, Track: track}
	if track != nil { // LiveKit names what a track is of, and says no more about it.
		event.Room = &lk.Room{Sid: in.info.GetSid(), Name: in.info.GetName()}
		event.Participant = &lk.ParticipantInfo{Sid: who.GetSid(), Identity: who.GetIdentity()}
	}
	_ = s.webhooks.QueueNotify(context.Background(), event)
}

// Join seats the bearer of an access token, and sends the webhook of it.
func (s *Server) Join(token string) error {
	parsed, err := auth.ParseAPIToken(token)
	if err != nil {
		return err
	}
	_, claims, err := parsed.Verify(s.Secret)
	if err != nil {
		return err
	}
	p := Person(claims.Identity, time.Now())
	p.Name, p.Attributes, p.Kind = claims.Name, claims.Attributes, claims.GetParticipantKind()
	p.Permission = claims.Video.ToPermission()
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.rooms[claims.Video.Room]
	if in == nil {
		return twirp.NotFoundError("requested room does not exist")
	}
	in.seat(append(slices.Clip(in.people), p))
	s.notify(webhook.EventParticipantJoined, in, p, nil)
	return nil
}

// Publish has a participant send tracks, and sends the webhooks of them.
func (s *Server) Publish(room, identity string, tracks ...*lk.TrackInfo) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.participant(room, identity)
	if err != nil {
		return err
	}
	in, sends := s.rooms[room], proto.CloneOf(p)
	sends.Tracks, sends.IsPublisher = append(sends.Tracks, tracks...), true
	people := slices.Clone(in.people)
	people[slices.Index(people, p)] = sends
	in.seat(people)
	for _, track := range tracks {
		s.notify(webhook.EventTrackPublished, in, sends, track)
	}
	return nil
}

// Leave has a participant leave a room, and sends the webhooks of it.
func (s *Server) Leave(room, identity string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := s.participant(room, identity)
	if err != nil {
		return err
	}
	in := s.rooms[room]
	in.seat(slices.DeleteFunc(slices.Clone(in.people), func(other *lk.ParticipantInfo) bool { return other == p }))
	left := proto.CloneOf(p)
	left.Tracks = nil
	for _, track := range p.GetTracks() {
		s.notify(webhook.EventTrackUnpublished, in, left, track)
	}
	s.notify(webhook.EventParticipantLeft, in, left, nil)
	return nil
}

// Microphone is a track as LiveKit lists it.
func Microphone() *lk.TrackInfo {
	return &lk.TrackInfo{
		Sid: "TR_AM" + rand.Text()[:12], Type: lk.TrackType_AUDIO, Source: lk.TrackSource_MICROPHONE, MimeType: "audio/opus", Mid: "0",
		Codecs: []*lk.SimulcastCodecInfo{{MimeType: "audio/opus", Mid: "0", Cid: rand.Text()}}, Stream: "camera", Version: version(),
		BackupCodecPolicy: lk.BackupCodecPolicy_PREFER_REGRESSION,
	}
}

// Camera is a track in three sizes, as browsers send it.
func Camera() *lk.TrackInfo {
	layers := func() (layers []*lk.VideoLayer) {
		for i, quality := range []lk.VideoQuality{lk.VideoQuality_LOW, lk.VideoQuality_MEDIUM, lk.VideoQuality_HIGH} {
			layers = append(layers, &lk.VideoLayer{
				Quality: quality, Width: 320 << i, Height: 180 << i, Bitrate: 160_000 << (2 * i), Ssrc: 1<<31 + uint32(i), SpatialLayer: int32(i), Rid: "qhf"[i : i+1],
			})
		}
		return layers
	}
	return &lk.TrackInfo{
		Sid: "TR_VC" + rand.Text()[:12], Type: lk.TrackType_VIDEO, Source: lk.TrackSource_CAMERA, MimeType: "video/VP8", Mid: "1", Width: 1280, Height: 720,
		Stream: "camera", Version: version(), BackupCodecPolicy: lk.BackupCodecPolicy_PREFER_REGRESSION,
		Codecs: []*lk.SimulcastCodecInfo{{MimeType: "video/VP8", Mid: "1", Cid: rand.Text(), Layers: layers(), VideoLayerMode: lk.VideoLayer_ONE_SPATIAL_LAYER_PER_STREAM}},
	}
}

func version() *lk.TimedVersion { return &lk.TimedVersion{UnixMicro: time.Now().UnixMicro(), Ticks: 1} }

// change replaces what is said of a room: answers of before hold what was said. The caller holds mu.
func (r *room) change(do func(*lk.Room)) {
	r.info = proto.CloneOf(r.info)
	do(r.info)
}

// seat replaces the participants of a room. The caller holds mu.
func (r *room) seat(people []*lk.ParticipantInfo) {
	r.people = people
	r.change(func(info *lk.Room) { info.NumParticipants = visible(people) })
}
