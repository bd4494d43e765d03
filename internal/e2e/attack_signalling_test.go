// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// attacker is a participant whose page sends what it likes.
type attacker struct {
	account
	entry entry
}

// eve enters the room "open" without a connection.
func (w *world) eve(t *testing.T) attacker {
	t.Helper()
	a := w.a.on(t)
	return attacker{a, a.mustEnter(map[string]any{"room": "open", "name": "Eve"})}
}

// connect asks for a connection. It returns nil where that is refused.
func (a attacker) connect(path string, query url.Values) *websocket.Conn {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	query.Set("access_token", a.entry.Engine.Token)
	conn, response, err := websocket.Dial(ctx, a.baseURL+"/media-server/"+path+"?"+query.Encode(), nil) //nolint:bodyclose // the library closes it
	if err != nil {
		if response == nil || response.StatusCode >= http.StatusInternalServerError {
			a.t.Fatalf("the gateway answers %v: %v", response, err)
		}
		return nil
	}
	a.t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(-1)
	return conn
}

// joinRequest packs a join request as livekit-client does.
func joinRequest(t *testing.T, request *lk.JoinRequest) url.Values {
	t.Helper()
	request.ClientInfo = &lk.ClientInfo{Protocol: 16}
	data, err := proto.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(data) // A bytes.Buffer takes everything.
	_ = w.Close()
	wrapped, err := proto.Marshal(&lk.WrappedJoinRequest{Compression: lk.WrappedJoinRequest_GZIP, JoinRequest: packed.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	return url.Values{"join_request": {base64.URLEncoding.EncodeToString(wrapped)}}
}

// tracks are requests for the same track.
func tracks(n int) (all []*lk.AddTrackRequest) {
	for range n {
		all = append(all, &lk.AddTrackRequest{Cid: "x", Source: lk.TrackSource_MICROPHONE})
	}
	return all
}

// offerOf is an offer with some lines again and again.
func offerOf(t *testing.T, times int, rows ...string) *lk.SessionDescription {
	t.Helper()
	head := []string{"v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0", "a=fingerprint:sha-256 AA:BB", "a=ice-ufrag:x", "a=ice-pwd:y"}
	return &lk.SessionDescription{Type: "offer", Sdp: strings.Join(head, "\r\n") + "\r\n" + strings.Repeat(strings.Join(rows, "\r\n")+"\r\n", times)}
}

// send sends messages until the connection takes no more of them, or for some seconds.
func (a attacker) send(messages iter.Seq[*lk.SignalRequest]) {
	a.t.Helper()
	conn := a.connect("rtc", url.Values{"protocol": {"16"}, "auto_subscribe": {"1"}})
	if conn == nil {
		a.t.Fatal("the connection is refused")
	}
	ctx, cancel := context.WithTimeout(a.t.Context(), 5*time.Second)
	defer cancel()
	go func() {
		defer cancel()
		for {
			if _, _, err := conn.Read(ctx); err != nil {
				return
			}
		}
	}()
	sent := 0
	for message := range messages {
		data, err := proto.Marshal(message)
		if err != nil {
			a.t.Fatal(err)
		}
		if err := conn.Write(ctx, websocket.MessageBinary, data); err != nil {
			break
		}
		sent += len(data)
	}
	<-ctx.Done()
	a.t.Logf("%d bytes are sent", sent)
	_ = conn.CloseNow()
}

// again are so many messages.
func again(times int, message func(n int) *lk.SignalRequest) iter.Seq[*lk.SignalRequest] {
	return func(yield func(*lk.SignalRequest) bool) {
		for n := range times {
			if !yield(message(n)) {
				return
			}
		}
	}
}

// invented are tracks that do not exist.
func invented(message, tracks int) (all []string) {
	for n := range tracks {
		all = append(all, fmt.Sprintf("TR_AM%05d%05d", message, n))
	}
	return all
}

func subscribe(n int) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_Subscription{Subscription: &lk.UpdateSubscription{Subscribe: true, TrackSids: invented(n, 200)}}}
}

func settings(n int) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_TrackSetting{TrackSetting: &lk.UpdateTrackSettings{TrackSids: invented(n, 200)}}}
}

func speaker(int) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_Simulate{Simulate: &lk.SimulateScenario{Scenario: &lk.SimulateScenario_SpeakerUpdate{SpeakerUpdate: 1 << 30}}}}
}

func addTrack(int) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_AddTrack{AddTrack: &lk.AddTrackRequest{Cid: "x", Name: strings.Repeat("x", 250)}}}
}

func comeBack(int) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_SyncState{SyncState: &lk.SyncState{TrackSidsDisabled: invented(0, 10_000)}}}
}

