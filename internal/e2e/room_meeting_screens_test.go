// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"testing"

	"convene.dev/convene/internal/testkit"
)

func (w *tour) meeting(t *testing.T) {
	const room = "Spring planning"
	token := w.a.presenterToken("ada")
	ada := w.a.join(desk, map[string]any{"room": room, "name": "Ana Ruiz", "audio": true, "video": true, "token": token, "duration": "01:00:00"})
	w.at(t, ada, desk, "room alone", shows("alone"))

	others := []string{"Yuki Sato", "Jonas Weber", "عمر حداد"}
	pages := map[string]*testkit.Page{}
	for i, name := range others {
		pages[name] = w.a.join(desk, map[string]any{"room": room, "name": name, "audio": true, "video": i != 1, "notify": i == 0})
	}
	w.a.enter(map[string]any{"room": room, "name": "Quality team", "hide": true})
	for _, name := range []string{others[0], others[2]} {
		ada.WaitFor(t, seesVideoOf(name))
	}
	ada.WaitFor(t, shows("hidden-mark"))
	dismissNotices(t, ada)
	w.at(t, ada, desk, "room grid", anyTile)

	grace := pages[others[0]]
	for _, line := range []struct {
		from *testkit.Page
		text string
	}{
		{grace, "Good morning! The numbers are at https://example.com/numbers (and the plan, too)."},
		{pages[others[2]], "صباح الخير، وصلتني الأرقام"},
		{ada, "Thanks! Let us begin."},
	} {
		if !is(t, line.from, shows("chat")) {
			line.from.Click(t, by("chat-toggle"))
		}
		line.from.Type(t, by("chat-input"), line.text)
		line.from.Click(t, by("chat-send"))
		line.from.WaitFor(t, fmt.Sprintf("document.body.innerText.includes(%s)", quote(line.text)))
	}
	w.at(t, ada, desk, "room chat", `document.querySelectorAll('[data-testid=chat-message]').length >= 1`)

	grace.Press(t, "\x1b")
	grace.Click(t, by("hand-toggle"))
	ada.WaitFor(t, seenWith(others[0], ":has(.tile-hand)"))
	ada.Click(t, by("participants-toggle"))
	dismissNotices(t, ada)
	w.at(t, ada, desk, "room people", shows("hidden-row")+`&& document.querySelector('.participant .raised')`)
	openRow(t, ada, rowOf(others[0]))
	w.at(t, ada, desk, "room people menu", shows("act-lower-hand"))
	ada.Click(t, by("act-lock-microphone"))
	w.at(t, ada, desk, "room muted by a presenter", `document.querySelector('.participant .locked')`)
	dismissNotices(t, grace)
	grace.Click(t, by("mic-toggle"))
	w.at(t, grace, desk, "room may not speak", shows("mic-locked")+"&&"+shows("notice"))
	actOn(t, ada, others[0], "act-remove")
	w.at(t, ada, desk, "room remove", shows("remove-dialog"))
	ada.Press(t, "\x1b")
	ada.WaitFor(t, hasNo("remove-dialog"))
	ada.Click(t, by("participants-toggle"))

	for _, dialog := range []struct{ open, shows string }{
		{"devices-button", "devices"}, {"shortcuts-button", "shortcuts"},
	} {
		ada.Click(t, by("more-menu"))
		if dialog.shows == "devices" {
			w.at(t, ada, desk, "room menu", `document.querySelector('[role=menu]')`)
		}
		ada.Click(t, by(dialog.open))
		w.at(t, ada, desk, "room "+dialog.shows, shows(dialog.shows))
		ada.Press(t, "\x1b")
		ada.WaitFor(t, hasNo(dialog.shows))
	}
	for _, menu := range []string{"mic-menu", "camera-menu"} {
		ada.Click(t, by(menu))
		w.at(t, ada, desk, "room "+menu, shows(menu+"-window"))
		ada.Press(t, "\x1b")
		ada.WaitFor(t, hasNo(menu+"-window"))
	}
	ada.Click(t, by("leave-menu"))
	w.at(t, ada, desk, "room leave", shows("end-for-all"))
	ada.Click(t, by("end-for-all"))
	w.at(t, ada, desk, "room end", shows("end-dialog"))
	ada.Press(t, "\x1b")
	ada.WaitFor(t, hasNo("end-dialog"))

	ada.Press(t, "g")
	// The participant who speaks last may have no camera.
	w.at(t, ada, desk, "room speaker", `document.querySelector('[data-testid=tile][data-large=true]') && `+anyTile)
	ada.Press(t, "g")
	grace.Click(t, by("screen-toggle"))
	w.at(t, ada, desk, "room screen", `document.querySelector('[data-testid=screen-tile] video')?.videoWidth > 0`)
	w.at(t, grace, desk, "room own screen", shows("own-screen")+`&& !document.querySelector('[data-large=true]')`)
	ada.Use(t, phone)
	w.at(t, ada, phone, "room phone screen", `document.querySelector('[data-testid=screen-tile] video')?.videoWidth > 0`)
	ada.Use(t, desk)

	grace.Click(t, by("screen-toggle"))
	ada.WaitFor(t, hasNo("screen-tile"))
	ada.Use(t, phone)
	w.at(t, ada, phone, "room phone", anyTile)
	ada.Click(t, by("more-menu"))
	w.at(t, ada, phone, "room phone menu", menuInView)
	ada.Press(t, "\x1b")
	ada.WaitFor(t, `!document.querySelector('[role=menu]')`)
	ada.Click(t, by("chat-toggle"))
	w.at(t, ada, phone, "room phone chat", shows("chat"))
	grace.Use(t, phone)
	openPanel(t, grace, "chat")
	dismissNotices(t, grace)
	grace.Press(t, "\x1b")
	grace.Click(t, by("mic-toggle"))
	openPanel(t, grace, "chat")
	w.at(t, grace, phone, "room phone chat notice", shows("chat")+"&&"+shows("notice"))
	grace.Press(t, "\x1b")
	grace.Press(t, "g")
	w.at(t, grace, phone, "room phone speaker", `document.querySelector('[data-large=true]')`)
	grace.Press(t, "g")
	ada.Use(t, phoneOnItsSide)
	w.at(t, ada, phoneOnItsSide, "room phone landscape", shows("chat"))
	for _, p := range append([]*testkit.Page{ada}, grace, pages[others[1]], pages[others[2]]) {
		p.Close()
	}
}

// menuInView is true while an open menu is wholly in sight.
const menuInView = `(r => r && r.left >= 0 && r.right <= innerWidth && r.top >= 0 && r.bottom <= innerHeight)(document.querySelector('[role=menu]')?.getBoundingClientRect())`
