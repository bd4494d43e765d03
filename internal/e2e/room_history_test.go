// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// chatReads is true of a page whose open chat has these messages in this order; a dash is where the participant joined.
func chatReads(messages ...string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('.chat-text, [data-testid=chat-joined]')]
		.map(e => e.matches('.chat-text') ? e.innerText : '-').join('|') === %s`, quote(strings.Join(messages, "|")))
}

func writesChat(t *testing.T, p *testkit.Page, text string) {
	t.Helper()
	p.Type(t, by("chat-input"), text)
	p.Click(t, by("chat-send"))
	p.WaitFor(t, `document.querySelector('[data-testid=chat-input]').value === ''`)
}

// TestChatForLateArrivals: a participant who comes late reads what was written before, from the pages of those who are in.
func TestChatForLateArrivals(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t, func(_, b *v1alpha1.ConferenceConfig) {
		b.Spec.Privacy = &v1alpha1.PrivacySpec{ChatHistory: v1alpha1.ChatHidden}
	})
	t.Run("in order, also from those who came late themselves", w.passesTheChatOn)
	t.Run("nothing that a participant forged", w.refusesForgedChat)
	t.Run("nothing where the tenant shows none", w.showsNoEarlierChat)
}

func (w *world) passesTheChatOn(t *testing.T) {
	a, managers := w.a.on(t), w.each()
	join := func(name string) *testkit.Page {
		p := a.join(small, map[string]any{"room": "late", "name": name})
		p.Press(t, "c") // A pointer on the button would show its tip.
		p.WaitFor(t, shows("chat-input"))
		return p
	}
	ada := join("Ada")
	dora, entered := a.enter(map[string]any{"room": "late", "name": "Dora"})
	defer dora.Close()
	writesChat(t, ada, "one")
	for i, text := range []string{"two", "three"} {
		if got := managers[i].on(t).withSession(entered, "session/chat", map[string]any{"text": text}); got != http.StatusNoContent {
			t.Fatalf("replica %d answered %d", i, got)
		}
	}
	ada.WaitFor(t, chatReads("one", "two", "three"))

	grace := join("Grace")
	grace.WaitFor(t, chatReads("one", "two", "three", "-"))
	checkAccess(t, grace, small)
	takeScreenshots(t, grace, small, "room chat of a late arrival")
	writesChat(t, ada, "four")
	grace.WaitFor(t, chatReads("one", "two", "three", "-", "four"))
	grace.Reload(t)
	grace.WaitFor(t, inRoom)
	openPanel(t, grace, "chat")
	writesChat(t, ada, "five")
	grace.WaitFor(t, chatReads("one", "two", "three", "-", "four", "five"))

	// Dora has no page that answers.
	ada.Close()
	late := join("Linus")
	late.WaitFor(t, chatReads("one", "two", "three", "four", "five", "-"))
	for name, p := range map[string]*testkit.Page{"Grace": grace, "Linus": late} {
		if errs := p.ConsoleErrors(); len(errs) > 0 {
			t.Errorf("%s's console: %q", name, errs)
		}
	}
}

// forger is a changed page: of the messages that it passes on it changes the first two in every way, and reverses all.
const forger = `window.lied = 0; (real => window.fetch = (at, init) => {
	if (String(at).endsWith('/session/history/messages')) {
		const body = JSON.parse(init.body), [first, second] = body.messages;
		window.lied += body.messages.length;
		body.messages = [
			{...first, text: 'forged words'}, {...first, from: body.for}, {...first, id: 'forged', text: 'forged words'},
			{...second, name: 'forged name'}, {...second, at: new Date(0).toISOString()}, {...second, stamp: first.stamp},
			{id: 'x', from: first.from, name: first.name, text: 'forged words', at: new Date().toISOString(), stamp: ''},
			...body.messages.slice(2),
		].reverse();
		init = {...init, body: JSON.stringify(body)};
	}
	return real(at, init);
})(window.fetch)`

func (w *world) refusesForgedChat(t *testing.T) {
	a, d := w.a.on(t), small
	d.Script = forger
	mallory := a.join(d, map[string]any{"room": "lies", "name": "Mallory"})
	openPanel(t, mallory, "chat")
	dora, entered := a.enter(map[string]any{"room": "lies", "name": "Dora"})
	defer dora.Close()
	for _, text := range []string{"one", "two", "three", "four"} {
		if got := a.withSession(entered, "session/chat", map[string]any{"text": text}); got != http.StatusNoContent {
			t.Fatalf("answered %d", got)
		}
	}
	mallory.WaitFor(t, chatReads("one", "two", "three", "four"))
	carol := a.join(small, map[string]any{"room": "lies", "name": "Carol"})
	openPanel(t, carol, "chat")
	carol.WaitFor(t, chatReads("three", "four", "-"))
	if lied := testkit.Eval[int](t, mallory, `window.lied`); lied < 4 {
		t.Errorf("Mallory passed %d messages on", lied)
	}
	if is(t, carol, `document.body.innerText.includes('forged')`) {
		t.Error("Carol reads what nobody wrote")
	}
}

func (w *world) showsNoEarlierChat(t *testing.T) {
	b := w.b.on(t)
	ada := b.join(small, map[string]any{"room": "hidden", "name": "Ada"})
	openPanel(t, ada, "chat")
	writesChat(t, ada, "before")
	late := b.join(small, map[string]any{"room": "hidden", "name": "Late"})
	openPanel(t, late, "chat")
	late.WaitForText(t, "You see messages from when you joined.")
	writesChat(t, ada, "now")
	late.WaitFor(t, chatReads("now"))
	for _, asked := range late.Requests() {
		if strings.Contains(asked, "/session/history") {
			t.Errorf("the page asked %s", asked)
		}
	}
}
