// SPDX-License-Identifier: Apache-2.0

//go:build bench

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

// stages are what a page goes through until it shows another participant.
var stages = []string{"script", "session", "dial", "socket", "connected", "frame"}

// stamps has a page write down, in milliseconds since the click, when it reached each stage.
const stamps = `(() => {
	const at = window.stamps = {};
	const stamp = stage => at[stage] ??= performance.now();
	const {fetch, WebSocket: Socket, RTCPeerConnection: Connection} = window;
	window.fetch = async (...request) => {
		stamp('script');
		const answer = await fetch(...request);
		stamp('session');
		return answer;
	};
	window.WebSocket = class extends Socket {
		constructor(...given) { super(...given); stamp('dial'); this.addEventListener('open', () => stamp('socket')); }
	};
	window.RTCPeerConnection = class extends Connection {
		constructor(...given) {
			super(...given);
			this.addEventListener('connectionstatechange', () => this.connectionState === 'connected' && stamp('connected'));
		}
	};
	new MutationObserver((_, observer) => {
		const video = document.querySelector('[data-testid=tile][data-local=false] video');
		if (!video) return;
		observer.disconnect();
		video.requestVideoFrameCallback(() => stamp('frame'));
	}).observe(document, {childList: true, subtree: true});
})()`

// barePage does nothing but connect with a token that it was given, send what it is asked to, and show the first video
// that comes: what is left is the browser, livekit-client and LiveKit.
const barePage = `<!doctype html><title>Bare</title><ul><li data-testid=tile data-local=false></li></ul>
<script src="/livekit-client.umd.js"></script><script>
	const asked = new URLSearchParams(location.search), room = new LivekitClient.Room({singlePeerConnection: false});
	room.on('trackSubscribed', track => track.kind === 'video' && document.querySelector('li').append(track.attach()));
	room.connect(asked.get('url'), asked.get('token'), {rtcConfig: {iceServers: []}});
	if (asked.get('devices') === 'true')
		LivekitClient.createLocalTracks({audio: true, video: true}).then(tracks => tracks.forEach(t => room.localParticipant.publishTrack(t)));
</script>`

func serveBarePage(t *testing.T) string {
	t.Helper()
	client := filepath.Join(testkit.Root(t), "internal/web/ui/node_modules/livekit-client/dist/livekit-client.umd.js")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, barePage)
	})
	mux.HandleFunc("GET /livekit-client.umd.js", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, client) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// TestBenchFirstFrame is from the click on a join link until the first picture of a participant who is already in, in a
// browser that has never seen the page. Each run is followed by one of a bare page, which needs no gateway.
func TestBenchFirstFrame(t *testing.T) {
	w := newWorldOfOne(t)
	bare := serveBarePage(t)
	w.a.join(testkit.Device{}, map[string]any{"room": "frames", "name": "Ada", "audio": true, "video": true})
	fmt.Printf("\n%-44s %14s  %-34s %6s  %s\n", "what", "measured", "against", "ratio", "promise")
	for _, c := range []struct {
		who     string
		devices bool
		aim     time.Duration
	}{
		{"camera and microphone on", true, time.Second},
		{"a viewer without", false, 500 * time.Millisecond},
	} {
		options := map[string]any{"room": "frames", "name": "Grace", "audio": c.devices, "video": c.devices}
		var ours, floor []map[string]float64
		for range 10 {
			ours = append(ours, w.stamped(t, w.a.link(options)))
			_, e := w.a.session(map[string]any{"room": "frames", "name": "Grace", "ticket": w.a.ticket(options)})
			asked := url.Values{"url": {e.Engine.URL}, "token": {e.Engine.Token}, "devices": {fmt.Sprint(c.devices)}}
			floor = append(floor, w.stamped(t, bare+"/?"+asked.Encode()))
		}
		frame, least := median(ours, "frame"), median(floor, "frame")
		absolute("first remote frame, "+c.who, frame.String(), "aim when idle "+c.aim.String(), float64(frame)/float64(c.aim))
		ratio(t, "  of a bare page", frame.String(), "bare page "+least.String(), float64(frame)/float64(least), atMost(2))
		fmt.Printf("  ours: %s\n  bare: %s\n", way(ours), way(floor))
	}
}

// stamped opens a page for one more person and returns when it reached each stage.
func (w *world) stamped(t *testing.T, link string) map[string]float64 {
	t.Helper()
	p := testkit.Browser(t).OpenOn(t, testkit.Device{Script: stamps}, link)
	p.WaitFor(t, "window.stamps?.frame")
	stamps := testkit.Eval[map[string]float64](t, p, "window.stamps")
	p.Close()
	w.eventually(t, w.hasPeople("frames", 1))
	return stamps
}

func median(runs []map[string]float64, stage string) time.Duration {
	var all []float64
	for _, run := range runs {
		all = append(all, run[stage])
	}
	slices.Sort(all)
	middle := (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	return time.Duration(middle * float64(time.Millisecond)).Round(time.Millisecond)
}

// way is the median of each stage.
func way(runs []map[string]float64) string {
	var said []string
	for _, stage := range stages {
		if at := median(runs, stage); at > 0 {
			said = append(said, fmt.Sprintf("%s %s", stage, at))
		}
	}
	return strings.Join(said, ", ")
}
