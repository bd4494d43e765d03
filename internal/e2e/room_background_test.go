// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/url"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// greenCamera is a camera before a green wall.
const greenCamera = `navigator.mediaDevices.getUserMedia = async () => {
	const wall = Object.assign(document.createElement('canvas'), {width: 640, height: 360}), paint = wall.getContext('2d');
	const draw = () => { paint.fillStyle = '#00c000'; paint.fillRect(0, 0, 640, 360) };
	draw();
	setInterval(draw, 40);
	return wall.captureStream(25);
}`

// cornerOf is the colour in a corner of a video, as [red, green, blue], or [] while there is no picture.
func cornerOf(video string) string {
	return fmt.Sprintf(`(v => {
		if (!v || v.videoWidth === 0) return [];
		const c = Object.assign(document.createElement('canvas'), {width: 16, height: 9}).getContext('2d');
		c.drawImage(v, 0, 0, 16, 9);
		return [...c.getImageData(1, 1, 1, 1).data].slice(0, 3);
	})(%s)`, video)
}

// isGreen is true of a colour of the wall, isSea of one of the picture with that name.
func isGreen(colour string) string {
	return `(([r, g, b]) => g > 120 && r < 90 && b < 90)(` + colour + `)`
}

func isSea(colour string) string { return `(([r, g, b]) => r > 150 && b > 170)(` + colour + `)` }

// loads is true of a page that has asked for a file with this in its name.
func loads(file string) string {
	return fmt.Sprintf(`performance.getEntriesByType('resource').some(({name}) => name.includes(%q))`, file)
}

// openSettings opens the settings of the room.
func openSettings(t *testing.T, p *testkit.Page) {
	t.Helper()
	choose(t, p, "devices-button")
	p.WaitFor(t, shows("devices"))
}

// TestBackground: the others see the picture that the participant chose in place of the room behind them, from the first
// moment on.
func TestBackground(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	a := w.a.on(t)
	d := testkit.Device{Width: 1280, Height: 800, Script: greenCamera}
	ada := a.join(d, map[string]any{"room": "walls", "name": "Ada", "video": true})
	bob := a.join(small, map[string]any{"room": "walls", "name": "Bob"})
	seen := cornerOf(`(` + tileOf("Ada") + `)?.querySelector('video')`)
	bob.WaitFor(t, isGreen(seen))
	if is(t, ada, loads("selfie")) {
		t.Error("the model is loaded before it is wanted")
	}
	openSettings(t, ada)
	ada.Click(t, by("background-sea"))
	bob.WaitFor(t, isSea(seen))
	takeScreenshots(t, ada, d, "background")
	checkAccess(t, ada, d)

	testkit.Eval[bool](t, bob, `!!setInterval(() => { if (`+isGreen(seen)+`) window.sawTheWall = true }, 20)`)
	ada.Reload(t)
	ada.WaitFor(t, inRoom+" && "+sends(false, true))
	bob.WaitFor(t, isSea(seen))
	for range 2 {
		ada.Click(t, by("camera-toggle"))
	}
	ada.WaitFor(t, sends(false, true))
	bob.WaitFor(t, isSea(seen))
	if is(t, bob, `window.sawTheWall`) {
		t.Error("for a moment the others saw the participant's room")
	}
	openSettings(t, ada)
	ada.Click(t, by("background-camera"))
	bob.WaitFor(t, isGreen(seen))
	ada.Click(t, by("background-blur"))
	ada.WaitFor(t, `document.querySelector('[data-testid=background-blur]').checked`)

	ada.Goto(t, a.roomURL("walls"))
	ada.Click(t, by("prejoin-effects"))
	ada.Click(t, by("background-sea"))
	ada.WaitFor(t, isSea(cornerOf(`document.querySelector('.preview video:not([hidden])')`)))
	takeScreenshots(t, ada, d, "prejoin background")
	checkAccess(t, ada, d)
	onlyFromHere(t, ada)
}

// onlyFromHere fails when a page asked another host for something, or something failed on it.
func onlyFromHere(t *testing.T, p *testkit.Page) {
	t.Helper()
	for _, asked := range p.Requests() {
		if at, err := url.Parse(asked); err == nil && at.Host != "" && at.Hostname() != "127.0.0.1" {
			t.Errorf("the page asked another host: %s", asked)
		}
	}
	if errs := p.ConsoleErrors(); len(errs) > 0 {
		t.Errorf("console: %q", errs)
	}
}
