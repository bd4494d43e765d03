// SPDX-License-Identifier: Apache-2.0

// Package peer is a participant in a room, for tests and load: a client of LiveKit's signalling and media without a
// browser. It can publish silence, a black picture and frames that a test has; it does not reconnect by itself.
package peer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/coder/websocket"
	lk "github.com/livekit/protocol/livekit"
	"github.com/pion/webrtc/v4"
)

// Reason is LiveKit's name of why a peer was disconnected, for example ROOM_DELETED, or SignalLost.
type Reason string

// SignalLost is the reason when the connection went without a word.
const SignalLost Reason = "SIGNAL_LOST"

// RefusedError is an engine that does not let a peer in. It keeps nothing of the answer but the status, because the
// answer repeats the token.
type RefusedError struct {
	// Status of HTTP; 0 when there was no answer.
	Status int
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the engine refuses the peer with HTTP status %d", e.Status)
}

// Data is a packet that a peer received.
type Data struct {
	Topic   string
	Payload []byte
	// From is the sender's identity, empty when the server sent it.
	From string
}

// ErrSentAway is returned when the engine disconnects the peer while it joins.
var ErrSentAway = errors.New("the engine disconnected the peer while it joined")

// Peer is a participant in a room. Its methods may be called at any time, by many at once.
type Peer struct {
	signal *websocket.Conn
	cancel context.CancelFunc

	subscriber, publisher *transport
	ready                 chan struct{}
	readyOnce, goneOnce   sync.Once

	data chan Data
	gone chan Reason

	mu        sync.Mutex
	changed   chan struct{}
	metadata  string
	token     string
	me        *lk.ParticipantInfo
	others    map[string]*lk.ParticipantInfo
	published map[string]string
	muted     map[string]bool
	refused   bool
	// stalled is held while the peer takes no data.
	stalled sync.RWMutex
	// sounds and pictures are how many packets of each have arrived.
	sounds, pictures atomic.Int64
	// out is where the peer sends data, once it has.
	out *webrtc.DataChannel
}

// reliable is LiveKit's name for the channel on which nothing is lost.
const reliable = "_reliable"

// Join enters a room and returns when the peer can hear. at is the http, https, ws or wss URL to which /rtc is added.
// The token travels as a browser sends it. ctx bounds the joining only.
func Join(ctx context.Context, at, token string) (*Peer, error) {
	return JoinAs(ctx, at, token, Options{})
}

// Options make a peer one of a crowd on few processors.
type Options struct {
	// OnlySends has the engine send the peer neither sound nor pictures.
	OnlySends bool
	// Client makes the connection of the peer's signalling; nil is http.DefaultClient.
	Client *http.Client
}

// JoinAs is Join with options.
func JoinAs(ctx context.Context, at, token string, options Options) (*Peer, error) {
	p := &Peer{
		ready:     make(chan struct{}),
		data:      make(chan Data, 1024),
		gone:      make(chan Reason, 1),
		changed:   make(chan struct{}),
		others:    map[string]*lk.ParticipantInfo{},
		published: map[string]string{},
		muted:     map[string]bool{},
	}
	subscribe := 1
	if options.OnlySends {
		subscribe = 0
	}
	query := url.Values{"access_token": {token}, "protocol": {"16"}, "auto_subscribe": {strconv.Itoa(subscribe)}, "sdk": {"go"}}
	at = strings.TrimSuffix(at, "/") + "/rtc?" + query.Encode()
	signal, response, err := websocket.Dial(ctx, at, &websocket.DialOptions{HTTPClient: options.Client}) //nolint:bodyclose // the library closes it
	if err != nil {
		return nil, refused(response)
	}
	signal.SetReadLimit(1 << 20)
	p.signal = signal
	if p.subscriber, err = newTransport(p, lk.SignalTarget_SUBSCRIBER); err != nil {
		return nil, err
	}
	if p.publisher, err = newTransport(p, lk.SignalTarget_PUBLISHER); err != nil {
		return nil, err
	}
	p.subscriber.OnDataChannel(p.listen)

	run, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go p.run(run)
	select {
	case <-p.ready:
		return p, nil
	case reason := <-p.gone:
		p.Close()
		return nil, fmt.Errorf("%w: %s", ErrSentAway, reason)
	case <-ctx.Done():
		p.Close()
		return nil, fmt.Errorf("the peer did not get through to the engine: %w", ctx.Err())
	}
}

