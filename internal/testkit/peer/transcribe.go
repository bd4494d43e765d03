// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"context"
	"fmt"

	lk "github.com/livekit/protocol/livekit"
	"github.com/pion/webrtc/v4"
	"google.golang.org/protobuf/proto"
)

// Transcribe sends what another participant says in words, as a transcription service does. A peer that publishes nothing else can.
func (p *Peer) Transcribe(ctx context.Context, who, id, text string) error {
	channel, err := p.outlet(ctx)
	if err != nil {
		return err
	}
	message, err := proto.Marshal(&lk.DataPacket{Value: &lk.DataPacket_Transcription{Transcription: &lk.Transcription{
		TranscribedParticipantIdentity: who,
		Segments:                       []*lk.TranscriptionSegment{{Id: id, Text: text, Language: "en", Final: true}},
	}}})
	if err != nil {
		return err
	}
	return channel.Send(message)
}

// outlet is the channel on which the peer sends data.
func (p *Peer) outlet(ctx context.Context) (*webrtc.DataChannel, error) {
	p.mu.Lock()
	known := p.out
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	channel, err := p.publisher.CreateDataChannel(reliable, nil)
	if err != nil {
		return nil, err
	}
	opened := make(chan struct{})
	channel.OnOpen(func() { close(opened) })
	if err := p.publisher.offer(ctx); err != nil {
		return nil, err
	}
	select {
	case <-opened:
	case <-ctx.Done():
		return nil, fmt.Errorf("the peer cannot send data: %w", ctx.Err())
	}
	p.change(func() { p.out = channel })
	return channel, nil
}
