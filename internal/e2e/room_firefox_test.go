// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// firefoxDevices are Firefox's own microphone for tests, which hums, and a camera before a green wall.
const firefoxDevices = listens + `;(media => {
	if (!media) return; // The first page of a tab.
	const hear = media.getUserMedia.bind(media);
	` + greenCamera + `;
	const see = media.getUserMedia;
	media.getUserMedia = async wanted => new MediaStream([
		...(wanted.audio ? (await hear({audio: true})).getTracks() : []), ...(wanted.video ? (await see()).getTracks() : []),
	]);
})(navigator.mediaDevices)`

// TestFirefox: a participant with Firefox and one with Chromium see, hear and read each other, and what Firefox cannot do on this
// machine is said.
func TestFirefox(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	const room = "two engines"
	d := small
	d.Script = listens + ";" + speaks
	bob := w.a.join(d, map[string]any{"room": room, "name": "Bob", "audio": true, "video": true})

	fay := testkit.OpenFirefox(t, firefoxDevices, w.a.roomURL(room))
	fay.WaitFor(t, `document.querySelector('.preview video').videoWidth > 0`)
	// What Firefox says of a script that it has already is no reason to load the page again.
	fay.WaitFor(t, `document.readyState === 'complete' && performance.now() > 3000`)
	fay.WaitFor(t, `performance.getEntriesByType('navigation')[0].type === 'navigate'`)
	fay.Type(t, by("name-input"), "Fay")
	fay.Click(t, by("join-button"))
	fay.WaitFor(t, inRoom)
	fay.WaitFor(t, seesAndHears("Bob")+" && "+loud)
	bob.WaitFor(t, seesAndHears("Fay")+" && "+loud)

	fay.Click(t, by("chat-toggle"))
	fay.Type(t, by("chat-input"), "Hello from Firefox")
	fay.Click(t, by("chat-send"))
	openPanel(t, bob, "chat")
	bob.WaitForText(t, "Hello from Firefox")
	bob.Type(t, by("chat-input"), "Hello from Chromium")
	bob.Click(t, by("chat-send"))
	fay.WaitFor(t, `document.querySelector('.chat-log').innerText.includes('Hello from Chromium')`)
	fay.Click(t, by("chat-toggle"))

	w.effectsInFirefox(t, fay, bob)

	bye := farewell(t)
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/two%20engines", map[string]any{"redirect": bye})
	fay.WaitFor(t, fmt.Sprintf(`location.href === %q`, bye))
}

// effectsInFirefox: without loudspeaker and graphics card Firefox runs neither the filter of sound nor what paints backgrounds. The page
// says so, both go on hearing each other, and the room that was not to be seen is not.
func (w *world) effectsInFirefox(t *testing.T, fay *testkit.Firefox, bob *testkit.Page) {
	fay.Click(t, by("more-menu"))
	fay.Click(t, by("devices-button"))
	fay.WaitFor(t, shows("choose-audioinput")+` && document.querySelector('[data-testid=settings-picture]').videoWidth > 0`)
	fay.Click(t, by("noise-switch"))
	fay.WaitFor(t, `[...document.querySelectorAll('[role=alert] [data-testid=notice]')].some(n =>
		n.innerText.includes('Background noise could not be suppressed. Your microphone works without it.'))`)
	fay.WaitFor(t, `!document.querySelector('[data-testid=noise-switch]').checked && `+loud)
	testkit.Eval[bool](t, bob, `(window.heard = [], true)`)
	bob.WaitFor(t, `window.heard.length === 20 && Math.min(...window.heard) > 0.1`)

	seen := cornerOf(`(` + tileOf("Fay") + `)?.querySelector('video')`)
	bob.WaitFor(t, isGreen(seen))
	fay.Click(t, by("background-sea"))
	fay.WaitFor(t, `[...document.querySelectorAll('[role=alert] [data-testid=notice]')].some(n =>
		n.innerText.includes('The background could not be changed, so your camera is off.'))`)
	bob.WaitFor(t, `!(`+tileOf("Fay")+`).querySelector('video')`)
	fay.Click(t, by("background-camera"))
	fay.Click(t, by("devices")+" .dialog-actions .primary")
	fay.Click(t, by("camera-toggle"))
	bob.WaitFor(t, isGreen(seen))
}
