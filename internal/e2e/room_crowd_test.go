// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// crowdNames are of every length and script that a tile has to bear.
var crowdNames = []string{
	"Bo", "Maximiliane Wolfeschlegelsteinhausenbergerdorff-Montgomery", "ليلى عبد الرحمن", "Αλίκη Παπαδοπούλου", "Zoë 👩🏽‍🚀 Núñez",
	"Priya Nair", "Ivan Petrov", "O'Neill, Siân", "Đặng Thị Minh", "Omar Haddad", "Paulo Costa",
}

// hears keeps everything that a page has had read out, from now on.
const hears = `(window.heard = [], new MutationObserver(() => document.querySelectorAll('[role=status], [role=alert]').forEach(region => {
	const text = region.innerText.trim();
	if (text && !heard.includes(text)) heard.push(text);
})).observe(document.body, {subtree: true, childList: true, characterData: true}), true)`

// crowd is a meeting of twelve that nears its end, with everything that pops up over it.
func (w *tour) crowd(t *testing.T) {
	const room = "All hands"
	link := w.a.link(map[string]any{"room": room, "name": "Ana Ruiz", "audio": true, "video": true, "screen": true, "duration": "00:04:00"})
	ana := testkit.Browser(t).OpenOn(t, desk, link)
	defer ana.Close()
	ana.WaitFor(t, inRoom)
	ana.WaitFor(t, `document.querySelector('[role=status] [data-testid=notice]')?.innerText.includes('This meeting ends in 4 minutes.')`)
	w.at(t, ana, desk, "room screen offer", shows("screen-offer"))
	testkit.Eval[bool](t, ana, `(document.querySelector('.banner .button.quiet').click(), true)`)
	face := picture(t)
	for i, name := range crowdNames {
		w.a.enter(map[string]any{"room": room, "name": name, "avatar": map[bool]string{true: face}[i == 5], "notify": i == len(crowdNames)-1})
	}
	ana.WaitFor(t, fmt.Sprintf(`document.querySelectorAll('[data-testid=tile]').length === %d && (%s) === ''`, len(crowdNames)+1, inView))
	w.at(t, ana, desk, "crowd notice", shows("notice"))
	dismissNotices(t, ana)
	w.at(t, ana, desk, "crowd", anyTile)
	w.endIsNear(t, ana)

	openPanel(t, ana, "chat")
	for _, text := range []string{strings.Repeat("verylongword", 40), "שלום! see https://example.com/a(b)?c=d, please", "one\ntwo\n\nthree"} {
		status := callChat(t, w.a.on(t), room, text)
		if status != http.StatusNoContent {
			t.Fatalf("chat answered %d", status)
		}
	}
	ana.WaitFor(t, `(rows => rows.length === 3 && getComputedStyle(rows[1].querySelector('.chat-text')).direction === 'rtl')(document.querySelectorAll('[data-testid=chat-message]'))`)
	w.at(t, ana, desk, "crowd chat", `(log => log.scrollWidth <= log.clientWidth)(document.querySelector('.chat-log'))`)
	ana.Use(t, phone)
	w.at(t, ana, phone, "crowd phone chat", `(log => log.scrollWidth <= log.clientWidth)(document.querySelector('.chat-log'))`)
	ana.Press(t, "\x1b")
	w.at(t, ana, phone, "crowd phone", hasNo("chat")+` && document.documentElement.scrollWidth <= innerWidth`)
	openPanel(t, ana, "participants")
	w.at(t, ana, phone, "crowd phone people", fmt.Sprintf(`document.querySelectorAll('[data-testid=participant-row]').length === %d`, len(crowdNames)+1))
	ana.Press(t, "\x1b")
	ana.Use(t, desk)

	ana.Offline(t, true)
	w.at(t, ana, desk, "room reconnecting", shows("reconnecting"))
	ana.Offline(t, false)
	ana.WaitFor(t, inRoom+"&&"+hasNo("reconnecting"))

	hidden := w.a.join(desk, map[string]any{"room": room, "name": "Quality team", "hide": true})
	defer hidden.Close()
	w.at(t, hidden, desk, "room watching", shows("watching")+`&& document.querySelectorAll('[data-testid=tile]').length > 10`)
}

// callChat says something as a participant who has just come, and goes again.
func callChat(t *testing.T, a account, room, text string) int {
	t.Helper()
	speaker, e := a.enter(map[string]any{"room": room, "name": "Speaker"})
	defer speaker.Close()
	return a.withSession(e, "session/chat", map[string]any{"text": text})
}

// endIsNear: the countdown stands out in the last minutes, and is not read out again.
func (w *tour) endIsNear(t *testing.T, p *testkit.Page) {
	p.WaitFor(t, `document.querySelector('.countdown.soon')`)
	testkit.Eval[bool](t, p, hears)
	before := textOf(t, p, "countdown")
	p.WaitFor(t, fmt.Sprintf(`document.querySelector('[data-testid=countdown]').innerText < %q.slice(0, 3) && %s`, before, shows("countdown")))
	if heard := testkit.Eval[string](t, p, `heard.filter(text => text.includes('ends in')).join()`); heard != "" {
		t.Errorf("the countdown was read out again: %s", heard)
	}
}

// telephone looks at what comes before a meeting and after it on a small screen.
func (w *tour) telephone(t *testing.T) {
	p := testkit.Browser(t).OpenOn(t, phone, w.a.baseURL+"/")
	defer p.Close()
	const fits = " && " + fitsWidth
	w.at(t, p, phone, "phone home", shows("home")+fits)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "pocket"})
	p.Goto(t, w.a.roomURL("pocket"))
	const previews = ` && document.querySelector('.preview video').videoWidth > 0`
	w.at(t, p, phone, "phone prejoin", shows("prejoin")+previews+fits)
	p.Use(t, phoneOnItsSide)
	w.at(t, p, phoneOnItsSide, "phone prejoin landscape", shows("prejoin")+fits+
		` && document.querySelector('[data-testid=join-button]').getBoundingClientRect().bottom <= innerHeight`)
	p.Use(t, phone)
	p.Goto(t, w.a.roomURL("nowhere")+"?name=Ana")
	p.Click(t, by("join-button"))
	w.at(t, p, phone, "phone error", errorScreen("NotFound")+fits)
	p.Goto(t, w.a.link(map[string]any{"room": "pocket", "name": "فاطمة", "video": true})+"&lang=ar")
	p.WaitFor(t, inRoom+` && document.dir === 'rtl'`)
	w.at(t, p, phone, "phone arabic", anyTile+fits)
}
