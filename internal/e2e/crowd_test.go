// SPDX-License-Identifier: Apache-2.0

//go:build slow || bench

package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pion/webrtc/v4/pkg/media"
	"golang.org/x/sync/errgroup"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// The picture that a peer of a crowd sends has the size of the smallest of the three that a page sends of its camera.
const crowdWidth, crowdHeight = 320, 180

// crowdFrames has a browser encode two seconds of a picture that moves, as VP8.
func crowdFrames(t *testing.T, at string, rate int) (frames []media.Sample) {
	t.Helper()
	browser := testkit.OwnBrowser(t)
	defer browser.Kill()
	for _, encoded := range testkit.Eval[[]string](t, browser.Open(t, at), fmt.Sprintf(`(async () => {
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
	})()`, crowdWidth, crowdHeight, rate)) {
		frame, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, media.Sample{Data: frame, Duration: time.Second / time.Duration(rate)})
	}
	return frames
}

// sends enters a room as a peer that receives nothing, and has it publish.
func (a account) sends(room string, n int, publish func(context.Context, *peer.Peer) error) {
	a.t.Helper()
	guest := a.guest(room, n, peer.Options{OnlySends: true})
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	if err := publish(ctx, guest); err != nil {
		a.t.Fatal(err)
	}
}

// guest enters a room as a peer.
func (a account) guest(room string, n int, options peer.Options) *peer.Peer {
	a.t.Helper()
	body := map[string]any{"room": room, "name": fmt.Sprint("Guest ", n), "audio": true, "video": true}
	e := a.mustEnter(map[string]any{"room": room, "name": body["name"], "ticket": a.ticket(body)})
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	options.Client = a.client
	guest, err := peer.JoinAs(ctx, e.Engine.URL, e.Engine.Token, options)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(guest.Close)
	return guest
}

// crowd has so many peers enter a room and publish, some at a time.
func (a account) crowd(room string, from, to int, publish func(context.Context, *peer.Peer) error) {
	a.t.Helper()
	someAtATime(from, to, func(n int) { a.sends(room, n, publish) })
}

func someAtATime(from, to int, do func(n int)) {
	var all errgroup.Group
	all.SetLimit(8)
	for n := from; n < to; n++ {
		all.Go(func() error {
			do(n)
			return nil
		})
	}
	_ = all.Wait()
}

// processes are a process and all that came from it and still run.
func processes(t *testing.T, root int) (all []int) {
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
	for next := []int{root}; len(next) > 0; next = next[1:] {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", next[0])); err == nil {
			all = append(all, next[0])
		}
		next = append(next, children[next[0]]...)
	}
	return all
}

// tilesInSight are the tiles of others that a page shows.
const tilesInSight = `[...document.querySelectorAll('[data-testid=tile][data-local=false]')].filter(tile => {
	const r = tile.getBoundingClientRect(), s = document.querySelector('.tiles').getBoundingClientRect();
	return r.top < s.bottom - 1 && r.bottom > s.top + 1;
})`
