// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"

	"convene.dev/convene/internal/testkit"
)

// asks gives a page a browser that asks for each microphone and camera, and waits for allow().
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
})()`

// TestADeviceObeysWhileTheBrowserAsks: what a participant presses while the browser still asks counts afterwards, and
// who has left sends nothing, whatever they then allow.
func TestADeviceObeysWhileTheBrowserAsks(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	ada := w.a.join(small, map[string]any{"room": "asked", "name": "Ada"})
	bob := w.a.join(testkit.Device{Width: 640, Height: 480, Script: asks}, map[string]any{
		"room": "asked", "name": "Bob", "audio": true, "video": true,
	})
	bob.Click(t, by("mic-toggle"))
	bob.WaitFor(t, `isAsked() === 1 && allow()`)
	ada.WaitFor(t, seenWith("Bob", "[data-muted=false]")+" && "+seesVideoOf("Bob"))
	bob.WaitFor(t, `sending('audio') === 1 && sending('video') === 1`)
	bob.Click(t, by("mic-toggle"))
	ada.WaitFor(t, seenWith("Bob", "[data-muted=true]"))
	ada.WaitFor(t, `[...document.querySelectorAll('audio')].filter(a => a.srcObject?.getAudioTracks().length).length <= 1`)
	bob.WaitFor(t, `sending('audio') === 0 && sending('video') === 1`)

	bob.Reload(t)
	bob.WaitFor(t, inRoom+` && isAsked() === 1`)
	bob.Click(t, by("leave-button"))
	bob.WaitFor(t, shows("rejoin-button")+` && allow()`)
	bob.WaitFor(t, `given() > 0 && sending('audio') + sending('video') === 0`)
}
