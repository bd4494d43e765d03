// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"convene.dev/convene/internal/testkit"
)

// press gives an element the focus and presses Enter on it.
func press(t *testing.T, p *testkit.Page, selector string) {
	t.Helper()
	p.WaitFor(t, `(e => e && (e.focus(), document.activeElement === e))(document.querySelector(`+quote(selector)+`))`)
	p.Press(t, kb.Enter)
}

const focusIn = `document.activeElement.closest`

// TestTheKeyboardKeepsItsPlace: what goes away when it is pressed leaves the focus near, not at the top of the page; and a
// tile that becomes large is the same tile, whose video goes on.
func TestTheKeyboardKeepsItsPlace(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	const room = "keys"
	chair := w.a.join(small, map[string]any{"room": room, "name": "Chair", "token": w.a.presenterToken("chair")})
	guests := map[string]*testkit.Page{}
	for _, name := range []string{"Ann", "Bob"} {
		guests[name] = w.a.join(small, map[string]any{"room": room, "name": name, "audio": true, "video": name == "Ann"})
		chair.WaitFor(t, seenWith(name, "[data-muted=false]"))
	}
	chair.WaitFor(t, seesVideoOf("Ann"))

	// Pin and unpin.
	testkit.Eval[bool](t, chair, `(window.before = (`+tileOf("Ann")+`).querySelector('video'), true)`)
	pin := `[data-testid=tile][data-name=Ann] [data-testid=pin]`
	for _, pinned := range []string{"true", "false"} {
		press(t, chair, pin)
		chair.WaitFor(t, `document.querySelector('`+pin+`').ariaPressed === '`+pinned+`' && (`+tileOf("Ann")+`).dataset.large === '`+pinned+`'`)
		if !is(t, chair, `document.activeElement === document.querySelector('`+pin+`')`) {
			t.Errorf("pinned %s: the focus is on %s", pinned, focused(t, chair))
		}
		if !is(t, chair, `window.before === (`+tileOf("Ann")+`).querySelector('video') && window.before.isConnected`) {
			t.Errorf("pinned %s: the video began again", pinned)
		}
	}

	// Lock the microphone, and let speak again: the menu gives the focus back to its button.
	openPanel(t, chair, "participants")
	row := rowOf("Ann")
	for _, act := range []string{"act-lock-microphone", "act-allow-to-speak"} {
		press(t, chair, row+` [data-testid=act-menu]`)
		chair.WaitFor(t, shows(act))
		press(t, chair, by(act))
		chair.WaitFor(t, `document.activeElement.dataset.testid === 'act-menu' && `+focusIn+"(`"+row+"`)"+` &&
			!!document.querySelector('.locked') === `+fmt.Sprint(act == "act-lock-microphone"))
	}

	// Lower a hand: the row moves, and the focus with it.
	guests["Bob"].Click(t, by("hand-toggle"))
	chair.WaitFor(t, `document.querySelector(`+quote(rowOf("Bob")+" .raised")+`)`)
	press(t, chair, rowOf("Bob")+" "+by("act-menu"))
	press(t, chair, by("act-lower-hand"))
	chair.WaitFor(t, `!document.querySelector('.raised')`)
	if !is(t, chair, focusIn+`(`+quote(rowOf("Bob"))+`)`) {
		t.Errorf("a hand is lowered: the focus is on %s", focused(t, chair))
	}

	// Remove: the next row, and at last the panel.
	for _, name := range []string{"Ann", "Bob"} {
		press(t, chair, rowOf(name)+" "+by("act-menu"))
		press(t, chair, by("act-remove"))
		chair.WaitFor(t, shows("remove-confirm"))
		press(t, chair, by("remove-confirm"))
		chair.WaitFor(t, `!document.querySelector('[data-testid=participant-row][data-name=`+name+`]')`)
		if !is(t, chair, focusIn+`('[data-testid=participants]')`) {
			t.Errorf("%s is removed: the focus is on %s", name, focused(t, chair))
		}
	}

	// Dismiss a notice: where the focus was.
	press(t, chair, by("copy-link"))
	chair.WaitFor(t, shows("notice"))
	press(t, chair, `[data-testid=notice] .plain-icon`)
	chair.WaitFor(t, hasNo("notice"))
	if !is(t, chair, `document.activeElement.dataset.testid === 'copy-link'`) {
		t.Errorf("a notice is dismissed: the focus is on %s", focused(t, chair))
	}
}

func focused(t *testing.T, p *testkit.Page) string {
	t.Helper()
	return testkit.Eval[string](t, p, `document.activeElement.outerHTML.slice(0, 120)`)
}

// TestAPanelHidesNothingOnATelephone: with the chat open, what is said to the participant, a lost connection, the room's name
// and the time left are in sight.
func TestAPanelHidesNothingOnATelephone(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	chair := w.a.join(small, map[string]any{
		"room": "timed", "name": "Chair", "duration": "01:00:00", "token": w.a.presenterToken("chair"),
	})
	p := w.a.join(phone, map[string]any{"room": "timed", "name": "Ada", "audio": true})
	chair.WaitFor(t, seenWith("Ada", "[data-muted=false]"))
	openPanel(t, p, "chat")
	onTop := func(selector string) string {
		return `(e => e && (r => e.contains(document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2)))(e.getBoundingClientRect()))(document.querySelector(` + quote(selector) + `))`
	}
	p.WaitFor(t, onTop(by("countdown"))+" && "+onTop(".room-name"))
	openPanel(t, chair, "participants")
	actOn(t, chair, "Ada", "act-mute")
	p.WaitFor(t, onTop(by("notice"))+" && "+onTop(by("chat-input")))
	p.Offline(t, true)
	p.WaitFor(t, onTop(by("reconnecting")))
	p.Offline(t, false)
	p.WaitFor(t, inRoom)
}
