// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"convene.dev/convene/internal/testkit"
)

// TestWhatParticipantsExpect: what one participant does for themselves, and shows the others without words.
func TestWhatParticipantsExpect(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	for name, look := range map[string]func(*testing.T, *stage){
		"push to talk":           pushesToTalk,
		"reactions":              reacts,
		"order of hands":         handsInOrder,
		"volume":                 turnsDown,
		"saved data":             savesData,
		"picture in picture":     floats,
		"a picture alone on top": floatsAPicture,
	} {
		t.Run(name, func(t *testing.T) { look(t, w.a.on(t).stage(name)) })
	}
}

func pushesToTalk(t *testing.T, s *stage) {
	silent := seenWith("Guest", "[data-muted=true]")
	s.guest.Click(t, by("mic-toggle"))
	s.chair.WaitFor(t, silent)
	// The button that the pointer pressed has the focus, and is not pressed again.
	release := s.guest.HoldSpace(t)
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=false]"))
	s.guest.WaitFor(t, sends(true, false))
	release()
	s.chair.WaitFor(t, silent)
	s.guest.WaitFor(t, sends(false, false))

	// In a text it is a blank.
	openPanel(t, s.guest, "chat")
	s.guest.Type(t, by("chat-input"), "a b")
	s.guest.WaitFor(t, `document.activeElement.value === 'a b' && `+sends(false, false))
	s.guest.Press(t, kb.Escape)
	s.guest.WaitFor(t, hasNo("chat"))
	// Who came to a button by the keyboard presses it.
	testkit.Eval[bool](t, s.guest, `(document.querySelector('[data-testid=hand-toggle]').focus(), true)`)
	s.guest.Press(t, kb.ArrowRight)
	s.guest.Press(t, kb.ArrowLeft)
	s.guest.Press(t, " ")
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=true]:has(.tile-hand)"))
	// A presenter's mute holds.
	openPanel(t, s.chair, "participants")
	muteAll(t, s.chair, false)
	s.guest.WaitFor(t, micLocked)
	testkit.Eval[bool](t, s.guest, `(document.querySelector('h1').focus(), true)`)
	defer s.guest.HoldSpace(t)()
	s.guest.WaitForText(t, "Only presenters may use the microphone now.")
	s.chair.WaitFor(t, silent)
}

// reaction is true while a page shows one over a participant.
func reaction(name, which string) string {
	return seenWith(name, fmt.Sprintf(":has([data-testid=reaction][data-reaction=%s])", which))
}

func reacts(t *testing.T, s *stage) {
	s.guest.Click(t, by("react-menu"))
	s.guest.WaitFor(t, `document.activeElement.dataset.testid === 'react-like'`)
	s.guest.Press(t, kb.ArrowRight+kb.ArrowRight+kb.Enter)
	s.chair.WaitFor(t, reaction("Guest", "love")+` && document.querySelector('[data-testid=announcements]').innerText.includes('Guest: Heart')`)
	s.guest.WaitFor(t, reaction("Guest", "love")+` && document.activeElement.dataset.testid === 'react-menu'`)
	s.chair.WaitFor(t, `!`+reaction("Guest", "love"))

	// On a telephone they are in the menu.
	s.guest.Use(t, phone)
	s.guest.WaitFor(t, hasNo("react-menu"))
	s.guest.Click(t, by("more-menu"))
	s.guest.WaitFor(t, menuInView)
	checkAccess(t, s.guest, phone)
	takeScreenshots(t, s.guest, phone, "room phone reactions")
	s.guest.Click(t, by("react-applause"))
	s.chair.WaitFor(t, reaction("Guest", "applause"))
	takeScreenshots(t, s.chair, small, "room reaction")
	s.guest.Use(t, small)

	// Who listens to a screen reader chooses what it says.
	choose(t, s.chair, "spoken-button")
	s.chair.WaitFor(t, shows("spoken"))
	checkAccess(t, s.chair, small)
	takeScreenshots(t, s.chair, small, "room spoken")
	s.chair.Click(t, by("spoken-reactions"))
	s.chair.Press(t, kb.Escape)
	s.guest.Click(t, by("react-menu"))
	s.guest.Click(t, by("react-laugh"))
	s.chair.WaitFor(t, reaction("Guest", "laugh"))
	if is(t, s.chair, `document.querySelector('[data-testid=announcements]').innerText.includes('Laughter')`) {
		t.Error("a reaction is spoken to one who does not want it")
	}

	// A participant who may not write may not react.
	openPanel(t, s.chair, "participants")
	rule(t, s.chair, "chat", false)
	s.guest.WaitFor(t, hasNo("react-menu"))
	s.chair.Click(t, by("react-menu"))
	s.chair.Click(t, by("react-like"))
	s.guest.WaitFor(t, reaction("Chair", "like"))
	watch, e := s.enter(map[string]any{"room": s.room, "name": "Watch"})
	if got := s.withSession(e, "session/reaction", map[string]any{"reaction": "like"}); got != http.StatusForbidden {
		t.Errorf("a reaction against the rules answered %d", got)
	}
	watch.Close()
}

