// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// TestAPresenterStopsPictures: whether in the page or by REST, a camera and a shared screen are off for now, the camera is locked and allowed, and a
// silent participant is asked to speak.
func TestAPresenterStopsPictures(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t, controlled)
	for name, decides := range map[string]func(b backend, act string){
		"in the page": func(b backend, act string) { actOn(b.t, b.chair, "Guest", act) },
		"by REST": func(b backend, act string) {
			b.about(b.guest, "PATCH", map[string]map[string]any{
				"act-stop-camera": {"media": map[string]any{"video": false}}, "act-stop-screen": {"media": map[string]any{"screen": false}},
				"act-lock-camera": {"sources": []string{"Microphone", "Screen"}}, "act-allow-camera": {"sources": nil},
				"act-mute": {"media": map[string]any{"audio": false}}, "act-ask-to-unmute": {"askToUnmute": true},
			}[act])
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := backend{w.a.on(t).stage(name), t}
			openPanel(t, b.chair, "participants")
			stopsPictures(t, b, func(act string) { decides(b, act) })
		})
	}
}

func stopsPictures(t *testing.T, b backend, decides func(act string)) {
	pressed := func(device string, on bool) string {
		return fmt.Sprintf(`document.querySelector('[data-testid=%s-toggle]').ariaPressed === '%t'`, device, on)
	}
	told := func(text string) string {
		return `[...document.querySelectorAll('[data-testid=notice]')].some(one => one.innerText.includes(` + quote(text) + `))`
	}
	for range 2 { // What was off for now comes back by a press.
		b.guest.Click(t, by("camera-toggle"))
		b.chair.WaitFor(t, seesVideoOf("Guest"))
		decides("act-stop-camera")
		b.guest.WaitFor(t, pressed("camera", false)+" && "+told("A presenter switched your camera off."))
		b.chair.WaitFor(t, "!"+seesVideoOf("Guest"))
	}
	b.guest.Click(t, by("camera-toggle"))
	b.chair.WaitFor(t, seesVideoOf("Guest"))
	decides("act-lock-camera")
	b.guest.WaitFor(t, pressed("camera", false)+" && "+told("A presenter has locked your camera."))
	b.chair.WaitFor(t, "!"+seesVideoOf("Guest"))
	offers(t, b.chair, "Guest", hasNo("act-stop-camera")+" && "+shows("act-allow-camera"))
	decides("act-allow-camera")
	b.guest.WaitFor(t, pressed("camera", false)+" && "+told("You may use your camera again."))
	b.guest.Click(t, by("camera-toggle"))
	b.chair.WaitFor(t, seesVideoOf("Guest"))

	b.guest.Click(t, by("screen-toggle"))
	b.guest.WaitFor(t, pressed("screen", true))
	offers(t, b.chair, "Guest", shows("act-stop-screen"))
	decides("act-stop-screen")
	b.guest.WaitFor(t, pressed("screen", false)+" && "+told("A presenter stopped your sharing."))
	b.guest.Click(t, by("screen-toggle"))
	b.guest.WaitFor(t, pressed("screen", true))

	decides("act-mute")
	b.guest.WaitFor(t, pressed("mic", false))
	decides("act-ask-to-unmute")
	b.guest.WaitFor(t, told("switch your microphone on."))
	b.guest.Click(t, "[data-testid=notice] "+by("notice-offer"))
	b.guest.WaitFor(t, pressed("mic", true))
}
