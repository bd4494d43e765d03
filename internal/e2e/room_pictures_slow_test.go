// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// TestPictures: pictures of any shape, on screens of any density, and in browsers that do not play them by themselves.
func TestPictures(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	for name, look := range map[string]func(account, *testing.T){
		"no picture is cut to a stripe":       account.shapes,
		"a dense screen gets a sharp picture": account.dense,
		"a press starts what may not start":   account.heldBack,
	} {
		t.Run(name, func(t *testing.T) { look(w.a.on(t), t) })
	}
}

// films gives a page a camera of one size, which can be turned, as a telephone is.
func films(width, height int) string {
	return fmt.Sprintf(`(media => {
	const film = () => {
		const canvas = Object.assign(document.createElement('canvas'), {width: %d, height: %d}), g = canvas.getContext('2d');
		setInterval(() => {
			g.fillStyle = 'hsl(' + performance.now() / 50 %% 360 + ' 60%% 50%%)';
			g.fillRect(0, 0, canvas.width, canvas.height);
		}, 200);
		window.turn = () => [canvas.width, canvas.height] = [canvas.height, canvas.width];
		return canvas.captureStream(5).getVideoTracks()[0];
	};
	const open = media.getUserMedia.bind(media);
	media.getUserMedia = async wanted => {
		const stream = wanted.audio ? await open({audio: wanted.audio}) : new MediaStream();
		if (wanted.video) stream.addTrack(film());
		return stream;
	};
})(navigator.mediaDevices);`, width, height)
}

// mostIsSeen is true while a number of cameras are shown, and of each of them at least two thirds are seen.
func mostIsSeen(cameras int) string {
	return fmt.Sprintf(`(all => all.length === %d && all.every(v => {
		const box = v.getBoundingClientRect(), frame = v.parentElement.getBoundingClientRect();
		const inFrame = Math.max(0, Math.min(box.right, frame.right) - Math.max(box.left, frame.left)) *
			Math.max(0, Math.min(box.bottom, frame.bottom) - Math.max(box.top, frame.top));
		const scale = Math.max(box.width / v.videoWidth, box.height / v.videoHeight);
		return v.videoWidth > 0 && inFrame / (v.videoWidth * v.videoHeight * scale * scale) > 0.65;
	}))([...document.querySelectorAll('.preview video, .settings-picture video, .tile:not(.screen) video')].filter(v => v.checkVisibility()))`, cameras)
}

func (a account) shapes(t *testing.T) {
	const room = "shapes"
	const fills = `(v => Math.abs(v.clientWidth - v.parentElement.clientWidth) <= 1 && Math.abs(v.clientHeight - v.parentElement.clientHeight) <= 1)`
	a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	upright, level := desk, desk
	upright.Script, level.Script = films(180, 320), films(320, 180)
	p := testkit.Browser(t).OpenOn(t, upright, a.roomURL(room))
	defer p.Close()
	p.WaitFor(t, mostIsSeen(1))
	p.Screenshot(t, "upright-preview")
	p.Type(t, by("name-input"), "Upright")
	p.Click(t, by("join-button"))
	p.WaitFor(t, inRoom)
	p.Click(t, by("camera-menu"))
	p.WaitFor(t, mostIsSeen(2))
	p.Screenshot(t, "upright-settings")
	p.Press(t, "\x1b")

	other := a.join(level, map[string]any{"room": room, "name": "Level", "video": true})
	defer other.Close()
	third := a.join(level, map[string]any{"room": room, "name": "Third", "video": true})
	defer third.Close()
	for _, d := range []testkit.Device{desk, phone, phoneOnItsSide} {
		for _, layout := range []string{"grid", "speaker"} {
			other.Use(t, d)
			other.WaitFor(t, fmt.Sprintf(`innerWidth === %d && document.querySelector('.stage').dataset.layout === %q`, d.Width, layout))
			other.WaitFor(t, mostIsSeen(3))
			other.Screenshot(t, fmt.Sprintf("upright-%s-%d", layout, d.Width))
			other.Press(t, "g")
		}
	}
	// What loses little fills its tile, also after the telephone is turned.
	other.Use(t, desk)
	other.WaitFor(t, fills+`((`+tileOf("Third")+`).querySelector('video')) && !`+fills+`((`+tileOf("Upright")+`).querySelector('video'))`)
	testkit.Eval[any](t, p, `turn()`)
	other.WaitFor(t, fills+`((`+tileOf("Upright")+`).querySelector('video')) && `+mostIsSeen(3))
}

