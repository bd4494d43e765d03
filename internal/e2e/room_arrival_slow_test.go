// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// looking gives a page a participant who looks at it or, after look(false), elsewhere. It counts the tones of the page, and how often it asks that
// the screen stays bright.
const looking = `(() => {
	let there = true;
	Object.defineProperty(Document.prototype, 'visibilityState', {get: () => there ? 'visible' : 'hidden'});
	Object.defineProperty(Document.prototype, 'hidden', {get: () => !there});
	window.look = (at) => { there = at; document.dispatchEvent(new Event('visibilitychange')); return true; };
	window.tones = 0;
	const Tone = OscillatorNode;
	window.OscillatorNode = class extends Tone { constructor(...how) { super(...how); window.tones++; } };
	window.bright = 0;
	const { request } = WakeLock.prototype;
	WakeLock.prototype.request = function (...what) { window.bright++; return request.apply(this, what); };
})()`

// TestNobodyGoesLiveUnseen: who waits for a room sees their picture, and their screen stays bright. Who comes in while they look elsewhere hears
// it and reads it in the title, and sends nothing before they look.
func TestNobodyGoesLiveUnseen(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	d := small
	d.Script = looking
	bob := testkit.Browser(t).OpenOn(t, d, w.a.roomURL("later")+"?name=Bob&audio=1&video=1")
	bob.WaitFor(t, `document.querySelector('[data-testid=prejoin] video')?.videoWidth > 0`)
	bob.Click(t, by("join-button"))
	bob.Click(t, by("wait-here"))
	bob.WaitFor(t, errorScreen("NotFound")+` && document.querySelector('[data-testid=error-screen] video')?.videoWidth > 0 && bright === 1`)
	checkAccess(t, bob, small)
	takeScreenshots(t, bob, small, "waiting for a room")
	testkit.Eval[bool](t, bob, `look(false)`)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "later"})
	ada := w.a.join(small, map[string]any{"room": "later", "name": "Ada"})
	bob.WaitFor(t, inRoom+` && document.title.startsWith('You are in') && tones === 2`)
	ada.WaitFor(t, seenWith("Bob", "[data-muted=true]"))
	bob.WaitFor(t, sends(false, false))
	testkit.Eval[bool](t, bob, `look(true)`)
	ada.WaitFor(t, seenWith("Bob", "[data-muted=false]")+" && "+seesVideoOf("Bob"))
	bob.WaitForText(t, "You are in. Your microphone and camera are on.")
	takeScreenshots(t, bob, small, "room arrived")
	bob.Click(t, by("notice-offer"))
	bob.WaitFor(t, sends(false, false))
	if title := testkit.Eval[string](t, bob, `document.title`); strings.HasPrefix(title, "You are in") {
		t.Errorf("who has looked still has the title %q", title)
	}

	// A link can be opened in a tab behind another one.
	d.Script += `; look(false)`
	eve := testkit.Browser(t).OpenOn(t, d, w.a.link(map[string]any{"room": "later", "name": "Eve", "audio": true, "video": true}))
	defer eve.Close()
	eve.WaitFor(t, inRoom+` && document.title.startsWith('You are in') && `+sends(false, false))
	testkit.Eval[bool](t, eve, `look(true)`)
	ada.WaitFor(t, seenWith("Eve", "[data-muted=false]"))
}

// TestAnOpenChatIsNoReadChat: what is written while nobody looks, or while they read further up, makes a sound and is counted, also while the chat
// is open.
func TestAnOpenChatIsNoReadChat(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	d := small
	d.Script = looking
	ada := w.a.join(d, map[string]any{"room": "read", "name": "Ada"})
	bob := w.a.join(small, map[string]any{"room": "read", "name": "Bob"})
	openPanel(t, ada, "chat")
	openPanel(t, bob, "chat")
	unread := func(n string) string { return `(document.title.match(/^\((\d+)\)/)?.[1] ?? '0') === ` + quote(n) }
	write := func(text string) {
		t.Helper()
		bob.Type(t, by("chat-input"), text+"\r")
		ada.WaitForText(t, text)
	}
	write("one")
	ada.WaitFor(t, unread("0")+" && tones === 0")
	testkit.Eval[bool](t, ada, `look(false)`)
	write("two")
	ada.WaitFor(t, unread("1")+" && tones === 2")
	testkit.Eval[bool](t, ada, `look(true)`)
	ada.WaitFor(t, unread("0"))

	bob.Type(t, by("chat-input"), strings.Repeat("more ", 400)+"\r")
	ada.WaitFor(t, `document.querySelectorAll('[data-testid=chat-message]').length === 3`)
	testkit.Eval[any](t, ada, `document.querySelector('.chat-log').scrollTop = 0`)
	ada.WaitFor(t, hasNo("chat-new"))
	write("four")
	ada.WaitFor(t, unread("1")+" && "+shows("chat-new"))
	ada.Click(t, by("chat-new"))
	ada.WaitFor(t, unread("0"))
}
