// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"convene.dev/convene/internal/testkit"
)

// TestTheWaitingRoom: a participant who has to wait sees and hears nobody, the presenters see and hear a knock, and let in or refuse.
func TestTheWaitingRoom(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	for name, look := range map[string]func(*testing.T, *stage){
		"asks, writes, comes in":        asksAndComesIn,
		"is refused":                    isRefused,
		"all, by keyboard":              admitsAllByKeyboard,
		"waits for a presenter":         waitsForAPresenter,
		"gives up, and the door opens":  givesUp,
		"a second window has the place": waitsTwice,
	} {
		t.Run(name, func(t *testing.T) { look(t, w.a.on(t).stage(name)) })
	}
}

// letsIn chooses in the page who comes in, and waits until that holds.
func letsIn(t *testing.T, p *testkit.Page, admission string) {
	t.Helper()
	openPanel(t, p, "participants")
	p.Click(t, by("rules-button"))
	p.WaitFor(t, shows("admission"))
	testkit.Eval[bool](t, p, fmt.Sprintf(`(select => {
		select.value = %q;
		return select.dispatchEvent(new Event('change', {bubbles: true}));
	})(document.querySelector('[data-testid=admission]'))`, admission))
	p.WaitFor(t, fmt.Sprintf(`document.querySelector('[data-testid=admission]').value === %q`, admission))
	p.Press(t, kb.Escape)
	p.WaitFor(t, hasNo("rules"))
}

// invites is a link for a guest.
func (s *stage) invites(name string) string {
	return s.link(map[string]any{"room": s.room, "name": name, "video": true})
}

// knocks opens a link whose holder has to wait.
func (s *stage) knocks(t *testing.T, name, why string) *testkit.Page {
	t.Helper()
	return s.knocksWith(t, s.invites(name), why)
}

func (s *stage) knocksWith(t *testing.T, link, why string) *testkit.Page {
	t.Helper()
	d := small
	d.Script = paintedCamera + ";" + keepSession
	p := testkit.Browser(t).OpenOn(t, d, link)
	t.Cleanup(p.Close)
	p.WaitFor(t, waits(why))
	return p
}

// waits is true of the page of a participant who waits.
func waits(why string) string {
	return fmt.Sprintf(`document.querySelector('[data-testid=waiting-screen][data-why=%s]')`, why)
}

// waitingRow is the row of one who waits, in the list of a presenter.
func waitingRow(name string) string {
	return `[data-testid=waiting-row][data-name=` + quote(name) + `]`
}

func sees(selector string) string { return `document.querySelector(` + quote(selector) + `)` }

// engineRoom is the media server's room that a page's token opens.
const engineRoom = `JSON.parse(atob(opened.engine.token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))).video.room`

func asksAndComesIn(t *testing.T, s *stage) {
	letsIn(t, s.chair, "Ask")
	s.guest.WaitFor(t, inRoom) // Participants who are in stay.
	testkit.Eval[bool](t, s.chair, hears)
	ann := s.knocks(t, "Ann", "Ask")
	s.chair.WaitFor(t, `heard.some(text => text.includes('Ann is waiting to come in.')) && `+sees(waitingRow("Ann")))
	ann.WaitFor(t, `document.querySelector('.preview video').videoWidth > 0 && document.activeElement.tagName === 'H1'`)
	if is(t, ann, `document.documentElement.outerHTML.includes('Chair') || document.documentElement.outerHTML.includes('Guest')`) {
		t.Error("who waits reads the names of others")
	}
	for path, body := range map[string]string{
		"session/chat": `{"text":"let me in"}`, "session/hand": `{"raised":true}`, "session/reaction": `{"reaction":"like"}`,
		"session/act": `{"action":"admitAll"}`,
	} {
		if got := callAs(t, ann, path, body); got/100 != 4 {
			t.Errorf("%s by one who waits answered %d", path, got)
		}
	}
	before := testkit.Eval[string](t, ann, engineRoom)
	ann.Type(t, by("waiting-message"), "Ann from ACME")
	checkAccess(t, ann, small)
	takeScreenshots(t, ann, small, "waiting")
	ann.Click(t, by("waiting-send"))
	ann.WaitFor(t, `document.querySelector('[data-testid=waiting-said]')?.innerText.includes('Ann from ACME')`)
	s.chair.WaitFor(t, sees(waitingRow("Ann"))+`?.innerText.includes('Ann from ACME')`)
	checkAccess(t, s.chair, small)
	takeScreenshots(t, s.chair, desk, "room waiting list")
	s.chair.Use(t, small)
	if is(t, s.guest, shows("waiting-list")+`|| document.documentElement.outerHTML.includes('Ann')`) {
		t.Error("a participant who does not present is told who waits")
	}

	// The camera that was switched off stays off, and a reload keeps place and message.
	ann.Click(t, by("prejoin-camera"))
	ann.WaitFor(t, `document.querySelector('[data-testid=prejoin-camera]').ariaPressed === 'false'`)
	ann.Reload(t)
	ann.WaitFor(t, waits("Ask")+` && document.querySelector('[data-testid=waiting-said]')?.innerText.includes('Ann from ACME')`)
	s.chair.WaitFor(t, `document.querySelectorAll('[data-testid=waiting-row]').length === 1 && `+sees(waitingRow("Ann")))
	testkit.Eventually(t, patience, func() error { // The list of the chair may be from before the reload.
		testkit.Eval[any](t, s.chair, sees(waitingRow("Ann")+" "+by("act-admit"))+`?.click()`)
		if !is(t, ann, inRoom) {
			return errors.New("Ann still waits")
		}
		return nil
	})
	ann.WaitFor(t, inRoom+" && "+sends(false, false)+" && "+tileOf("Chair"))
	if after := testkit.Eval[string](t, ann, engineRoom); after == before {
		t.Error("who waited had a token of the meeting")
	}
	s.chair.WaitFor(t, tileOf("Ann")+" && "+hasNo("waiting-list"))
	s.guest.WaitFor(t, tileOf("Ann"))
	// Participants who were let in come back by themselves.
	ann.Reload(t)
	ann.WaitFor(t, inRoom)
}

