// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"convene.dev/convene/internal/testkit"
)

// asks gives a page a browser that asks for each microphone and camera, and waits for allow(). It also notes whether the
// page begins to unload, and whether it says to the media server that it leaves.
const asks = `(() => {
	const media = navigator.mediaDevices;
	const open = media.getUserMedia.bind(media);
	const asked = [];
	const given = [];
	media.getUserMedia = async (wanted) => {
		await new Promise(allowed => asked.push(allowed));
		const stream = await open(wanted);
		given.push(...stream.getTracks());
		return stream;
	};
	window.isAsked = () => asked.length;
	window.allow = () => { const all = asked.splice(0); all.forEach(allowed => allowed()); return all.length > 0; };
	window.sending = (kind) => given.filter(t => t.kind === kind && t.readyState === 'live' && t.enabled).length;
	window.given = () => given.length;
	addEventListener('beforeunload', () => { window.unloading = true; });
	let hidden = false;
	addEventListener('pagehide', () => { hidden = true; });
	const send = WebSocket.prototype.send;
	WebSocket.prototype.send = function (message) {
		// Field 8 of livekit.SignalRequest is the leave request.
		if (hidden && new Uint8Array(message.buffer ?? message, message.byteOffset)[0] === (8 << 3 | 2))
			sessionStorage.setItem('farewell', 'yes');
		return send.call(this, message);
	};
})()`

// TestADeviceObeysWhileTheBrowserAsks: what a participant presses while the browser still asks counts afterwards, and
// who has left sends nothing, whatever they then allow. A page that stays sends on, and a page that goes says so.
func TestADeviceObeysWhileTheBrowserAsks(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	ada := w.a.join(small, map[string]any{"room": "asked", "name": "Ada"})
	bob := w.a.join(testkit.Device{Width: 640, Height: 480, Script: asks}, map[string]any{
		"room": "asked", "name": "Bob", "audio": true, "video": true,
	})
	const starts = `document.querySelectorAll('[data-testid=mic-toggle][aria-busy=true], [data-testid=camera-toggle][aria-busy=true]').length`
	bob.WaitFor(t, starts+` === 2 && isAsked() === 1`)
	// A press takes back what the browser asks for, and another one wants it again.
	for _, toggle := range []string{"mic-toggle", "camera-toggle", "camera-toggle"} {
		bob.Click(t, by(toggle))
	}
	bob.WaitFor(t, starts+` === 1 && isAsked() === 1 && allow()`)
	ada.WaitFor(t, seenWith("Bob", "[data-muted=true]")+" && "+seesVideoOf("Bob"))
	bob.WaitFor(t, starts+` === 0 && sending('audio') === 0 && sending('video') === 1`)
	bob.Click(t, by("mic-toggle"))
	bob.WaitFor(t, `isAsked() === 1 && allow()`)
	ada.WaitFor(t, seenWith("Bob", "[data-muted=false]")+" && "+seesVideoOf("Bob"))
	bob.WaitFor(t, `sending('audio') === 1 && sending('video') === 1`)
	bob.Click(t, by("mic-toggle"))
	ada.WaitFor(t, seenWith("Bob", "[data-muted=true]"))
	ada.WaitFor(t, `[...document.querySelectorAll('audio')].filter(a => a.srcObject?.getAudioTracks().length).length <= 1`)
	bob.WaitFor(t, `sending('audio') === 0 && sending('video') === 1`)

	// A link to another program lets the page unload, but only nearly.
	testkit.Eval[any](t, bob, `location.href = 'mailto:eve@example.com'`)
	bob.WaitFor(t, `window.unloading`)
	bob.Click(t, by("mic-toggle"))
	ada.WaitFor(t, seenWith("Bob", "[data-muted=false]")+" && "+seesVideoOf("Bob"))
	bob.WaitFor(t, `sending('audio') === 1 && sending('video') === 1 && given() === 3`)

	bob.Reload(t)
	bob.WaitFor(t, inRoom+` && isAsked() === 1 && sessionStorage.getItem('farewell') === 'yes'`)
	bob.Click(t, by("leave-button"))
	bob.WaitFor(t, shows("rejoin-button")+` && allow()`)
	bob.WaitFor(t, `given() > 0 && sending('audio') + sending('video') === 0`)
}