func handsInOrder(t *testing.T, s *stage) {
	third := s.join(small, map[string]any{"room": s.room, "name": "Third"})
	defer third.Close()
	openPanel(t, s.chair, "participants")
	s.chair.WaitFor(t, fmt.Sprintf(`document.querySelector(%q)`, rowOf("Third")))
	// The one who came last asks first.
	third.Click(t, by("hand-toggle"))
	s.chair.WaitFor(t, seenWith("Third", ":has(.tile-hand)"))
	if is(t, s.chair, `document.querySelector('[data-place]')`) {
		t.Error("one hand alone has a number")
	}
	s.guest.Click(t, by("hand-toggle"))
	const order = `[...document.querySelectorAll('[data-testid=participant-row]')].map(row =>
		row.dataset.name + (row.querySelector('[data-place]')?.dataset.place ?? '')).join()`
	s.chair.WaitFor(t, order+` === 'Third1,Guest2,Chair'`)
	s.chair.Click(t, by("participants")+" h2") // The button's tip goes.
	checkAccess(t, s.chair, small)
	takeScreenshots(t, s.chair, small, "room hands")
	// One who comes later sees the same order.
	late := s.join(small, map[string]any{"room": s.room, "name": "Late"})
	defer late.Close()
	openPanel(t, late, "participants")
	late.WaitFor(t, order+`.startsWith('Third1,Guest2,')`)
	// Who raised it again asks last.
	third.Click(t, by("hand-toggle"))
	late.WaitFor(t, order+`.startsWith('Guest,')`)
	third.Click(t, by("hand-toggle"))
	late.WaitFor(t, order+`.startsWith('Guest1,Third2,')`)
}

func turnsDown(t *testing.T, s *stage) {
	openPanel(t, s.guest, "participants")
	s.chair.Click(t, by("mic-toggle"))
	const loudness = `[...document.querySelectorAll('audio')].map(a => a.volume).join()`
	s.guest.WaitFor(t, loudness+` === '1'`)
	s.guest.Click(t, rowOf("Chair")+" "+by("person-menu"))
	if is(t, s.guest, shows("act-mute")+"||"+shows("act-remove")+"||"+shows("act-promote")) {
		t.Error("a guest is offered what presenters do")
	}
	s.guest.Click(t, by("act-volume"))
	s.guest.WaitFor(t, `document.activeElement.dataset.testid === 'volume-range'`)
	checkAccess(t, s.guest, small)
	takeScreenshots(t, s.guest, small, "room volume")
	s.guest.Press(t, kb.Home)
	s.guest.WaitFor(t, loudness+` === '0'`)
	s.guest.Press(t, kb.ArrowRight)
	s.guest.WaitFor(t, loudness+` === '0.05' && document.activeElement.ariaValueText === '5 %'`)
	s.guest.Press(t, kb.Escape)
	s.guest.WaitFor(t, hasNo("volume"))
	// It stays for a sound that begins again.
	s.chair.Offline(t, true)
	s.chair.WaitFor(t, shows("reconnecting"))
	s.chair.Offline(t, false)
	s.chair.WaitFor(t, inRoom)
	s.guest.WaitFor(t, loudness+` === '0.05'`)
}