func isRefused(t *testing.T, s *stage) {
	letsIn(t, s.chair, "Ask")
	link := s.invites("Bob")
	bob := s.knocksWith(t, link, "Ask")
	s.chair.Click(t, waitingRow("Bob")+" "+by("act-refuse"))
	s.chair.WaitFor(t, shows("refuse-dialog"))
	checkAccess(t, s.chair, small)
	s.chair.Click(t, by("refuse-confirm"))
	bob.WaitFor(t, errorScreen("NotLetIn"))
	checkAccess(t, bob, small)
	takeScreenshots(t, bob, small, "error NotLetIn")
	s.chair.WaitFor(t, hasNo("waiting-list"))
	bob.Goto(t, link)
	bob.WaitFor(t, errorScreen("NotAllowed"))
}

func admitsAllByKeyboard(t *testing.T, s *stage) {
	letsIn(t, s.chair, "Ask")
	ann, bob := s.knocks(t, "Ann", "Ask"), s.knocks(t, "Bob", "Ask")
	s.chair.WaitFor(t, sees(waitingRow("Ann"))+" && "+sees(waitingRow("Bob")))
	testkit.Eval[bool](t, s.chair, `(document.querySelector('[data-testid=participants] h2').focus(), true)`)
	until := func(testID string) {
		t.Helper()
		for range 10 {
			if is(t, s.chair, fmt.Sprintf(`document.activeElement.dataset.testid === %q`, testID)) {
				return
			}
			s.chair.Press(t, kb.Tab)
		}
		t.Fatalf("the keyboard does not reach %s", testID)
	}
	// One of them first: the focus goes on in the list.
	until("act-admit")
	s.chair.Press(t, kb.Enter)
	s.chair.WaitFor(t, `document.querySelectorAll('[data-testid=waiting-row]').length === 1 && document.activeElement.closest('[data-testid=participants]')`)
	cid := s.knocks(t, "Cid", "Ask")
	s.chair.WaitFor(t, `document.querySelectorAll('[data-testid=waiting-row]').length === 2`)
	testkit.Eval[bool](t, s.chair, `(document.querySelector('[data-testid=participants] h2').focus(), true)`)
	until("admit-all")
	s.chair.Press(t, kb.Enter)
	for _, p := range []*testkit.Page{ann, bob, cid} {
		p.WaitFor(t, inRoom)
	}
	s.chair.WaitFor(t, hasNo("waiting-list")+` && document.activeElement !== document.body`)
}

func waitsForAPresenter(t *testing.T, s *stage) {
	letsIn(t, s.chair, "WithPresenter")
	at := s.chair.URL(t)
	// With a presenter in, everyone comes in at once.
	early := s.join(small, map[string]any{"room": s.room, "name": "Early"})
	defer early.Close()
	s.chair.Click(t, by("leave-menu"))
	s.chair.Click(t, by("leave-button"))
	s.chair.WaitFor(t, shows("left"))
	ann := s.knocks(t, "Ann", "WithPresenter")
	checkAccess(t, ann, small)
	takeScreenshots(t, ann, small, "waiting for a presenter")
	ann.Reload(t)
	ann.WaitFor(t, waits("WithPresenter"))
	s.chair.Click(t, by("rejoin-button"))
	s.chair.WaitFor(t, inRoom+" && "+presents)
	ann.WaitFor(t, inRoom+" && "+tileOf("Chair"))
	if s.chair.URL(t) != at {
		t.Error("the presenter is elsewhere")
	}
}

func givesUp(t *testing.T, s *stage) {
	letsIn(t, s.chair, "Ask")
	ann, bob := s.knocks(t, "Ann", "Ask"), s.knocks(t, "Bob", "Ask")
	s.chair.WaitFor(t, sees(waitingRow("Ann"))+" && "+sees(waitingRow("Bob")))
	ann.Click(t, by("stop-waiting"))
	ann.WaitFor(t, shows("left"))
	s.chair.WaitFor(t, "!"+sees(waitingRow("Ann")))
	letsIn(t, s.chair, "Open")
	bob.WaitFor(t, inRoom)
	ann.Click(t, by("rejoin-button"))
	ann.WaitFor(t, inRoom)
}

func waitsTwice(t *testing.T, s *stage) {
	letsIn(t, s.chair, "Ask")
	ann := s.knocks(t, "Ann", "Ask")
	// A tab that is opened by another begins with a copy of what that one keeps.
	openSecond(t, ann, ann.URL(t))
	ann.WaitFor(t, errorScreen("Elsewhere"))
	s.chair.WaitFor(t, `document.querySelectorAll('[data-testid=waiting-row]').length === 1`)
}
