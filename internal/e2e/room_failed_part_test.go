// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"convene.dev/convene/internal/testkit"
)

// TestAPartThatFails: a browser that lacks what a part of the page needs takes that part alone, and everybody can leave.
func TestAPartThatFails(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	const failed, again = `document.querySelectorAll('[data-testid=failed-part]').length`, `[data-testid=failed-part] button`

	t.Run("a message", func(t *testing.T) {
		a := w.a.on(t)
		p := a.join(small, map[string]any{"room": "chat", "name": "Ada", "chat": true})
		defer p.Close()
		testkit.Eval[any](t, p, `(window.shown = Date.prototype.toLocaleTimeString, Date.prototype.toLocaleTimeString = () => { throw new Error('broken') }, 1)`)
		openPanel(t, p, "chat")
		p.Type(t, by("chat-input"), "hello https://example.com\r")
		p.WaitFor(t, failed+` === 1 && `+shows("chat-input"))
		takeScreenshots(t, p, small, "room failed message")
		testkit.Eval[any](t, p, `(Date.prototype.toLocaleTimeString = shown, 1)`)
		p.Click(t, again)
		p.WaitFor(t, failed+` === 0 && document.querySelector('[data-testid=chat-message] a')?.href === 'https://example.com/'`)
	})
	t.Run("stage and bar", func(t *testing.T) {
		d := small
		d.Script = `window.ResizeObserver = class { constructor() { throw new Error('broken') } }`
		p := w.a.on(t).join(d, map[string]any{"room": "bar", "name": "Ada", "audio": true})
		defer p.Close()
		p.WaitFor(t, failed+` === 2 && `+shows("silence-button"))
		checkAccess(t, p, d)
		takeScreenshots(t, p, d, "room failed bar")
		p.Click(t, by("silence-button"))
		p.WaitFor(t, failed+` === 2 && !`+shows("silence-button"))
		p.Click(t, by("leave-button"))
		p.WaitFor(t, shows("rejoin-button"))
	})
	t.Run("the whole room", func(t *testing.T) {
		d := small
		d.Script = `Object.defineProperty(document, 'title', {get: () => '', set() { if (this.querySelector('[data-testid=room]')) throw new Error('broken') }})`
		p := testkit.Browser(t).OpenOn(t, d, w.a.on(t).link(map[string]any{"room": "whole", "name": "Ada", "audio": true}))
		defer p.Close()
		p.WaitFor(t, failed+` === 1 && !document.querySelector('[data-testid=room]') && `+shows("silence-button"))
		takeScreenshots(t, p, d, "room failed")
		p.Click(t, by("leave-button"))
		p.WaitFor(t, shows("rejoin-button"))
	})
}

// TestAnExtraThatFails: whatever a browser does not give of what only adorns the page, a guest gets in, and what they send can be switched off.
func TestAnExtraThatFails(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	for name, script := range map[string]string{
		"no sound graph":             `delete window.AudioContext`,
		"no second sound graph":      `{ let made = 0; const Real = AudioContext; window.AudioContext = class extends Real { constructor(...how) { if (made++ > 0) throw new DOMException('no more', 'NotSupportedError'); super(...how) } } }`,
		"a microphone of other rate": `AudioContext.prototype.createMediaStreamSource = () => { throw new DOMException('another rate', 'NotSupportedError') }`,
		"no levels":                  `delete window.AnalyserNode`,
		"no list of devices":         `navigator.mediaDevices.enumerateDevices = () => Promise.reject(new DOMException('no', 'NotAllowedError'))`,
		"no pictures":                `Object.defineProperty(HTMLVideoElement.prototype, 'srcObject', { get: () => null, set() { throw new Error('broken') } })`,
		"no observer of sizes":       `window.ResizeObserver = class { constructor() { throw new Error('broken') } }`,
	} {
		t.Run(name, func(t *testing.T) {
			d := small
			d.Script = script
			a := w.a.on(t)
			a.link(map[string]any{"room": "extras", "name": "Sam"})
			p := testkit.Browser(t).OpenOn(t, d, a.roomURL("extras")+"?name=Bob&audio=1&video=1")
			defer p.Close()
			p.WaitFor(t, `document.querySelector('[data-testid=prejoin-mic]')?.ariaPressed === 'true'`)
			p.Click(t, by("join-button"))
			p.WaitFor(t, sends(true, true)+"||"+shows("silence-button"))
			if is(t, p, shows("silence-button")) {
				p.Click(t, by("silence-button"))
				p.WaitFor(t, "!"+shows("silence-button"))
			} else {
				p.Click(t, by("mic-toggle"))
				p.WaitFor(t, sends(false, true))
				for _, menu := range []string{"mic-menu", "camera-menu"} {
					p.Click(t, by(menu))
					p.WaitFor(t, `document.querySelector('.popup') && `+shows("leave-button")+` && !document.querySelector('.controls-bar [data-testid=failed-part]')`)
					p.Press(t, kb.Escape)
				}
				openPanel(t, p, "chat")
				p.WaitFor(t, shows("chat-input"))
			}
		})
	}
}
