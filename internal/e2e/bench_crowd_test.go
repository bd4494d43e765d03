// SPDX-License-Identifier: Apache-2.0

//go:build bench

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/pion/webrtc/v4/pkg/media"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// crowdRate is how many frames a second a stand-in sends.
const crowdRate = 15

// TestBenchCrowd is what a tab shows and costs in a meeting with many cameras: the stand-ins send pictures and get none.
func TestBenchCrowd(t *testing.T) {
	w := newWorldOfOne(t)
	frames := crowdFrames(t, w.a.baseURL+"/", crowdRate)
	fmt.Printf("\n%-10s %10s %10s %12s %12s %12s %14s\n", "people", "cameras", "in sight", "frames/s", "least", "page's fps", "processor")
	for _, people := range []int{2, 25, 49} {
		t.Run(strconv.Itoa(people), func(t *testing.T) { w.benchCrowd(t, people, frames) })
	}
}

// seen are the pictures of others that a page plays, and what has been shown of each.
const seen = `[...document.querySelectorAll('[data-testid=tile][data-local=false] video')].map(v => v.getVideoPlaybackQuality().totalVideoFrames)`

func (w *world) benchCrowd(t *testing.T, people int, frames []media.Sample) {
	a, room := w.a.on(t), fmt.Sprint("crowd of ", people)
	a.crowd(room, 1, people, func(ctx context.Context, p *peer.Peer) error {
		_, err := p.PublishFrames(ctx, crowdWidth, crowdHeight, frames)
		return err
	})
	browser := testkit.OwnBrowser(t)
	p := browser.OpenOn(t, testkit.Device{Width: 1280, Height: 720}, a.link(map[string]any{"room": room, "name": "Ada"}))
	p.WaitFor(t, inRoom)
	p.WaitFor(t, fmt.Sprintf(`document.querySelectorAll('[data-testid=tile]').length === %d`, people))
	// As many as there are play, but for those out of sight, for which the page asks nothing.
	p.WaitFor(t, tilesInSight+`.every(tile => tile.querySelector('video')?.currentTime > 0)`)
	shown := testkit.Eval[int](t, p, tilesInSight+`.length`)

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
func treeCPU(t *testing.T, root int) (sum time.Duration) {
	t.Helper()
	for _, pid := range processes(t, root) {
		sum += cpu(t, pid)
	}
	return sum
}
