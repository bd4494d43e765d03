// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"testing"

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
		p := w.a.on(t).join(d, map[string]any{"room": "bar", "name": "Ada"})
		defer p.Close()
		p.WaitFor(t, failed+` === 2`)
		checkAccess(t, p, d)
		takeScreenshots(t, p, d, "room failed bar")
		p.Click(t, by("leave-button"))
		p.WaitFor(t, shows("rejoin-button"))
	})
	t.Run("the whole room", func(t *testing.T) {
		d := small
		d.Script = `Object.defineProperty(document, 'title', {get: () => '', set() { if (this.querySelector('[data-testid=room]')) throw new Error('broken') }})`
		p := testkit.Browser(t).OpenOn(t, d, w.a.on(t).link(map[string]any{"room": "whole", "name": "Ada"}))
		defer p.Close()
		p.WaitFor(t, failed+` === 1 && !document.querySelector('[data-testid=room]')`)
		takeScreenshots(t, p, d, "room failed")
		p.Click(t, by("leave-button"))
		p.WaitFor(t, shows("rejoin-button"))
	})
}
