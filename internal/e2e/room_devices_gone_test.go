// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// loses gives a page a browser whose devices go and are silenced: the track that it gave last ends, or is muted, as
// Chromium has it. Where a device is taken, it is not found again.
const loses = `(() => {
	const media = navigator.mediaDevices;
	const open = media.getUserMedia.bind(media);
	const given = {};
	const taken = {};
	media.getUserMedia = async (wanted) => {
		await window.prompt;
		for (const kind of ['audio', 'video'])
			if (wanted[kind]?.deviceId?.exact && taken[kind]) throw new DOMException('', 'OverconstrainedError');
		const stream = await open(wanted);
		for (const track of stream.getTracks()) given[track.kind] = track;
		return stream;
	};
	window.unplug = (kind, take) => { taken[kind] = take; given[kind].stop(); return given[kind].dispatchEvent(new Event('ended')); };
	window.silence = (kind, muted) => {
		Object.defineProperty(given[kind], 'muted', {value: muted, configurable: true});
		return given[kind].dispatchEvent(new Event(muted ? 'mute' : 'unmute'));
	};
	const share = media.getDisplayMedia.bind(media);
	media.getDisplayMedia = async (wanted) => {
		if (window.refused) throw new DOMException(window.refused, 'NotAllowedError');
		return share(wanted);
	};
})()`

// TestDevicesThatGo: what goes by itself is opened again where nobody is surprised, and said otherwise; what the system
// silences is shown as paused, and comes back by itself or with a press.
func TestDevicesThatGo(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	ada := w.a.join(small, map[string]any{"room": "gone", "name": "Ada"})
	d := testkit.Device{Width: 900, Height: 600, Script: loses}
	bob := w.a.join(d, map[string]any{"room": "gone", "name": "Bob", "audio": true, "video": true})
	heard := seenWith("Bob", "[data-muted=false]") + " && " + seesVideoOf("Bob")
	unheard := seenWith("Bob", "[data-muted=true]")
	ada.WaitFor(t, heard)

	// Both are there again: nothing is said.
	for _, kind := range []string{"audio", "video"} {
		bob.WaitFor(t, fmt.Sprintf(`unplug(%q)`, kind))
		bob.WaitFor(t, sends(true, true)+" && "+hasNo("notice"))
		ada.WaitFor(t, heard)
	}
	// The second time, within one switching, they stay off.
	bob.WaitFor(t, `unplug('audio', true)`)
	bob.WaitForText(t, "The microphone stopped. Check that it is connected, then switch it on again.")
	bob.WaitFor(t, sends(false, true)+" && "+shows("mic-problem"))
	ada.WaitFor(t, unheard)
	dismissNotices(t, bob)
	bob.Click(t, by("mic-toggle"))
	bob.WaitFor(t, sends(true, true)+" && "+hasNo("mic-problem"))
	ada.WaitFor(t, heard)
	// Another takes the place of a microphone that is taken, and none of a camera.
	bob.WaitFor(t, `unplug('audio', true)`)
	bob.WaitFor(t, sends(true, true))
	bob.Click(t, by("camera-toggle"))
	bob.Click(t, by("camera-toggle"))
	bob.WaitFor(t, sends(true, true))
	bob.WaitFor(t, `unplug('video', true)`)
	bob.WaitForText(t, "The camera stopped.")
	bob.WaitFor(t, sends(true, false)+" && "+shows("camera-problem"))
	bob.Click(t, by("camera-toggle"))
	ada.WaitFor(t, heard)

	dismissNotices(t, bob)
	bob.WaitFor(t, `silence('audio', true)`)
	bob.WaitForText(t, "Your device paused the microphone.")
	bob.WaitFor(t, sends(false, true)+" && "+shows("mic-problem")+` &&
		document.querySelector('[data-testid=mic-toggle]').ariaLabel === 'Microphone (paused by your device)'`)
	bob.WaitFor(t, `document.querySelector('[data-local=true][data-muted=true]')`)
	checkAccess(t, bob, d)
	takeScreenshots(t, bob, d, "room microphone paused")
	ada.WaitFor(t, unheard)
	bob.WaitFor(t, `silence('audio', false)`)
	bob.WaitFor(t, sends(true, true)+" && "+hasNo("mic-problem"))
	ada.WaitFor(t, heard)
	// It does not come back by itself: a press opens it anew.
	bob.WaitFor(t, `silence('audio', true)`)
	ada.WaitFor(t, unheard)
	bob.Click(t, by("mic-toggle"))
	bob.WaitFor(t, sends(true, true)+" && "+hasNo("mic-problem"))
	ada.WaitFor(t, heard)

	dismissNotices(t, bob)
	for refused, says := range map[string]string{
		"Permission denied by system": "Your operating system blocks screen sharing.",
		"Permission denied":           "",
	} {
		testkit.Eval[any](t, bob, `window.refused = `+quote(refused))
		bob.Click(t, by("screen-toggle"))
		if says != "" {
			bob.WaitForText(t, says)
			dismissNotices(t, bob)
		}
		bob.WaitFor(t, hasNo("notice")+` && document.querySelector('[data-testid=screen-toggle]').ariaPressed === 'false'`)
	}
}

// TestAMuteWhileAnotherMicrophoneOpens: a presenter mutes everybody while the browser opens another microphone in place of one that is gone.
func TestAMuteWhileAnotherMicrophoneOpens(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	s := w.a.on(t).stage("meanwhile")
	d := testkit.Device{Width: 900, Height: 600, Script: loses}
	bob := s.join(d, map[string]any{"room": s.room, "name": "Bob", "audio": true})
	s.chair.WaitFor(t, seenWith("Bob", "[data-muted=false]"))
	openPanel(t, s.chair, "participants")
	testkit.Eval[any](t, bob, `(window.prompt = new Promise(allow => window.allow = allow), 0)`)
	bob.WaitFor(t, `unplug('audio')`)
	muteAll(t, s.chair, true)
	bob.WaitForText(t, "A presenter switched your microphone off.")
	testkit.Eval[any](t, bob, `allow()`)
	bob.WaitFor(t, sends(false, false))
	s.chair.WaitFor(t, seenWith("Bob", "[data-muted=true]"))
	bob.Click(t, by("mic-toggle"))
	s.chair.WaitFor(t, seenWith("Bob", "[data-muted=false]"))
	if !is(t, bob, hasNo("notice")) {
		t.Error("a notice says that the microphone is off, and it is on")
	}
}

// TestAnIframeWithoutPermission: Chromium itself refuses both devices before it asks, and the form says who it was.
func TestAnIframeWithoutPermission(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	w.a.link(map[string]any{"room": "framed", "name": "Ada"})
	// It has no policies, so that it may show an iframe.
	p := testkit.Browser(t).Open(t, w.a.baseURL+"/robots.txt")
	for allow, says := range map[string]string{
		"camera 'none'; microphone 'none'": "The page around the meeting allows neither camera nor microphone. Open the meeting in a tab of its own.",
		"camera 'none'":                    "The page around the meeting does not allow the camera. Open the meeting in a tab of its own.",
	} {
		testkit.Eval[any](t, p, fmt.Sprintf(`(frame => {
			frame.allow = %s;
			frame.src = %s;
			document.body.replaceChildren(frame);
		})(document.createElement('iframe'))`, quote(allow), quote(w.a.roomURL("framed")+"?audio=1&video=1")))
		p.WaitFor(t, fmt.Sprintf(`document.querySelector('iframe').contentDocument.querySelector('[data-testid=device-problem]')?.innerText.includes(%s)`, quote(says)))
	}
}
