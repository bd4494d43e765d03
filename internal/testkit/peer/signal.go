// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"context"
	"time"

	"github.com/coder/websocket"
	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"
)

const (
	writeTimeout = 5 * time.Second
	// pingInterval is what LiveKit asks of clients: it takes one that is silent for 15 s for gone.
	pingInterval = 5 * time.Second
)

// run handles what the engine says until it says no more.
func (p *Peer) run(ctx context.Context) {
	reason := SignalLost
	defer func() { p.goneOnce.Do(func() { p.gone <- reason }) }()
	go p.ping(ctx)
	for {
		_, message, err := p.signal.Read(ctx)
		if err != nil {
			return
		}
		response := &lk.SignalResponse{}
		if err := proto.Unmarshal(message, response); err != nil {
			return
		}
		if leave := response.GetLeave(); leave != nil {
			reason = Reason(leave.GetReason().String())
			return
		}
		if err := p.handle(ctx, response); err != nil {
			return
		}
	}
}

func (p *Peer) handle(ctx context.Context, response *lk.SignalResponse) error {
	switch m := response.GetMessage().(type) {
	case *lk.SignalResponse_Join:
		p.change(func() {
			p.metadata = m.Join.GetRoom().GetMetadata()
			p.me = m.Join.GetParticipant()
			p.hear(m.Join.GetOtherParticipants())
		})
		if !m.Join.GetSubscriberPrimary() {
			return p.reach(ctx)
		}
	case *lk.SignalResponse_RefreshToken:
		p.change(func() { p.token = m.RefreshToken })
	case *lk.SignalResponse_RoomUpdate:
		p.change(func() { p.metadata = m.RoomUpdate.GetRoom().GetMetadata() })
	case *lk.SignalResponse_Update:
		p.change(func() { p.hear(m.Update.GetParticipants()) })
	case *lk.SignalResponse_TrackPublished:
		p.change(func() { p.published[m.TrackPublished.GetCid()] = m.TrackPublished.GetTrack().GetSid() })
	case *lk.SignalResponse_Mute:
		p.change(func() { p.muted[m.Mute.GetSid()] = m.Mute.GetMuted() })
	case *lk.SignalResponse_RequestResponse:
		p.change(func() { p.refused = p.refused || m.RequestResponse.GetReason() == lk.RequestResponse_NOT_ALLOWED })
	case *lk.SignalResponse_Offer:
		return p.subscriber.answer(m.Offer)
	case *lk.SignalResponse_Answer:
		return p.publisher.accept(m.Answer)
	case *lk.SignalResponse_Trickle:
		if m.Trickle.GetTarget() == lk.SignalTarget_PUBLISHER {
			return p.publisher.candidate(m.Trickle)
		}
		return p.subscriber.candidate(m.Trickle)
	}
	return nil
}

func (p *Peer) hear(people []*lk.ParticipantInfo) {
	for _, other := range people {
		switch {
		case other.GetIdentity() == p.me.GetIdentity():
			p.me = other
		case other.GetState() == lk.ParticipantInfo_DISCONNECTED:
			delete(p.others, other.GetIdentity())
		default:
			p.others[other.GetIdentity()] = other
		}
	}
}

func (p *Peer) receive(message []byte) {
	packet := &lk.DataPacket{}
	if err := proto.Unmarshal(message, packet); err != nil || packet.GetUser() == nil {
		return
	}
	select {
	case p.data <- Data{
		Topic:   packet.GetUser().GetTopic(),
		Payload: packet.GetUser().GetPayload(),
		From:    packet.GetParticipantIdentity(),
	}:
	default:
	}
}

func (p *Peer) ping(ctx context.Context) {
	tick := time.NewTicker(pingInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			ping := &lk.SignalRequest{Message: &lk.SignalRequest_PingReq{PingReq: &lk.Ping{Timestamp: now.UnixMilli()}}}
			if p.send(ping) != nil {
				return
			}
		}
	}
}

func (p *Peer) send(request *lk.SignalRequest) error {
	message, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	return p.signal.Write(ctx, websocket.MessageBinary, message)
}