func (a account) dense(t *testing.T) {
	const room = "dense"
	sender := a.join(small, map[string]any{"room": room, "name": "Sender", "video": true})
	defer sender.Close()
	p := a.join(testkit.Device{Width: 620, Height: 800, Scale: 2}, map[string]any{"room": room, "name": "Ada"})
	defer p.Close()
	p.Press(t, "g")
	// A picture may come sharp before the page has said how large it is, so it has to stay sharp.
	sharp := func(width int) string {
		return fmt.Sprintf(`(v => {
			const sharp = devicePixelRatio === 2 && v?.videoWidth === %d;
			window.since = sharp ? window.since ?? performance.now() : undefined;
			return performance.now() - since > 5000;
		})(document.querySelector('[data-large=true] video'))`, width)
	}
	p.WaitFor(t, sharp(1280))
	sender.Click(t, by("screen-toggle"))
	p.WaitFor(t, sharp(1920))
}

// savesPower is a script: the browser plays a video only when the page asks during a press, as an iPhone in low power mode does.
const savesPower = `(() => {
	let pressed = false;
	for (const event of ['pointerup', 'click', 'keydown']) addEventListener(event, () => {
		pressed = true;
		setTimeout(() => pressed = false);
	}, true);
	const play = HTMLVideoElement.prototype.play;
	HTMLVideoElement.prototype.play = function () {
		return pressed ? play.call(this) : Promise.reject(new DOMException('not now', 'NotAllowedError'));
	};
	Object.defineProperty(HTMLVideoElement.prototype, 'autoplay', {get: () => false, set: () => undefined});
	const set = Element.prototype.setAttribute;
	Element.prototype.setAttribute = function (name, value) {
		if (name !== 'autoplay') set.call(this, name, value);
	};
})();`

func (a account) heldBack(t *testing.T) {
	const room = "held back"
	const plays = `(all => all.length === %d && all.every(v => !v.paused && v.currentTime > 0))([...document.querySelectorAll('video')])`
	const stands = `(all => all.length === %d && all.some(v => v.paused && v.srcObject))([...document.querySelectorAll('video')])`
	a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	saving := phone
	saving.Script = savesPower
	before := testkit.Browser(t).OpenOn(t, saving, a.roomURL(room))
	defer before.Close()
	before.WaitFor(t, fmt.Sprintf(stands, 1))
	before.Click(t, "h1")
	before.WaitFor(t, fmt.Sprintf(plays, 1))

	ann := a.join(small, map[string]any{"room": room, "name": "Ann", "video": true})
	defer ann.Close()
	p := a.join(saving, map[string]any{"room": room, "name": "Ada", "video": true})
	defer p.Close()
	p.WaitFor(t, shows("pictures-on")+" && "+fmt.Sprintf(stands, 2))
	p.Screenshot(t, "pictures-held-back")
	checkAccess(t, p, saving)
	// Any press is as good.
	p.Click(t, ".stage")
	p.WaitFor(t, hasNo("pictures-on")+" && "+fmt.Sprintf(plays, 2))
	bob := a.join(small, map[string]any{"room": room, "name": "Bob", "video": true})
	defer bob.Close()
	p.WaitFor(t, fmt.Sprintf(stands, 3))
	p.Click(t, by("pictures-on"))
	p.WaitFor(t, hasNo("pictures-on")+" && "+fmt.Sprintf(plays, 3))
}
