// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// sends is true of a page whose participant sends exactly these.
func sends(mic, camera bool) string {
	return fmt.Sprintf(`document.querySelector('[data-testid=mic-toggle]')?.ariaPressed === '%t' &&
		document.querySelector('[data-testid=camera-toggle]').ariaPressed === '%t'`, mic, camera)
}

// TestAReturnSwitchesNothingOn: a link may say that microphone and camera are on. After the participant has switched one
// off, neither a reload nor a return switches it on.
func TestAReturnSwitchesNothingOn(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	t.Run("by a join link", func(t *testing.T) {
		p := w.a.on(t).join(small, map[string]any{"room": "direct", "name": "Ada", "audio": true, "video": true})
		defer p.Close()
		p.WaitFor(t, sends(true, true))
		p.Reload(t)
		p.WaitFor(t, inRoom+" && "+sends(true, true))
		for _, toggle := range []string{"mic-toggle", "camera-toggle"} {
			p.Click(t, by(toggle))
		}
		p.WaitFor(t, sends(false, false))
		p.Reload(t)
		staysOff(t, p)
		p.Click(t, by("leave-button"))
		p.Click(t, by("rejoin-button"))
		staysOff(t, p)
		p.Click(t, by("camera-toggle"))
		p.WaitFor(t, sends(false, true))
		p.Reload(t)
		p.WaitFor(t, inRoom+" && "+sends(false, true))
	})
	t.Run("as a guest", func(t *testing.T) {
		a := w.a.on(t)
		a.link(map[string]any{"room": "guests", "name": "Sam"})
		p := testkit.Browser(t).OpenOn(t, small, a.roomURL("guests")+"?name=Bob&audio=1&video=1")
		defer p.Close()
		p.Click(t, by("join-button"))
		p.WaitFor(t, inRoom+" && "+sends(true, true))
		p.Click(t, by("mic-toggle"))
		p.WaitFor(t, sends(false, true))
		p.Reload(t)
		p.WaitFor(t, `document.querySelector('[data-testid=prejoin-mic]')?.ariaPressed === 'false' &&
			document.querySelector('[data-testid=prejoin-camera]').ariaPressed === 'true'`)
		p.Click(t, by("join-button"))
		p.WaitFor(t, inRoom+" && "+sends(false, true))
		// What a guest chose is where the next meeting begins.
		p.Goto(t, a.roomURL("guests"))
		p.WaitFor(t, `document.querySelector('[data-testid=prejoin-mic]')?.ariaPressed === 'false'`)
	})
}

// TestAMuteLasts: what a presenter switched off stays off until the participant switches it on: over a reload, for who leaves and
// comes back, and where the connection was broken when the presenter did it.
func TestAMuteLasts(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	s := w.a.on(t).stage("lasting")
	const told = `[...document.querySelectorAll('[data-testid=notice]')].some(n => n.innerText.includes('A presenter switched your microphone off'))`
	openPanel(t, s.chair, "participants")
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=false]"))

	s.guest.Offline(t, true)
	s.guest.WaitFor(t, shows("reconnecting"))
	actOn(t, s.chair, "Guest", "act-mute")
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=true]"))
	s.guest.Offline(t, false)
	s.guest.WaitFor(t, inRoom+" && "+hasNo("reconnecting")+" && "+told+" && "+sends(false, false))
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=true]"))
	s.guest.Reload(t)
	s.guest.WaitFor(t, inRoom+" && "+sends(false, false))
	s.guest.Click(t, by("mic-toggle"))
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=false]"))

	dismissNotices(t, s.guest)
	muteAll(t, s.chair, true)
	s.guest.WaitFor(t, told)
	s.guest.Reload(t)
	s.guest.WaitFor(t, inRoom+" && "+sends(false, false))
	s.guest.Click(t, by("leave-button"))
	s.guest.Click(t, by("rejoin-button"))
	s.guest.WaitFor(t, inRoom+" && "+sends(false, false))
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=true]"))
}

// staysOff waits until the page is in, and until it would have sent what it captured.
func staysOff(t *testing.T, p *testkit.Page) {
	t.Helper()
	p.WaitFor(t, inRoom+" && "+sends(false, false))
	p.Click(t, by("hand-toggle")) // It goes to the gateway and comes back: time in which a device would be on.
	p.WaitFor(t, `document.querySelector('[data-testid=hand-toggle]').ariaPressed === 'true'`)
	if !is(t, p, sends(false, false)) {
		t.Error("a device is on that the participant had switched off")
	}
	p.Click(t, by("hand-toggle"))
	p.WaitFor(t, `document.querySelector('[data-testid=hand-toggle]').ariaPressed === 'false'`)
}

// mutedByPresenter is true while the list of people says of the guest that a presenter muted them.
const mutedByPresenter = `document.querySelector('[data-testid=participant-row][data-name=Guest] .locked')`

// TestAMuteCanBeUndone: a presenter's mute holds over a reload, tells why and what helps, and ends when a presenter lets the
// participant speak, which holds over a reload, too.
func TestAMuteCanBeUndone(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	s := w.a.on(t).stage("class")
	const locked = `document.querySelector('[data-testid=mic-toggle][aria-disabled=true] [data-testid=mic-locked]')`
	const explained = `[...document.querySelectorAll('[data-testid=notice]')].some(n => n.innerText.includes('Raise your hand to ask'))`
	openPanel(t, s.chair, "participants")

	// One who is muted by themselves is not one whom a presenter muted.
	s.guest.Click(t, by("mic-toggle"))
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=true]"))
	offers(t, s.chair, "Guest", `document.querySelector('[data-testid=act-mute][aria-disabled=true]') && `+hasNo("act-allow-to-speak"))
	s.guest.Click(t, by("mic-toggle"))
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=false]"))

	actOn(t, s.chair, "Guest", "act-lock-microphone")
	s.guest.WaitFor(t, locked)
	s.chair.WaitFor(t, mutedByPresenter)
	s.guest.Reload(t)
	s.guest.WaitFor(t, inRoom+" && "+locked)
	s.chair.WaitFor(t, mutedByPresenter)

	dismissNotices(t, s.guest)
	s.guest.Click(t, by("mic-toggle"))
	s.guest.WaitFor(t, explained)
	dismissNotices(t, s.guest)
	s.guest.Press(t, "m")
	s.guest.WaitFor(t, explained)
	s.guest.Click(t, by("notice-offer"))
	s.chair.WaitFor(t, seenWith("Guest", ":has(.tile-hand)"))

	actOn(t, s.chair, "Guest", "act-allow-to-speak")
	s.guest.WaitForText(t, "You may speak again")
	s.guest.WaitFor(t, "!"+locked+" && "+`document.querySelector('[data-testid=mic-toggle]').ariaPressed === 'false'`)
	s.chair.WaitFor(t, "!"+mutedByPresenter)
	s.guest.Click(t, by("mic-toggle"))
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=false]"))
	s.guest.Reload(t)
	s.guest.WaitFor(t, inRoom)
	s.chair.WaitFor(t, seenWith("Guest", "[data-muted=false]")+" && !"+mutedByPresenter)
}
