// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"convene.dev/convene/internal/testkit"
)

// TestPresentersRule: what a presenter decides for everybody, the others' pages obey and show.
func TestPresentersRule(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	for name, look := range map[string]func(*testing.T, *stage){
		"mutes all":           mutesAll,
		"keeps to presenters": keepsToPresenters,
		"locks":               locks,
		"shares the role":     sharesTheRole,
		"announces":           announces,
	} {
		t.Run(name, func(t *testing.T) {
			s := w.a.on(t).stage(name)
			openPanel(t, s.chair, "participants")
			look(t, s)
		})
	}
}

// muteAll mutes all but presenters, who may unmute themselves or not.
func muteAll(t *testing.T, p *testkit.Page, mayUnmute bool) {
	t.Helper()
	p.Click(t, by("mute-all"))
	if !mayUnmute {
		p.Click(t, by("may-unmute"))
	}
	p.Click(t, by("mute-all-confirm"))
}

// rule switches a rule of the meeting, and waits until the switch says that it holds.
func rule(t *testing.T, p *testkit.Page, name string, everyone bool) {
	t.Helper()
	p.Click(t, by("rules-button"))
	p.WaitFor(t, shows("rules"))
	p.Click(t, by("rule-"+name))
	p.WaitFor(t, fmt.Sprintf(`document.querySelector('[data-testid=rule-%s]').checked === %t`, name, everyone))
	p.Press(t, kb.Escape)
	p.WaitFor(t, hasNo("rules"))
}

func mutesAll(t *testing.T, s *stage) {
	muteAll(t, s.chair, true)
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=true]"))
	s.guest.WaitFor(t, sends(false, false)+" && !"+micLocked)
	s.guest.Click(t, by("mic-toggle"))
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=false]"))

	muteAll(t, s.chair, false)
	s.guest.WaitFor(t, micLocked)
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=true]"))
	s.guest.Press(t, "m")
	s.guest.WaitForText(t, "Only presenters may use the microphone now.")
	rule(t, s.chair, "microphone", true)
	s.guest.WaitFor(t, "!"+micLocked)
	s.guest.Click(t, by("mic-toggle"))
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=false]"))
}

func keepsToPresenters(t *testing.T, s *stage) {
	s.guest.Click(t, by("camera-toggle"))
	s.chair.WaitFor(t, seesVideoOf("Guest"))
	rule(t, s.chair, "camera", false)
	s.chair.WaitFor(t, `!(`+tileOf("Guest")+`).querySelector('video')`)
	s.guest.WaitFor(t, shows("camera-locked")+" && "+sends(true, false))
	s.guest.Click(t, by("camera-toggle"))
	s.guest.WaitForText(t, "Only presenters may use the camera now.")

	rule(t, s.chair, "screen", false)
	s.guest.WaitFor(t, shows("screen-locked"))

	openPanel(t, s.guest, "chat")
	rule(t, s.chair, "chat", false)
	s.guest.WaitFor(t, shows("chat-locked")+" && "+hasNo("chat-input"))
	openPanel(t, s.chair, "chat")
	s.chair.Type(t, by("chat-input"), "only I")
	s.chair.Click(t, by("chat-send"))
	s.guest.WaitFor(t, `document.querySelector('[data-testid=chat-message]')?.innerText.includes('only I')`)

	openPanel(t, s.chair, "participants")
	for _, name := range []string{"camera", "screen", "chat"} {
		rule(t, s.chair, name, true)
	}
	s.guest.WaitFor(t, hasNo("camera-locked")+" && "+hasNo("screen-locked")+" && "+shows("chat-input"))
	s.guest.Press(t, kb.Escape)
	s.guest.Click(t, by("camera-toggle"))
	s.chair.WaitFor(t, seesVideoOf("Guest"))
}

func locks(t *testing.T, s *stage) {
	s.chair.Click(t, by("lock-toggle"))
	s.guest.WaitFor(t, shows("locked"))
	late := testkit.Browser(t).OpenOn(t, small, s.link(map[string]any{"room": s.room, "name": "Late"}))
	defer late.Close()
	late.WaitFor(t, errorScreen("Locked"))
	late.Click(t, by("wait-here"))
	late.WaitFor(t, shows("stop-waiting"))
	// Those who were in come back.
	s.guest.Offline(t, true)
	s.guest.WaitFor(t, shows("reconnecting"))
	s.guest.Offline(t, false)
	s.guest.WaitFor(t, inRoom)
	s.chair.WaitFor(t, `document.querySelector('[data-testid=lock-toggle]').ariaPressed === 'true'`)
	s.chair.Click(t, by("lock-toggle"))
	s.guest.WaitFor(t, hasNo("locked"))
	late.WaitFor(t, inRoom)
}

func sharesTheRole(t *testing.T, s *stage) {
	if is(t, s.guest, presents) {
		t.Fatal("the guest presents")
	}
	actOn(t, s.chair, "Guest", "act-promote")
	s.guest.WaitFor(t, presents+" && "+shows("leave-menu"))
	openPanel(t, s.guest, "participants")
	s.guest.WaitFor(t, shows("mute-all"))
	s.guest.Reload(t)
	s.guest.WaitFor(t, inRoom+" && "+presents)
	s.chair.WaitFor(t, `document.querySelector(`+quote(rowOf("Guest"))+`)?.innerText.includes('Presenter')`)
	// Who was promoted in the room has nothing against one who came as a presenter that outlasts the moment.
	openPanel(t, s.guest, "participants")
	offers(t, s.guest, "Chair", shows("act-mute")+" && "+shows("act-announce")+" && "+hasNo("act-remove")+" && "+hasNo("act-demote")+" && "+hasNo("act-lock-microphone"))
	actOn(t, s.chair, "Guest", "act-demote")
	s.guest.WaitFor(t, "!"+presents+" && "+shows("leave-button"))
	openPanel(t, s.guest, "participants")
	if is(t, s.guest, shows("mute-all")+"||"+shows("act-menu")) {
		t.Error("who presents no longer is offered what presenters do")
	}
}

func announces(t *testing.T, s *stage) {
	s.chair.Click(t, by("announce-button"))
	s.chair.Type(t, by("announce-text"), "Lunch is at noon")
	s.chair.Click(t, by("announce-send"))
	for _, p := range []*testkit.Page{s.chair, s.guest} {
		p.WaitFor(t, `document.querySelector('.lane [role=alert]')?.innerText.includes('Chair: Lunch is at noon')`)
	}
	openRow(t, s.chair, rowOf("Guest"))
	s.chair.Click(t, by("act-announce"))
	s.chair.Type(t, by("announce-text"), "You are next")
	s.chair.Click(t, by("announce-send"))
	s.guest.WaitForText(t, "Chair, to you: You are next")
}
