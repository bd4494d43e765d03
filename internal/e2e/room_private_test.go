// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"convene.dev/convene/internal/testkit"
)

// privateMarks is true of a page whose open chat marks these messages as private, and no others.
func privateMarks(messages ...string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('[data-testid=chat-message].private')].map(m =>
		m.querySelector('.chat-meta strong').innerText + ': ' + m.querySelector('.chat-text').innerText).join('|') === %s`,
		quote(strings.Join(messages, "|")))
}

// writesTo is true of a page whose form writes to this one: Everyone, or a participant by name.
func writesTo(name string) string {
	return fmt.Sprintf(`(s => s.selectedOptions[0].text === %s && document.querySelector('.chat-form').matches('.private') === (s.value !== ''))(
		document.querySelector('[data-testid=chat-to]'))`, quote(name))
}

// chooseRecipient chooses with the keyboard: a letter goes to the name that begins with it.
func chooseRecipient(t *testing.T, p *testkit.Page, name string) {
	t.Helper()
	p.WaitFor(t, fmt.Sprintf(`[...document.querySelectorAll('[data-testid=chat-to] option')].some(o => o.text === %s)`, quote(name)))
	testkit.Eval[bool](t, p, `(document.querySelector('[data-testid=chat-to]').focus(), true)`)
	p.Press(t, name[:1])
	p.WaitFor(t, writesTo(name))
	testkit.Eval[bool](t, p, `(document.querySelector('[data-testid=chat-input]').focus(), true)`)
}

// tabTo presses Tab until an element has the focus.
func tabTo(t *testing.T, p *testkit.Page, selector string) {
	t.Helper()
	for range 40 {
		if is(t, p, `document.activeElement.matches(`+quote(selector)+`)`) {
			return
		}
		p.Press(t, kb.Tab)
	}
	t.Fatalf("Tab never came to %s", selector)
}

// knowsNothing fails the test where a page has ever shown or kept the words.
func knowsNothing(t *testing.T, p *testkit.Page, words string) {
	t.Helper()
	if is(t, p, fmt.Sprintf(`(document.documentElement.outerHTML + JSON.stringify({...sessionStorage, ...localStorage})).includes(%q)`, words)) {
		t.Errorf("the page knows %q", words)
	}
}

// TestPrivateMessages: one participant writes to another, and nobody else learns of it.
func TestPrivateMessages(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	t.Run("are read by one alone", w.whispers)
	t.Run("reveal nobody, and are not forged", w.refusesForgedWhispers)
}

func (w *world) whispers(t *testing.T) {
	a := w.a.on(t)
	join := func(name string) *testkit.Page {
		return a.join(small, map[string]any{"room": "whispers", "name": name})
	}
	ada, bob, carol := join("Ada"), join("Bob"), join("Carol")
	dora, _ := a.enter(map[string]any{"room": "whispers", "name": "Dora"})
	defer dora.Close()
	openPanel(t, carol, "chat")

	// Ada has no pointer.
	ada.WaitFor(t, tileOf("Bob")+" && "+tileOf("Dora"))
	ada.Press(t, "p")
	ada.WaitFor(t, shows("participants"))
	tabTo(t, ada, rowOf("Bob")+" "+by("person-menu"))
	ada.Press(t, kb.Enter)
	ada.WaitFor(t, `document.activeElement.dataset.testid === 'act-write'`)
	ada.Press(t, kb.Enter)
	ada.WaitFor(t, `document.activeElement.matches('[data-testid=chat-input][aria-label="Private message to Bob"]') && `+writesTo("Bob"))
	checkAccess(t, ada, small)
	ada.Press(t, "psst"+kb.Enter)
	ada.WaitFor(t, privateMarks("To Bob, private: psst"))
	takeScreenshots(t, ada, small, "room chat private")

	bob.WaitFor(t, `document.querySelector('[data-testid=announcements]').innerText.includes('Private message from Ada: psst')`)
	bob.WaitFor(t, `document.querySelector('[data-testid=chat-unread]')?.dataset.count === '1'`)
	openPanel(t, bob, "chat")
	bob.WaitFor(t, privateMarks("From Ada, private: psst"))

	// What comes after it has come to all.
	chooseRecipient(t, ada, "Everyone")
	ada.Press(t, "public"+kb.Enter)
	carol.WaitFor(t, chatReads("public")+" && "+privateMarks())
	knowsNothing(t, carol, "psst")
	for topic := ""; topic != "convene.chat"; {
		packet := <-dora.Data()
		topic = packet.Topic
		if strings.Contains(string(packet.Payload), "psst") {
			t.Errorf("the engine sent Dora %s", packet.Payload)
		}
	}

	// A participant who was there before keeps it over a reload; the others do not get it from them.
	for p, mark := range map[*testkit.Page]string{ada: "To Bob, private: psst", bob: "From Ada, private: psst", carol: ""} {
		p.Reload(t)
		p.WaitFor(t, inRoom)
		openPanel(t, p, "chat")
		if mark == "" {
			p.WaitFor(t, chatReads("public")+" && "+privateMarks())
			knowsNothing(t, p, "psst")
			continue
		}
		p.WaitFor(t, chatReads("psst", "public")+" && "+privateMarks(mark))
	}
	late := join("Late")
	openPanel(t, late, "chat")
	late.WaitFor(t, chatReads("public", "-")+" && "+privateMarks())
	knowsNothing(t, late, "psst")

	losesTheRecipient(t, ada, bob)
	carol.WaitFor(t, chatReads("public", "for Bob alone")+" && "+privateMarks())
	late.WaitFor(t, chatReads("public", "-", "for Bob alone"))
	for name, p := range map[string]*testkit.Page{"Ada": ada, "Carol": carol, "Late": late} {
		if errs := p.ConsoleErrors(); len(errs) > 0 {
			t.Errorf("%s's console: %q", name, errs)
		}
	}
}

// losesTheRecipient has Bob leave before Ada sends what she wrote to him. It goes to everyone when she presses for the second time.
func losesTheRecipient(t *testing.T, ada, bob *testkit.Page) {
	draft := `document.querySelector('[data-testid=chat-input]').value === 'for Bob alone'`
	chooseRecipient(t, ada, "Bob")
	ada.Press(t, "for Bob alone")
	bob.Click(t, by("leave-button"))
	ada.WaitFor(t, writesTo("Everyone")+" && "+draft)
	ada.WaitForText(t, "Bob left. What you write in the chat goes to everyone again.")
	ada.Press(t, kb.Enter)
	ada.WaitFor(t, draft+` && document.querySelector('.chat-form [role=alert]').innerText.includes('Press Send again')`)
	takeScreenshots(t, ada, small, "room chat recipient left")
	if is(t, ada, `[...document.querySelectorAll('.chat-text')].some(e => e.innerText === 'for Bob alone')`) {
		t.Error("what was written to Bob went to everyone at the first press")
	}
	ada.Press(t, kb.Enter)
	ada.WaitFor(t, `document.querySelector('[data-testid=chat-input]').value === ''`)
}

// whisperForger is a changed page: to those who come late it passes the private message on that it has, in every disguise, and a
// public one as if it had been written to them alone.
const whisperForger = `window.lied = 0; (real => window.fetch = (at, init) => {
	if (String(at).endsWith('/session/history/messages')) {
		const body = JSON.parse(init.body), [first, ...rest] = body.messages;
		const kept = Object.keys(sessionStorage).filter(key => key.startsWith('convene.chat ')).map(key => JSON.parse(sessionStorage.getItem(key)));
		const found = kept.flatMap(({messages}) => messages).filter(m => m.to).map(m => ({...m, at: new Date(m.at).toISOString()}));
		window.lied += found.length;
		body.messages = [...found.flatMap(({to, toName, ...secret}) => [
			{...secret, to, toName}, {...secret, to: body.for, toName: 'Carol'}, {...secret, stamp: first.stamp}, {...first, text: secret.text},
			{...secret, to, toName, stamp: first.stamp},
		]), {...first, to: body.for, toName: 'Carol'}, {...first, toName: 'Carol'}, ...rest];
		init = {...init, body: JSON.stringify(body)};
	}
	return real(at, init);
})(window.fetch)`

func (w *world) refusesForgedWhispers(t *testing.T) {
	a, d := w.a.on(t), small
	d.Script = keepSession + ";" + whisperForger
	mallory := a.join(d, map[string]any{"room": "plot", "name": "Mallory"})
	openPanel(t, mallory, "chat")
	unseen, watcher := a.enter(map[string]any{"room": "plot", "name": "Wilma", "hide": true})
	defer unseen.Close()
	dora, entered := a.enter(map[string]any{"room": "plot", "name": "Dora"})
	defer dora.Close()
	mallory.WaitFor(t, tileOf("Dora"))

	// The watcher is in, and the answer is the one for a participant who is not there.
	answer := func(to string) string {
		return testkit.Eval[string](t, mallory, fmt.Sprintf(`fetch(new URL('session/chat', document.baseURI), {method: 'POST', body: %s,
			headers: {'Content-Type': 'application/json', 'Convene-Session': opened.session}}).then(async r => r.status + ' ' + await r.text())`,
			quote(quote(map[string]any{"text": "are you there?", "to": to}))))
	}
	if found, none := answer(watcher.You.Identity), answer("nobody"); found != none || !strings.HasPrefix(none, "404 ") || !watcher.You.Hidden {
		t.Errorf("a hidden participant: %s; nobody: %s", found, none)
	}
	if got := answer(""); !strings.HasPrefix(got, "404 ") {
		t.Errorf("an empty recipient: %s", got)
	}
	if is(t, mallory, fmt.Sprintf(`[...document.querySelectorAll('[data-testid=chat-to] option')].some(o => o.value === %q)`, watcher.You.Identity)) {
		t.Error("the form offers a hidden participant")
	}

	write := func(status int, text string, more map[string]any) {
		t.Helper()
		body := map[string]any{"text": text}
		for key, value := range more {
			body[key] = value
		}
		if got := a.withSession(entered, "session/chat", body); got != status {
			t.Fatalf("%s: answered %d", text, got)
		}
	}
	me := testkit.Eval[string](t, mallory, `opened.you.identity`)
	write(http.StatusNoContent, "one", nil)
	write(http.StatusOK, "secret", map[string]any{"to": me, "from": "ada", "name": "Ada", "toName": "Ada"})
	write(http.StatusNoContent, "two", nil)
	mallory.WaitFor(t, chatReads("one", "secret", "two")+" && "+privateMarks("From Dora, private: secret"))

	carol := a.join(small, map[string]any{"room": "plot", "name": "Carol"})
	openPanel(t, carol, "chat")
	carol.WaitFor(t, chatReads("two", "-")+" && "+privateMarks())
	knowsNothing(t, carol, "secret")
	if lied := testkit.Eval[int](t, mallory, `window.lied`); lied < 1 {
		t.Error("Mallory passed no private message on")
	}
}
