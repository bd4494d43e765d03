// SPDX-License-Identifier: Apache-2.0

package peer

import (
	"context"
	"encoding/json"
	"sync"

	lk "github.com/livekit/protocol/livekit"
	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v4"
)

// transport is one of the peer's two connections: LiveKit offers on the subscriber's, the peer on the publisher's.
type transport struct {
	*webrtc.PeerConnection
	peer   *Peer
	target lk.SignalTarget
	// offered is full from an offer until its answer: a connection has one offer at a time.
	offered chan struct{}

	mu        sync.Mutex
	described bool
	// early are the candidates that came before the description.
	early []webrtc.ICECandidateInit
}

// api is for the loopback interface, without repair of lost packets.
var api = sync.OnceValues(func() (*webrtc.API, error) {
	media := &webrtc.MediaEngine{}
	if err := media.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	settings := webrtc.SettingEngine{}
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	return webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithSettingEngine(settings),
		webrtc.WithInterceptorRegistry(&interceptor.Registry{})), nil
})

func newTransport(p *Peer, target lk.SignalTarget) (*transport, error) {
	api, err := api()
	if err != nil {
		return nil, err
	}
	pc, err := api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return nil, err
	}
	pc.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		packets := &p.sounds
		if track.Kind() == webrtc.RTPCodecTypeVideo {
			packets = &p.pictures
		}
		for { // what is not read piles up
			if _, _, err := track.ReadRTP(); err != nil {
				return
			}
			packets.Add(1)
		}
	})
	return &transport{PeerConnection: pc, peer: p, target: target, offered: make(chan struct{}, 1)}, nil
}

// describe takes the engine's offer or answer, and the candidates that came before it.
func (t *transport) describe(s *lk.SessionDescription) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.NewSDPType(s.GetType()), SDP: s.GetSdp()})
	if err != nil {
		return err
	}
	t.described = true
	for _, c := range t.early {
		if err := t.AddICECandidate(c); err != nil {
			return err
		}
	}
	t.early = nil
	return nil
}

func (t *transport) candidate(trickle *lk.TrickleRequest) error {
	var c webrtc.ICECandidateInit
	if err := json.Unmarshal([]byte(trickle.GetCandidateInit()), &c); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.described {
		t.early = append(t.early, c)
		return nil
	}
	return t.AddICECandidate(c)
}

func (t *transport) answer(offer *lk.SessionDescription) error {
	if err := t.describe(offer); err != nil {
		return err
	}
	answer, err := t.CreateAnswer(nil)
	if err != nil {
		return err
	}
	local, err := t.settle(answer)
	if err != nil {
		return err
	}
	local.Id = offer.GetId()
	return t.peer.send(&lk.SignalRequest{Message: &lk.SignalRequest_Answer{Answer: local}})
}

// accept takes the engine's answer, after which the peer may offer again.
func (t *transport) accept(answer *lk.SessionDescription) error {
	defer t.release()
	return t.describe(answer)
}

// offer waits for the answer to the offer before it.
func (t *transport) offer(ctx context.Context) error {
	select {
	case t.offered <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	err := t.sendOffer()
	if err != nil {
		t.release()
	}
	return err
}

func (t *transport) release() {
	select {
	case <-t.offered:
	default: // nothing was offered
	}
}

func (t *transport) sendOffer() error {
	offer, err := t.CreateOffer(nil)
	if err != nil {
		return err
	}
	local, err := t.settle(offer)
	if err != nil {
		return err
	}
	return t.peer.send(&lk.SignalRequest{Message: &lk.SignalRequest_Offer{Offer: local}})
}

// settle makes the description ours and waits for our candidates, which on one machine are quick to find.
func (t *transport) settle(description webrtc.SessionDescription) (*lk.SessionDescription, error) {
	gathered := webrtc.GatheringCompletePromise(t.PeerConnection)
	if err := t.SetLocalDescription(description); err != nil {
		return nil, err
	}
	<-gathered
	local := t.LocalDescription()
	return &lk.SessionDescription{Type: local.Type.String(), Sdp: local.SDP}, nil
}
