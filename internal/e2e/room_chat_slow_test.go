// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// slowChat holds the answers of the chat back until answer() is called, and breaks its calls while window.offline is true.
const slowChat = `(() => {
	const call = window.fetch;
	const waiting = [];
	window.fetch = async (...request) => {
		if (!String(request[0]).endsWith('session/chat')) return call(...request);
		if (window.offline) throw new TypeError('offline');
		const response = await call(...request);
		await new Promise(go => waiting.push(go));
		return response;
	};
	window.answer = () => { const next = waiting.shift(); next?.(); return !!next; };
})()`

// drafted is a condition of a page: the participant has written text and not sent it yet.
func drafted(text string) string {
	return `document.querySelector('[data-testid=chat-input]')?.value === ` + quote(text)
}

// readsMessages is true of a page whose chat has these messages, and no other.
func readsMessages(texts ...string) string {
	return fmt.Sprintf(`JSON.stringify([...document.querySelectorAll('[data-testid=chat-message] .chat-text')].map(m => m.innerText)) === %s`, quote(quote(texts)))
}

// unsent is true of a page that could not send a second thought.
const unsent = `document.querySelector('[data-testid=chat-unsent] .chat-text')?.innerText === 'and a second thought'`

// TestWhatIsTypedWhileAMessageIsOnItsWay: each message arrives whole and in order, what is typed since stays, and what could not be sent is
// there to be sent again, also after a reload.
func TestWhatIsTypedWhileAMessageIsOnItsWay(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	d := small
	d.Script = slowChat
	ada := w.a.join(d, map[string]any{"room": "typing", "name": "Ada"})
	bob := w.a.join(small, map[string]any{"room": "typing", "name": "Bob"})
	openPanel(t, ada, "chat")
	openPanel(t, bob, "chat")
	for _, text := range []string{"one\r", "two\r", "three\r", "and a second thought"} {
		ada.Type(t, by("chat-input"), text)
	}
	ada.WaitFor(t, `document.querySelectorAll('[data-testid=chat-waiting]').length === 3 && `+drafted("and a second thought"))
	takeScreenshots(t, ada, small, "room chat on its way")
	for range 3 {
		ada.WaitFor(t, `answer()`)
	}
	bob.WaitFor(t, readsMessages("one", "two", "three"))
	ada.WaitFor(t, hasNo("chat-waiting")+" && "+drafted("and a second thought"))

	testkit.Eval[any](t, ada, `window.offline = true`)
	ada.Type(t, by("chat-input"), "\r")
	ada.WaitFor(t, drafted("")+" && "+unsent+` && document.querySelector('.chat-form .field-error')`)
	checkAccess(t, ada, small)
	takeScreenshots(t, ada, small, "room chat not sent")
	ada.Type(t, by("chat-input"), "a draft")
	ada.Reload(t)
	ada.WaitFor(t, inRoom)
	openPanel(t, ada, "chat")
	ada.WaitFor(t, drafted("a draft")+" && "+unsent)
	ada.Click(t, by("chat-again"))
	ada.WaitFor(t, drafted("a draft")+" && document.activeElement === document.querySelector('[data-testid=chat-input]') && answer()")
	bob.WaitFor(t, readsMessages("one", "two", "three", "and a second thought"))
}

// TestBackOnATelephone: Back closes what covers the meeting, the topmost first, and loses no draft. With nothing open it leaves the meeting.
func TestBackOnATelephone(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	phone := testkit.Device{Width: 360, Height: 740, Touch: true}
	ada := w.a.join(small, map[string]any{"room": "back", "name": "Ada"})
	bob := w.a.join(phone, map[string]any{"room": "back", "name": "Bob"})
	back := func() { testkit.Eval[any](t, bob, `setTimeout(() => history.back())`) }
	openPanel(t, bob, "chat")
	// Its keyboard has no other key for a new line.
	bob.Type(t, by("chat-input"), "half a thought\rand more")
	bob.WaitFor(t, drafted("half a thought\nand more"))
	back()
	bob.WaitFor(t, inRoom+" && "+hasNo("chat"))
	bob.Click(t, by("more-menu"))
	bob.Click(t, by("devices-button"))
	bob.WaitFor(t, shows("devices")+" && "+hasNo("devices-button"))
	back()
	bob.WaitFor(t, inRoom+" && "+hasNo("devices"))
	openPanel(t, bob, "chat")
	bob.WaitFor(t, drafted("half a thought\nand more"))
	bob.Click(t, by("chat-send"))
	bob.WaitFor(t, drafted("")+" && "+readsMessages("half a thought\nand more"))
	bob.Click(t, `[data-testid=chat] .panel-header button`)
	bob.Click(t, by("more-menu"))
	bob.WaitFor(t, shows("devices-button"))
	back()
	bob.WaitFor(t, inRoom+" && "+hasNo("devices-button"))
	ada.WaitFor(t, tileOf("Bob"))
	back()
	bob.WaitFor(t, `!location.href.includes('back') && !`+shows("room"))
	ada.WaitFor(t, "!"+tileOf("Bob"))
}