// TestAttackTheMemoryOfTheMediaServer: an attacker takes little more of LiveKit's memory than a participant.
func TestAttackTheMemoryOfTheMediaServer(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "open"})
	p, _ := w.a.enter(map[string]any{"room": "open", "name": "Ada"})
	defer p.Close()
	before := heldMemory(t, w.livekit.PID())
	for name, message := range map[string]func(int) *lk.SignalRequest{
		"invented subscriptions": subscribe, "settings of invented tracks": settings, "simulated speakers": speaker,
	} {
		w.eve(t).send(again(20_000, message))
		after := heldMemory(t, w.livekit.PID())
		t.Logf("%s: LiveKit has %.0f MB, and had %.0f", name, after, before)
		if after > 3*before {
			t.Errorf("%s: LiveKit has %.0f MB, %.1f times as many as before", name, after, after/before)
		}
	}
}

// TestAttackTheMemoryOfTheMediaServerByChat: however many participants one link makes, what they write takes little of LiveKit's memory, and what
// is taken reaches the others. Past that, a presenter is still heard.
func TestAttackTheMemoryOfTheMediaServerByChat(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "open"})
	ada, _ := w.a.enter(map[string]any{"room": "open", "name": "Ada", "chat": "true"})
	_, paula := w.a.enter(map[string]any{"room": "open", "name": "Paula", "chat": "true", "token": w.a.presenterToken("paula")})
	ticket := w.a.ticket(map[string]any{"room": "open", "name": "Eve", "chat": "true"})
	var guests []entry
	for range 30 {
		status, e := w.a.session(map[string]any{"room": "open", "name": "Eve", "ticket": ticket})
		if status != http.StatusOK {
			t.Fatalf("no session: %d %s", status, e.Error)
		}
		p, err := peer.Join(t.Context(), e.Engine.URL, e.Engine.Token)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		guests = append(guests, e)
	}
	before := heldMemory(t, w.livekit.PID())
	long := map[string]any{"text": strings.Repeat("𝕏", 4000)} // 16 kB.
	var taken, refused atomic.Int32
	var flood sync.WaitGroup
	until := time.Now().Add(10 * time.Second)
	for _, e := range guests {
		flood.Go(func() {
			for time.Now().Before(until) {
				switch status := w.a.withSession(e, "session/chat", long); status {
				case http.StatusNoContent:
					taken.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
				default:
					t.Errorf("a long message: %d", status)
				}
			}
		})
	}
	flood.Wait()
	if status := w.a.withSession(paula, "session/chat", map[string]any{"text": "Please stop"}); status != http.StatusNoContent {
		t.Errorf("a presenter's message: %d", status)
	}
	after, arrived := heldMemory(t, w.livekit.PID()), 0
	for said := ""; !strings.Contains(said, "Please stop"); arrived++ {
		select {
		case data := <-ada.Data():
			said = string(data.Payload)
		case <-time.After(patience):
			t.Fatalf("after %d messages Ada hears no presenter", arrived)
		}
	}
	t.Logf("%d messages are taken, and %d refused; Ada has %d; LiveKit has %.0f MB, and had %.0f", taken.Load(), refused.Load(), arrived, after, before)
	if n := int(taken.Load()) + 1; arrived != n {
		t.Errorf("Ada has %d messages, %d were taken", arrived, n)
	}
	if after > 3*before {
		t.Errorf("LiveKit has %.0f MB, %.1f times as many as before", after, after/before)
	}
}

// TestAttackTheLogOfTheMediaServer: LiveKit writes little more into its log for an attacker than for a participant who
// comes and goes.
func TestAttackTheLogOfTheMediaServer(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldOfOne(t)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "open"})
	comesAndGoes := func() {
		p, _ := w.a.enter(map[string]any{"room": "open", "name": "Ada"})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if _, err := p.Publish(ctx, peer.Microphone); err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
	// After each attack a participant comes and goes: that gives LiveKit time to write.
	written := func(attack func()) int64 {
		before := w.livekit.LogSize(t)
		attack()
		comesAndGoes()
		return w.livekit.LogSize(t) - before
	}
	comesAndGoes()
	honest := written(func() {})
	for name, message := range map[string]func(int) *lk.SignalRequest{"the same track": addTrack, "long states": comeBack} {
		all := written(func() { w.eve(t).send(again(20_000, message)) })
		t.Logf("%s: %d bytes of log; an honest participant %d", name, all, honest)
		if all > 10*honest {
			t.Errorf("%s: %d bytes of log, %d times as many as an honest participant", name, all, all/honest)
		}
	}
	for name, request := range map[string]*lk.JoinRequest{
		"a track 30,000 times":  {AddTrackRequests: tracks(30_000)},
		"a track 2,000 times":   {AddTrackRequests: tracks(2_000)},
		"unreadable candidates": {PublisherOffer: offerOf(t, 2_000, "a=candidate:x")},
	} {
		for _, path := range []string{"rtc/v1", "rtc"} {
			all := written(func() { w.eve(t).connect(path, joinRequest(t, request)) })
			t.Logf("%s, to %s: %d bytes of log; an honest participant %d", name, path, all, honest)
			if all > 10*honest {
				t.Errorf("%s, to %s: %d bytes of log, %d times as many as an honest participant", name, path, all, all/honest)
			}
		}
	}
}
