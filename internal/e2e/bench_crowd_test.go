// SPDX-License-Identifier: Apache-2.0

//go:build bench

package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pion/webrtc/v4/pkg/media"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// What each stand-in sends: the smallest of the three pictures that a page sends of its camera.
const crowdWidth, crowdHeight, crowdRate = 320, 180, 15

// crowdFrames encodes two seconds of a picture that moves, as VP8.
var crowdFrames = fmt.Sprintf(`(async () => {
	const frames = [], canvas = new OffscreenCanvas(%[1]d, %[2]d), paint = canvas.getContext('2d');
	const encoder = new VideoEncoder({error: e => { throw e }, output: chunk => {
		const bytes = new Uint8Array(chunk.byteLength);
		chunk.copyTo(bytes);
		frames.push(btoa(String.fromCharCode(...bytes)));
	}});
	encoder.configure({codec: 'vp8', width: %[1]d, height: %[2]d, bitrate: 200_000, framerate: %[3]d, latencyMode: 'realtime'});
	for (let n = 0; n < 2 * %[3]d; n++) {
		paint.fillStyle = 'hsl(' + n * 6 + ' 60%% 50%%)';
		paint.fillRect(0, 0, %[1]d, %[2]d);
		paint.fillStyle = 'white';
		paint.fillRect(n * 8 %% %[1]d, 40, 60, 90);
		const frame = new VideoFrame(canvas, {timestamp: n * 1e6 / %[3]d});
		encoder.encode(frame, {keyFrame: n === 0});
		frame.close();
	}
	await encoder.flush();
	return frames;
})()`, crowdWidth, crowdHeight, crowdRate)

// TestBenchCrowd is what a tab shows and costs in a meeting with many cameras: the stand-ins send pictures and get none.
func TestBenchCrowd(t *testing.T) {
	w := newWorldOfOne(t)
	p := testkit.Browser(t).Open(t, w.a.baseURL+"/")
	var frames []media.Sample
	for _, encoded := range testkit.Eval[[]string](t, p, crowdFrames) {
		frame, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, media.Sample{Data: frame, Duration: time.Second / crowdRate})
	}
	p.Close()
	testkit.Browser(t).Kill()
	fmt.Printf("\n%-10s %10s %10s %12s %12s %12s %14s\n", "people", "cameras", "in sight", "frames/s", "least", "page's fps", "processor")
	for _, people := range []int{2, 25, 49} {
		t.Run(strconv.Itoa(people), func(t *testing.T) { w.benchCrowd(t, people, frames) })
	}
}

// seen are the pictures of others that a page plays, and what has been shown of each.
const seen = `[...document.querySelectorAll('[data-testid=tile][data-local=false] video')].map(v => v.getVideoPlaybackQuality().totalVideoFrames)`

func (w *world) benchCrowd(t *testing.T, people int, frames []media.Sample) {
	a, room := w.a.on(t), fmt.Sprint("crowd of ", people)
	for i := 1; i < people; i++ {
		body := map[string]any{"room": room, "name": fmt.Sprint("Guest ", i), "video": true}
		status, e := a.session(map[string]any{"room": room, "name": body["name"], "ticket": a.ticket(body)})
		if status != http.StatusOK {
			t.Fatalf("no session: %d %s", status, e.Error)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		guest, err := peer.JoinToSend(ctx, e.Engine.URL, e.Engine.Token)
		if err == nil {
			_, err = guest.PublishFrames(ctx, crowdWidth, crowdHeight, frames)
		}
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(guest.Close)
	}
	browser := testkit.OwnBrowser(t)
	p := browser.OpenOn(t, testkit.Device{Width: 1280, Height: 720}, a.link(map[string]any{"room": room, "name": "Ada"}))
	p.WaitFor(t, inRoom)
	p.WaitFor(t, fmt.Sprintf(`document.querySelectorAll('[data-testid=tile]').length === %d`, people))
	// As many as there are play, but for those out of sight, for which the page asks nothing.
	const inSight = `[...document.querySelectorAll('[data-testid=tile][data-local=false]')].filter(tile => {
		const r = tile.getBoundingClientRect(), s = document.querySelector('.tiles').getBoundingClientRect();
		return r.top < s.bottom - 1 && r.bottom > s.top + 1;
	})`
	p.WaitFor(t, inSight+`.every(tile => tile.querySelector('video')?.currentTime > 0)`)
	shown := testkit.Eval[int](t, p, inSight+`.length`)

	before := treeCPU(t, browser.PID())
	measured := testkit.Eval[struct {
		Mean, Least, Drawn, Seconds float64
		Cameras                     int
	}](t, p, `(async () => {
		const before = `+seen+`, began = performance.now();
		let drawn = 0;
		const draw = () => { drawn++; requestAnimationFrame(draw); };
		requestAnimationFrame(draw);
		await new Promise(resolve => setTimeout(resolve, 15_000));
		const seconds = (performance.now() - began) / 1000;
		const rates = `+seen+`.map((count, i) => (count - before[i]) / seconds);
		const playing = rates.filter(rate => rate > 0);
		return {mean: playing.reduce((a, b) => a + b, 0) / playing.length, least: Math.min(...playing), drawn: drawn / seconds, seconds, cameras: playing.length};
	})()`)
	used := treeCPU(t, browser.PID()) - before
	fmt.Printf("%-10d %10d %10d %12.1f %12.1f %12.1f %12.0f %%\n", people, measured.Cameras, shown, measured.Mean, measured.Least, measured.Drawn,
		100*used.Seconds()/measured.Seconds)
}

// treeCPU is the processor time of a process and all that came from it and still runs.
func treeCPU(t *testing.T, root int) time.Duration {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	children := map[int][]int{}
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // It has ended meanwhile.
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], pid)
	}
	var sum time.Duration
	for next := []int{root}; len(next) > 0; next = next[1:] {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", next[0])); err == nil {
			sum += cpu(t, next[0])
		}
		next = append(next, children[next[0]]...)
	}
	return sum
}
