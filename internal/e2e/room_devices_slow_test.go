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
	browser := testkit.OwnBrowser(t, threeDevices)
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

// threeDevices gives a browser three microphones, cameras and loudspeakers.
const threeDevices = "--use-fake-device-for-media-stream=fps=5,device-count=3"

// takes chooses the n-th of the devices in a list, as a participant does.
func takes(picker string, n int) string {
	return fmt.Sprintf(`(list => {
		if (!(list?.options.length > %d)) return '';
		list.value = list.options[%[1]d].value;
		list.dispatchEvent(new Event('change', {bubbles: true}));
		return list.selectedOptions[0].text;
	})(document.querySelector('[data-testid=%s]'))`, n, picker)
}

// camerasWithSides gives Chromium's fake cameras a facingMode, as those of a telephone have: the second camera looks away from the participant, the
// others look at them.
const camerasWithSides = `(media => {
	const sideOf = label => label === 'fake_device_1' ? 'environment' : 'user';
	const settings = MediaStreamTrack.prototype.getSettings;
	MediaStreamTrack.prototype.getSettings = function () {
		return this.kind === 'video' ? {...settings.call(this), facingMode: sideOf(this.label)} : settings.call(this);
	};
	const open = media.getUserMedia.bind(media);
	media.getUserMedia = async wanted => {
		const side = wanted.video?.facingMode?.exact;
		if (!side) return open(wanted);
		const {facingMode, ...video} = wanted.video;
		const {deviceId} = (await media.enumerateDevices()).find(d => d.kind === 'videoinput' && sideOf(d.label) === side);
		return open({...wanted, video: {...video, deviceId: {exact: deviceId}}});
	};
})(navigator.mediaDevices);`

// TestACameraThatLooksAwayIsNotMirrored: whether one's own picture is mirrored, and where a flip turns to, follow the camera in use, however it
// was chosen.
func TestACameraThatLooksAwayIsNotMirrored(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	phone := testkit.Device{Width: 360, Height: 740, Touch: true, Script: camerasWithSides + keepsWhatCame}
	p := testkit.OwnBrowser(t, threeDevices).OpenOn(t, phone, w.a.link(map[string]any{"room": "sides", "name": "Ann", "video": true}))
	defer p.Close()
	p.WaitFor(t, inRoom)
	const side = `came.videoinput.at(-1).getSettings().facingMode`
	// Each picture of the own camera is mirrored unless the camera looks away.
	const right = `(all => all.length > 0 && all.every(v => v.classList.contains('mirrored') === (` + side + ` !== 'environment')))(
		[...document.querySelectorAll('[data-testid=settings-picture], [data-testid=tile][data-local=true] video')])`
	seen := map[string]bool{}
	for n := range 3 {
		p.Click(t, by("more-menu"))
		p.Click(t, by("devices-button"))
		p.WaitFor(t, shows("choose-videoinput"))
		before := testkit.Eval[int](t, p, "came.videoinput.length")
		name := testkit.Eval[string](t, p, takes("choose-videoinput", n))
		p.WaitFor(t, fmt.Sprintf(`came.videoinput.length > %d && came.videoinput.at(-1).label === %q && document.querySelectorAll('[data-testid=settings-picture]').length === 1 && `, before, name)+right)
		seen[testkit.Eval[string](t, p, side+` ?? ''`)] = true
		p.Press(t, kb.Escape)
		p.WaitFor(t, hasNo("choose-videoinput"))
	}
	if !seen["environment"] || !seen["user"] {
		t.Fatalf("the cameras look to %v, which proves nothing", seen)
	}
	for range 2 {
		other := map[string]string{"user": "environment", "environment": "user"}[testkit.Eval[string](t, p, side)]
		p.Click(t, by("flip-camera"))
		p.WaitFor(t, side+fmt.Sprintf(` === %q && `, other)+right)
	}
}

// TestAllSoundsUseTheChosenLoudspeaker: the voices of others and the sounds of the page come out of the loudspeaker that was chosen, also after a
// reload, which gives it another id in a private window.
func TestAllSoundsUseTheChosenLoudspeaker(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	device := desk
	device.Script = `window.sinks = [];
		AudioContext.prototype.setSinkId = (real => function (id) { sinks.push(id); return real.call(this, id); })(AudioContext.prototype.setSinkId);`
	w.a.link(map[string]any{"room": "sound", "name": "Sam"})
	p := testkit.OwnBrowser(t, threeDevices).OpenOn(t, device, w.a.roomURL("sound")+"?name=Ann&audio=1&video=0")
	defer p.Close()
	chosen := func(picker string) string {
		return `document.querySelector('[data-testid=` + picker + `]')?.selectedOptions[0]`
	}
	p.WaitFor(t, `document.querySelector('[data-testid=speaker-picker]')?.options.length > 2`)
	name := testkit.Eval[string](t, p, takes("speaker-picker", 2))
	p.Click(t, by("test-sound"))
	p.WaitFor(t, `sinks.length > 0 && sinks.at(-1) === `+chosen("speaker-picker")+`.value`)
	p.Reload(t)
	p.WaitFor(t, chosen("speaker-picker")+`?.text === `+quote(name))
	p.Click(t, by("join-button"))
	p.WaitFor(t, inRoom)
	bob := w.a.join(small, map[string]any{"room": "sound", "name": "Bob", "audio": true})
	openPanel(t, bob, "chat")
	bob.Type(t, by("chat-input"), "hello\r")
	p.Click(t, by("mic-menu"))
	p.WaitFor(t, chosen("choose-audiooutput")+`?.text === `+quote(name))
	id := chosen("choose-audiooutput") + `.value`
	p.WaitFor(t, `sinks.length > 0 && sinks.every(sink => sink === `+id+`) &&
		(voices => voices.length > 0 && voices.every(voice => voice.sinkId === `+id+`))([...document.querySelectorAll('audio')].filter(a => a.srcObject))`)
}
