// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"convene.dev/convene/internal/testkit"
)

// keepsWhatCame keeps the devices that the browser gave, and the tracks.
const keepsWhatCame = `window.came = {audioinput: [], videoinput: []};
(media => {
	const open = media.getUserMedia.bind(media);
	media.getUserMedia = async wanted => {
		const stream = await open(wanted);
		for (const track of stream.getTracks()) came[track.kind + 'input'].push(track);
		return stream;
	};
})(navigator.mediaDevices);`

// TestTheChosenDeviceIsUsed: of three microphones and three cameras, those are used that were chosen: before joining, after a return, in the room,
// and after the camera was off. A device that is chosen and not there is replaced, and both are named.
func TestTheChosenDeviceIsUsed(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "devices"})
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "another"})
	browser := testkit.OwnBrowser(t, "--use-fake-device-for-media-stream=fps=5,device-count=3")
	device := desk
	device.Script = keepsWhatCame
	p := browser.OpenOn(t, device, w.a.roomURL("devices"))
	defer p.Close()
	// uses waits until a device with a label is used, and shown in the list. Its id is another one after each reload: the window is a private one.
	uses := func(picker, kind, label string) {
		t.Helper()
		p.WaitFor(t, fmt.Sprintf(`(track => track?.label === %q && track.readyState === 'live')(came.%s.at(-1))
			&& document.querySelector('[data-testid=%s]')?.selectedOptions[0].text === %[1]q`, label, kind, picker))
	}
	// choose takes the n-th of the devices in a list.
	choose := func(picker, kind string, n int) (label string) {
		t.Helper()
		p.WaitFor(t, fmt.Sprintf(`document.querySelector('[data-testid=%s]')?.options.length > %d`, picker, n))
		label = testkit.Eval[string](t, p, fmt.Sprintf(`(list => {
			list.value = list.options[%d].value;
			list.dispatchEvent(new Event('change', {bubbles: true}));
			return list.selectedOptions[0].text;
		})(document.querySelector('[data-testid=%s]'))`, n, picker))
		uses(picker, kind, label)
		return label
	}
	mic, camera := choose("mic-picker", "audioinput", 2), choose("camera-picker", "videoinput", 2)
	p.Reload(t)
	uses("mic-picker", "audioinput", mic)
	uses("camera-picker", "videoinput", camera)
	if is(t, p, shows("replaced-audio")+" || "+shows("replaced-video")) {
		t.Error("devices that are there are said to be gone")
	}

	p.Type(t, by("name-input"), "Ann")
	p.Click(t, by("join-button"))
	p.WaitFor(t, sends(true, true))
	p.Click(t, by("mic-menu"))
	uses("choose-audioinput", "audioinput", mic)
	choose("choose-audioinput", "audioinput", 1)
	p.Press(t, kb.Escape)
	p.Click(t, by("camera-menu"))
	uses("choose-videoinput", "videoinput", camera)
	camera = choose("choose-videoinput", "videoinput", 1)
	p.Press(t, kb.Escape)
	before := testkit.Eval[int](t, p, "came.videoinput.length")
	p.Click(t, by("camera-toggle"))
	p.WaitFor(t, `came.videoinput.at(-1).readyState === 'ended'`)
	p.Click(t, by("camera-toggle"))
	p.WaitFor(t, fmt.Sprintf("came.videoinput.length > %d && came.videoinput.at(-1).label === %q", before, camera))

	// Both are not there at the next visit.
	testkit.Eval[any](t, p, `(kept => localStorage.setItem('convene.choices', JSON.stringify({...kept, micId: 'gone', micLabel: 'Headset', cameraId: 'gone', cameraLabel: 'Webcam'})))(
		JSON.parse(localStorage.getItem('convene.choices')))`)
	p.Goto(t, w.a.roomURL("another"))
	for kind, name := range map[string]string{"audio": "Headset", "video": "Webcam"} {
		p.WaitFor(t, fmt.Sprintf(`document.querySelector('[data-testid=replaced-%s]')?.textContent.includes('%s is gone. ' + came.%sinput.at(-1).label)`, kind, name, kind))
	}
	uses("mic-picker", "audioinput", testkit.Eval[string](t, p, "came.audioinput.at(-1).label"))
	uses("camera-picker", "videoinput", testkit.Eval[string](t, p, "came.videoinput.at(-1).label"))
	p.Screenshot(t, "devices-replaced")
}