// chooses opens the choice of pictures, and takes one.
func chooses(t *testing.T, p *testkit.Page, choice string) {
	t.Helper()
	choose(t, p, "pictures-button")
	p.Click(t, by("pictures-"+choice))
	p.Press(t, kb.Escape)
	p.WaitFor(t, hasNo("pictures"))
}

func savesData(t *testing.T, s *stage) {
	s.chair.Click(t, by("camera-toggle"))
	s.guest.WaitFor(t, seesVideoOf("Chair"))
	choose(t, s.guest, "pictures-button")
	s.guest.WaitFor(t, shows("pictures"))
	checkAccess(t, s.guest, small)
	takeScreenshots(t, s.guest, small, "room pictures")
	s.guest.Press(t, kb.Escape)
	chooses(t, s.guest, "none")
	s.guest.WaitFor(t, `!(`+tileOf("Chair")+`).querySelector('video') && `+shows("sound-only"))
	// This browser remembers it, and others who come are not seen either.
	s.guest.Reload(t)
	s.guest.WaitFor(t, inRoom+" && "+shows("sound-only"))
	third := s.join(small, map[string]any{"room": s.room, "name": "Third", "video": true})
	defer third.Close()
	s.chair.WaitFor(t, seesVideoOf("Third"))
	// The media server sends it until the page has said that it wants none.
	s.guest.WaitFor(t, tileOf("Third")+` && !document.querySelector('[data-testid=tile][data-local=false] video')`)
	chooses(t, s.guest, "less")
	s.guest.WaitFor(t, seesVideoOf("Chair")+" && "+seesVideoOf("Third")+" && "+hasNo("sound-only"))
	chooses(t, s.guest, "all")
}

// inFrames makes a browser refuse a window over other programs, as it does in the frame of another page.
const inFrames = `documentPictureInPicture.requestWindow = () => Promise.reject(new DOMException('only at the top', 'NotAllowedError'));`

func floatsAPicture(t *testing.T, s *stage) {
	framed := small
	framed.Script = inFrames
	p := s.join(framed, map[string]any{"room": s.room, "name": "Framed", "video": true})
	p.WaitFor(t, seesVideoOf("Framed"))
	choose(t, p, "pip")
	p.WaitForText(t, "Picture in picture has nothing to show")
	takeScreenshots(t, p, small, "room pip nothing")

	const floating = `document.pictureInPictureElement?.closest('li')`
	s.chair.Click(t, by("camera-toggle"))
	p.WaitFor(t, seesVideoOf("Chair"))
	choose(t, p, "pip")
	p.WaitFor(t, floating+`?.dataset.name === 'Chair'`)
	choose(t, p, "pip")
	p.WaitFor(t, `!document.pictureInPictureElement`)
	s.guest.Click(t, by("screen-toggle"))
	p.WaitFor(t, shows("screen-tile")+` && document.querySelector('.screen video')?.readyState > 1`)
	choose(t, p, "pip")
	p.WaitFor(t, floating+`?.dataset.testid === 'screen-tile'`)
}

func floats(t *testing.T, s *stage) {
	s.chair.Click(t, by("camera-toggle"))
	s.guest.WaitFor(t, seesVideoOf("Chair"))
	choose(t, s.guest, "pip")
	const inside = `window.documentPictureInPicture?.window?.document.querySelector('[data-testid=pip-window]`
	s.guest.WaitFor(t, `(v => v && v.videoWidth > 0 && v.currentTime > 0)(`+inside+` [data-name=Chair] video'))`)
	s.guest.WaitFor(t, `getComputedStyle(`+inside+`')).display === 'grid'`)
	testkit.Eval[bool](t, s.guest, `(`+inside+` [data-testid=pip-mic]').click(), true)`)
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=true]"))
	s.guest.WaitFor(t, sends(false, false))
	choose(t, s.guest, "pip")
	s.guest.WaitFor(t, `!window.documentPictureInPicture.window`)
	choose(t, s.guest, "pip")
	s.guest.WaitFor(t, inside+`')`)
	testkit.Eval[bool](t, s.guest, `(`+inside+` [data-testid=pip-leave]').click(), true)`)
	s.guest.WaitFor(t, shows("left")+` && !window.documentPictureInPicture.window`)
}