func refused(response *http.Response) error {
	if response == nil {
		return &RefusedError{}
	}
	return &RefusedError{Status: response.StatusCode}
}

// Metadata returns the room's, as last heard.
func (p *Peer) Metadata() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.metadata
}

// Token returns the access token that the engine has given the peer in place of its first, as last heard; empty before that.
func (p *Peer) Token() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.token
}

// Others returns the identities of the others whom the peer has been told of, with their attributes.
func (p *Peer) Others() map[string]map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	others := map[string]map[string]string{}
	for identity, info := range p.others {
		others[identity] = map[string]string{}
		maps.Copy(others[identity], info.GetAttributes())
	}
	return others
}

// Hears reports whether another one has a microphone on, as the peer has been told.
func (p *Peer) Hears(identity string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.others[identity].GetTracks(), func(track *lk.TrackInfo) bool {
		return track.GetType() == lk.TrackType_AUDIO && !track.GetMuted()
	})
}

// Received returns how many packets of sound and of pictures have arrived.
func (p *Peer) Received() (sounds, pictures int64) { return p.sounds.Load(), p.pictures.Load() }

// Attributes returns the peer's own, as last heard.
func (p *Peer) Attributes() map[string]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.me.GetAttributes()
}

// Data returns what arrives. When nobody takes any for 1,024 packets, more are lost.
func (p *Peer) Data() <-chan Data { return p.data }

// Disconnected receives the reason, once, unless the peer left by Close.
func (p *Peer) Disconnected() <-chan Reason { return p.gone }

// Until waits until what the peer has heard makes the condition true.
func (p *Peer) Until(ctx context.Context, condition func() bool) error {
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		if condition() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close leaves the room.
func (p *Peer) Close() {
	p.goneOnce.Do(func() {})
	_ = p.send(&lk.SignalRequest{Message: &lk.SignalRequest_Leave{Leave: &lk.LeaveRequest{
		Reason: lk.DisconnectReason_CLIENT_INITIATED,
	}}})
	p.Vanish()
}

// Vanish drops every connection without a word, as a browser does that is killed.
func (p *Peer) Vanish() {
	p.goneOnce.Do(func() {})
	p.cancel()
	_ = p.signal.CloseNow()
	_ = p.subscriber.Close()
	_ = p.publisher.Close()
}

// reach connects a peer that may receive nothing: the engine makes no offer then.
func (p *Peer) reach(ctx context.Context) error {
	channel, err := p.publisher.CreateDataChannel("_reliable", nil)
	if err != nil {
		return err
	}
	p.listen(channel)
	return p.publisher.offer(ctx)
}

func (p *Peer) listen(channel *webrtc.DataChannel) {
	if channel.Label() == reliable {
		channel.OnOpen(func() { p.readyOnce.Do(func() { close(p.ready) }) })
	}
	channel.OnMessage(func(m webrtc.DataChannelMessage) {
		p.stalled.RLock()
		defer p.stalled.RUnlock()
		p.receive(m.Data)
	})
}

// Stall has the peer take no more data, as over a connection that is too slow, until it is told to go on.
func (p *Peer) Stall() (goOn func()) {
	p.stalled.Lock()
	return p.stalled.Unlock
}

// change tells those who wait that the peer has heard something new.
func (p *Peer) change(what func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	what()
	close(p.changed)
	p.changed = make(chan struct{})
}
