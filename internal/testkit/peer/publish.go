// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"context"
	"errors"
	"fmt"
	"time"

	lk "github.com/livekit/protocol/livekit"
	"github.com/pion/webrtc/v4"
	"github.com/pion/webrtc/v4/pkg/media"
)

// Source is what a peer publishes.
type Source int

// Sources.
const (
	Microphone Source = iota
	Camera
	Screen
	// DisguisedMicrophone is sound that a changed page calls its camera, MicrophoneAsScreen one that it calls its screen's.
	DisguisedMicrophone
	MicrophoneAsScreen
	// DisguisedCamera is a picture that a changed page calls its microphone.
	DisguisedCamera
)

// ErrNotAllowed is returned when the engine does not let the peer publish that.
var ErrNotAllowed = errors.New("the engine does not let the peer publish that")

// Track is something that a peer publishes.
type Track struct {
	peer *Peer
	id   string
}

type content struct {
	source lk.TrackSource
	kind   lk.TrackType
	codec  webrtc.RTPCodecCapability
	// samples are sent in turns, over and over.
	samples       []media.Sample
	width, height uint32
}

var contents = map[Source]content{
	Microphone: {lk.TrackSource_MICROPHONE, lk.TrackType_AUDIO, opus, silence, 0, 0},
	Camera:     {lk.TrackSource_CAMERA, lk.TrackType_VIDEO, vp8, black, 16, 16},
	Screen:     {lk.TrackSource_SCREEN_SHARE, lk.TrackType_VIDEO, vp8, black, 16, 16},

	MicrophoneAsScreen:  {lk.TrackSource_SCREEN_SHARE_AUDIO, lk.TrackType_AUDIO, opus, silence, 0, 0},
	DisguisedCamera:     {lk.TrackSource_MICROPHONE, lk.TrackType_VIDEO, vp8, black, 16, 16},
	DisguisedMicrophone: {lk.TrackSource_CAMERA, lk.TrackType_AUDIO, opus, silence, 0, 0},
}

var (
	opus = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}
	vp8  = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90000}
	// silence is an Opus frame (RFC 6716) of 20 ms.
	silence = []media.Sample{{Data: []byte{0xf8, 0xff, 0xfe}, Duration: 20 * time.Millisecond}}
	// black begins like a VP8 key frame of 16 × 16 (RFC 6386, section 9.1): an SFU looks no further.
	black = []media.Sample{{
		Data:     []byte{0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x10, 0x00, 0x10, 0x00, 0x00, 0x00},
		Duration: 100 * time.Millisecond,
	}}
)

// Publish sends one of the sources until the peer goes. It returns when the engine has accepted it, which is a little
// before the others hear of it. A peer publishes one source at a time.
func (p *Peer) Publish(ctx context.Context, source Source) (*Track, error) {
	return p.PublishNamed(ctx, source, "")
}

// PublishNamed is Publish of a track with a name, which LiveKit hands to everybody.
func (p *Peer) PublishNamed(ctx context.Context, source Source, name string) (*Track, error) {
	return p.publish(ctx, contents[source], name)
}

// PublishFrames sends VP8 frames as the camera, over and over. All last equally long, and the first is a key frame.
func (p *Peer) PublishFrames(ctx context.Context, width, height uint32, frames []media.Sample) (*Track, error) {
	return p.publish(ctx, content{lk.TrackSource_CAMERA, lk.TrackType_VIDEO, vp8, frames, width, height}, "")
}

// PublishQuiet sends a microphone into which nobody speaks, as browsers do (Opus with DTX): a packet every 400 ms.
func (p *Peer) PublishQuiet(ctx context.Context) (*Track, error) {
	what := contents[Microphone]
	what.samples = []media.Sample{{Data: silence[0].Data, Duration: 400 * time.Millisecond}}
	return p.publish(ctx, what, "")
}

func (p *Peer) publish(ctx context.Context, what content, name string) (*Track, error) {
	cid := fmt.Sprintf("%s-%d", what.source, time.Now().UnixNano())
	p.change(func() { p.refused = false })
	err := p.send(&lk.SignalRequest{Message: &lk.SignalRequest_AddTrack{AddTrack: &lk.AddTrackRequest{
		Cid: cid, Name: name, Type: what.kind, Source: what.source, Width: what.width, Height: what.height,
	}}})
	if err != nil {
		return nil, err
	}
	var id string
	var refused bool
	err = p.Until(ctx, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		id, refused = p.published[cid], p.refused
		return id != "" || refused
	})
	switch {
	case err != nil:
		return nil, err
	case refused:
		return nil, ErrNotAllowed
	}
	track, err := webrtc.NewTrackLocalStaticSample(what.codec, cid, cid)
	if err != nil {
		return nil, err
	}
	sender, err := p.publisher.AddTrack(track)
	if err != nil {
		return nil, err
	}
	go sendWhileOpen(sender, track, what.samples)
	return &Track{peer: p, id: id}, p.publisher.offer(ctx)
}

func sendWhileOpen(sender *webrtc.RTPSender, track *webrtc.TrackLocalStaticSample, samples []media.Sample) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for {
			if _, _, err := sender.ReadRTCP(); err != nil {
				return
			}
		}
	}()
	tick := time.NewTicker(samples[0].Duration)
	defer tick.Stop()
	for next := 0; ; next = (next + 1) % len(samples) {
		select {
		case <-closed:
			return
		case <-tick.C:
			if track.WriteSample(samples[next]) != nil {
				return
			}
		}
	}
}

// Mute mutes or unmutes the track, as its own page would.
func (t *Track) Mute(muted bool) error {
	return t.peer.send(&lk.SignalRequest{Message: &lk.SignalRequest_Mute{Mute: &lk.MuteTrackRequest{Sid: t.id, Muted: muted}}})
}

// MutedByEngine reports whether the engine told the peer to mute the track.
func (t *Track) MutedByEngine() bool {
	t.peer.mu.Lock()
	defer t.peer.mu.Unlock()
	return t.peer.muted[t.id]
}
