// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	lk "github.com/livekit/protocol/livekit"
	"google.golang.org/protobuf/proto"

	"convene.dev/convene/internal/testkit"
)

// guestsOfOneLink are as many as one link makes in a test, and mostOfGuests how many times the memory of LiveKit they may take that as many take
// who send nothing.
const guestsOfOneLink, mostOfGuests = 150, 4

// TestAttackTheMemoryOfTheMediaServerByGuests: however many participants one link makes, what each of them sends takes little more of LiveKit's
// memory than that they are there.
func TestAttackTheMemoryOfTheMediaServerByGuests(t *testing.T) {
	section := func(n int) string {
		return fmt.Sprintf("m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\na=mid:%d\r\na=recvonly\r\na=rtpmap:111 opus/48000/2\r\n", n)
	}
	const nothing = "nothing"
	var mu sync.Mutex
	took := map[string]float64{}
	t.Run("all", func(t *testing.T) {
		for name, messages := range map[string]iter.Seq[*lk.SignalRequest]{
			nothing:                      again(0, settings),
			"settings of tracks":         again(10, settings),
			"subscriptions":              again(10, subscribe),
			"candidates":                 again(500, candidate),
			"tracks of their own":        again(32, ownTrack),
			"an offer of many sections":  again(1, offering(described(t, "offer", 256<<10, 100, section))),
			"an offer of one section":    again(1, offering(described(t, "offer", 256<<10, 300, func(int) string { return "a=x:" + strings.Repeat("x", 1000) + "\r\n" }))),
			"an answer of many sections": again(1, answering(described(t, "answer", 1<<20, 1990, section))),
		} {
			t.Run(name, func(t *testing.T) {
				testkit.Parallel(t, testkit.Light)
				before, most := newWorldOfOne(t).sendAsGuests(t, messages)
				t.Logf("LiveKit has %.0f MB at most, and had %.0f", most, before)
				mu.Lock()
				defer mu.Unlock()
				took[name] = most - before
			})
		}
	})
	for name, mb := range took {
		if mb > mostOfGuests*took[nothing] {
			t.Errorf("%s: LiveKit takes %.0f MB more, %.1f times as many as for guests who send nothing", name, mb, mb/took[nothing])
		}
	}
}

// sendAsGuests has the guests of one link send the same, and returns how much memory LiveKit had before and at most.
func (w *world) sendAsGuests(t *testing.T, messages iter.Seq[*lk.SignalRequest]) (before, most float64) {
	t.Helper()
	a := w.a.on(t)
	a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "open"})
	ticket := a.ticket(map[string]any{"room": "open", "name": "Eve"})
	before = heldMemory(t, w.livekit.PID())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var sending sync.WaitGroup
	for range guestsOfOneLink {
		conn := attacker{a, a.mustEnter(map[string]any{"room": "open", "name": "Eve", "ticket": ticket})}.
			connect("rtc", url.Values{"protocol": {"16"}, "auto_subscribe": {"1"}})
		if conn == nil {
			t.Fatal("a guest is refused")
		}
		offered := make(chan struct{})
		go awaitOffer(ctx, conn, offered)
		sending.Go(func() {
			<-offered
			for message := range messages {
				data, err := proto.Marshal(message)
				if err != nil {
					t.Error(err)
					return
				}
				if conn.Write(ctx, websocket.MessageBinary, data) != nil {
					return
				}
			}
		})
	}
	// What the gateway holds back does not arrive within the test.
	for end := time.After(15 * time.Second); ; {
		select {
		case <-end:
			cancel()
			sending.Wait()
			return before, most
		case <-time.After(200 * time.Millisecond):
			most = max(most, heldMemory(t, w.livekit.PID()))
		}
	}
}

// awaitOffer reads what LiveKit sends, and tells when that is its first offer.
func awaitOffer(ctx context.Context, conn *websocket.Conn, offered chan struct{}) {
	tell := sync.OnceFunc(func() { close(offered) })
	defer tell()
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var response lk.SignalResponse
		if proto.Unmarshal(data, &response) == nil && response.GetOffer() != nil {
			tell()
		}
	}
}

// described is a session description of a browser, with so many rows behind it, of at most so many bytes.
func described(t *testing.T, kind string, bytes, most int, row func(n int) string) string {
	t.Helper()
	text, err := os.ReadFile("../signalling/testdata/browsers/chromium-" + kind + ".sdp")
	if err != nil {
		t.Fatal(err)
	}
	all := strings.ReplaceAll(string(text), "\n", "\r\n")
	for n := strings.Count(all, "\nm="); n < most && len(all)+len(row(n)) < bytes; n++ {
		all += row(n)
	}
	return all
}

func offering(sdp string) func(int) *lk.SignalRequest {
	return func(int) *lk.SignalRequest {
		return &lk.SignalRequest{Message: &lk.SignalRequest_Offer{Offer: &lk.SessionDescription{Type: "offer", Sdp: sdp}}}
	}
}

func answering(sdp string) func(int) *lk.SignalRequest {
	return func(int) *lk.SignalRequest {
		return &lk.SignalRequest{Message: &lk.SignalRequest_Answer{Answer: &lk.SessionDescription{Type: "answer", Sdp: sdp}}}
	}
}

// candidate is one of the longest that pass.
func candidate(n int) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_Trickle{Trickle: &lk.TrickleRequest{
		CandidateInit: fmt.Sprintf(`{"candidate":"%s","sdpMid":"%d","sdpMLineIndex":0}`, strings.Repeat("x", 450), n),
	}}}
}

func ownTrack(n int) *lk.SignalRequest {
	return &lk.SignalRequest{Message: &lk.SignalRequest_AddTrack{AddTrack: &lk.AddTrackRequest{Cid: fmt.Sprint(n), Name: strings.Repeat("x", 250)}}}
}
