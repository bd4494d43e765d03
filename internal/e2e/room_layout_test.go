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

// TestLayouts: what is needed is in sight, whatever the size of the window and of its letters.
func TestLayouts(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	for name, look := range map[string]func(account, *testing.T){
		"a speaker out of sight is brought in":   account.bringsIn,
		"a word does not take the stage":         account.wordBetween,
		"two in speaker view":                    account.speakerOfTwo,
		"the way in, enlarged":                   account.wayInEnlarged,
		"chat above the keyboard":                account.chatOverKeyboard,
		"alone without oneself":                  account.aloneUnseen,
		"the browser's own size of letters":      account.ownLetters,
		"a screen reaches a narrow window":       account.reflows,
		"the view is the same after a reload":    account.viewKept,
		"a contrast theme shows what is pressed": account.contrast,
	} {
		t.Run(name, func(t *testing.T) { look(w.a.on(t), t) })
	}
}

// inSight is true while a participant's tile is wholly within the stage that scrolls.
func inSight(name string) string {
	return fmt.Sprintf(`((tile, list) => tile && tile.top >= list.top - 1 && tile.bottom <= list.bottom + 1 && tile.left >= list.left - 1 && tile.right <= list.right + 1)(
		(%s)?.getBoundingClientRect(), document.querySelector('.tiles').getBoundingClientRect())`, tileOf(name))
}

// bringsIn: in each layout that does not show all, who speaks is in view, also from right to left.
func (a account) bringsIn(t *testing.T) {
	const room = "full house"
	held, onItsSide := testkit.Device{Width: 360, Height: 480, Touch: true}, testkit.Device{Width: 740, Height: 360, Touch: true}
	wide, narrow := testkit.Device{Width: 900, Height: 600}, testkit.Device{Width: 690, Height: 600}
	pages := map[string]*testkit.Page{}
	for _, lang := range []string{"en", "ar"} {
		p := testkit.Browser(t).OpenOn(t, held, a.link(map[string]any{"room": room, "name": lang})+"&lang="+lang)
		defer p.Close()
		p.WaitFor(t, inRoom)
		pages[lang] = p
	}
	sharer := a.join(small, map[string]any{"room": room, "name": "Sharer", "audio": true})
	defer sharer.Close()
	for i := range 13 {
		a.enter(map[string]any{"room": room, "name": fmt.Sprintf("Quiet %d", i)})
	}
	d := small
	d.Script = speaks
	voice := a.join(d, map[string]any{"room": room, "name": "Voice", "audio": true})
	defer voice.Close()
	look := func(devices ...testkit.Device) {
		t.Helper()
		for lang, p := range pages {
			for _, d := range devices {
				p.Use(t, d)
				p.WaitFor(t, fmt.Sprintf(`innerWidth === %d && (list => list.scrollHeight > list.clientHeight + 1 || list.scrollWidth > list.clientWidth + 1)(
					document.querySelector('.tiles'))`, d.Width))
				p.WaitFor(t, inSight("Voice"))
				if is(t, p, `(list => list.scrollTop !== 0 || list.scrollLeft !== 0)(document.querySelector('.tiles'))`) {
					t.Errorf("%s, %d × %d: the stage scrolled under the participant's hand", lang, d.Width, d.Height)
				}
			}
		}
	}
	for lang, p := range pages {
		p.WaitFor(t, seenWith("Voice", "[data-speaking=true]")+" && "+inSight("Voice")+" && "+inSight(lang))
	}
	look(held)
	sharer.Click(t, by("screen-toggle"))
	for _, p := range pages {
		p.WaitFor(t, shows("screen-tile"))
	}
	look(held, wide, narrow, onItsSide)
	for _, p := range pages {
		testkit.Eval[bool](t, p, `(`+tileOf("Quiet 1")+`.querySelector('[data-testid=pin]').click(), true)`)
		p.WaitFor(t, large+` === 'Quiet 1'`)
	}
	look(held, wide, narrow, onItsSide)
}

// toneAt is a script: the microphone hears a tone of some seconds again and again, on the clock that all pages share, and without an end once
// the test calls goOn.
func toneAt(loud, every, begins, lasts float64) string {
	return fmt.Sprintf(`(media => {
	const open = media.getUserMedia.bind(media);
	media.getUserMedia = async wanted => {
		const stream = await open(wanted);
		if (!wanted.audio) return stream;
		const audio = new AudioContext(), voice = new OscillatorNode(audio, {frequency: 220}), to = audio.createMediaStreamDestination();
		const loudness = new GainNode(audio, {gain: 0});
		voice.connect(loudness).connect(to);
		voice.start();
		await audio.resume();
		// The sound card keeps time where a busy page does not.
		const every = %g, begins = %g, lasts = %g, loud = %g, now = Date.now() / 1000;
		for (let at = now - now %% every + begins; at < now + 300; at += every) {
			const from = Math.max(0, at - now) + audio.currentTime;
			loudness.gain.setValueAtTime(loud, from).setValueAtTime(0, from + lasts);
		}
		window.goOn = () => loudness.gain.cancelScheduledValues(0).setValueAtTime(loud, audio.currentTime);
		for (const track of stream.getAudioTracks()) { stream.removeTrack(track); track.stop(); }
		stream.addTrack(to.stream.getAudioTracks()[0]);
		return stream;
	};
})(navigator.mediaDevices);`, every, begins, lasts, loud)
}

// wordBetween: one speaks, and another says a louder word now and then. The large tile stays with the first, until the other goes on.
func (a account) wordBetween(t *testing.T) {
	const room = "words between"
	p := a.join(desk, map[string]any{"room": room, "name": "Ada"})
	defer p.Close()
	p.Press(t, "g")
	talk := func(name, script string) *testkit.Page {
		d := small
		d.Script = script
		return a.join(d, map[string]any{"room": room, "name": name, "audio": true})
	}
	first := talk("First", toneAt(0.2, 8, 0, 4))
	defer first.Close()
	p.WaitFor(t, seenWith("First", "[data-speaking=true]"))
	other := talk("Other", toneAt(0.8, 4, 2, 0.9))
	defer other.Close()
	p.WaitFor(t, tileOf("Other"))
	testkit.Eval[bool](t, p, `(window.words = 0, window.taken = [], new MutationObserver(all => { for (const {target: tile, attributeName: name} of all) {
		if (name === 'data-large' && tile.dataset.large === 'true') taken.push(tile.dataset.name);
		if (name === 'data-speaking' && tile.dataset.speaking === 'true' && tile.dataset.name === 'Other') words++;
	}}).observe(document.querySelector('.tiles'), {subtree: true, attributeFilter: ['data-large', 'data-speaking']}), true)`)
	p.WaitFor(t, `words >= 5`)
	if taken := testkit.Eval[string](t, p, `taken.join()`); taken != "" || !is(t, p, large+` === 'First'`) {
		t.Errorf("words between took the stage: %s", taken)
	}
	testkit.Eval[bool](t, other, `(goOn(), true)`)
	p.WaitFor(t, large+` === 'Other'`)
}

func (a account) speakerOfTwo(t *testing.T) {
	const room = "duo"
	p := a.join(desk, map[string]any{"room": room, "name": "Ada", "video": true})
	defer p.Close()
	a.enter(map[string]any{"room": room, "name": "Bob"})
	p.WaitFor(t, tileOf("Bob"))
	p.Press(t, "g")
	// The large one has the whole stage, and the own picture floats over its corner.
	p.WaitFor(t, large+` === 'Bob' && ((big, own, stage) => big.width >= stage.width - 2 && own.width < stage.width / 3 &&
		own.left >= big.left && own.right <= big.right && own.bottom <= big.bottom)(
		(`+tileOf("Bob")+`).getBoundingClientRect(), (`+tileOf("Ada")+`).getBoundingClientRect(), document.querySelector('.tiles-space').getBoundingClientRect())`)
	// With a third there is a column, whose last tile is whole or begins in sight.
	a.enter(map[string]any{"room": room, "name": "Cid"})
	p.WaitFor(t, `((others, stage) => others.length === 2 && others.every(r => r.bottom <= stage.bottom + 1))(
		[...document.querySelectorAll('.tile[data-large=false]')].map(tile => tile.getBoundingClientRect()),
		document.querySelector('.tiles-space').getBoundingClientRect())`)
}

func (a account) wayInEnlarged(t *testing.T) {
	a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "enlarged"})
	// A window of 1280 × 720 at 200 %.
	p := testkit.Browser(t).OpenOn(t, testkit.Device{Width: 640, Height: 360, Scale: 2, Script: paintedCamera}, a.roomURL("enlarged"))
	defer p.Close()
	p.WaitFor(t, `document.querySelector('.preview video').videoWidth > 0`)
	p.WaitFor(t, `['.preview-picture', '[data-testid=name-input]', '[data-testid=join-button]'].every(part =>
		document.querySelector(part).getBoundingClientRect().bottom <= innerHeight)`)
	// A guest who has to give a name begins there, and the devices can be heard and chosen.
	p.WaitFor(t, `document.activeElement.dataset.testid === 'name-input'`)
	p.WaitFor(t, shows("speaker-picker")+" && "+shows("test-sound"))
	testkit.Eval[bool](t, p, `(window.sounds = 0, AudioContext.prototype.resume = new Proxy(AudioContext.prototype.resume, {
		apply(target, self, given) { window.sounds++; return Reflect.apply(target, self, given); }}), true)`)
	p.Click(t, by("test-sound"))
	p.WaitFor(t, `window.sounds > 0`)
}

func (a account) chatOverKeyboard(t *testing.T) {
	p := a.join(phoneOnItsSide, map[string]any{"room": "keys", "name": "Ada"})
	defer p.Close()
	openPanel(t, p, "chat")
	p.Click(t, by("chat-input"))
	low := phoneOnItsSide
	low.Height = 190 // A keyboard takes the rest.
	p.Use(t, low)
	p.WaitFor(t, `document.activeElement.dataset.testid === 'chat-input' && ((log, input) => log.height >= 40 && input.bottom <= innerHeight)(
		document.querySelector('.chat-log').getBoundingClientRect(), document.querySelector('[data-testid=chat-input]').getBoundingClientRect())`)
}

func (a account) aloneUnseen(t *testing.T) {
	p := a.join(desk, map[string]any{"room": "empty", "name": "Ada"})
	defer p.Close()
	choose(t, p, "self-view")
	p.WaitFor(t, shows("alone")+` && !`+anyTile+` && ((card, stage) => Math.abs((card.top + card.bottom) / 2 - (stage.top + stage.bottom) / 2) < 40)(
		document.querySelector('[data-testid=alone]').getBoundingClientRect(), document.querySelector('.stage').getBoundingClientRect())`)
}

func (a account) ownLetters(t *testing.T) {
	p := testkit.OwnBrowser(t, "--blink-settings=defaultFontSize=24").OpenOn(t, desk, a.link(map[string]any{"room": "letters", "name": "Ada"}))
	defer p.Close()
	p.WaitFor(t, inRoom)
	if size := testkit.Eval[string](t, p, `getComputedStyle(document.body).fontSize`); size != "24px" {
		t.Errorf("letters are %s where the participant wants 24px", size)
	}
	checkAccess(t, p, desk)
}

func (a account) reflows(t *testing.T) {
	const room = "narrow"
	p := a.join(desk, map[string]any{"room": room, "name": "Ada"})
	defer p.Close()
	d := desk
	sharer := a.join(d, map[string]any{"room": room, "name": "Sharer", "audio": true})
	defer sharer.Close()
	sharer.Click(t, by("screen-toggle"))
	p.Use(t, testkit.Device{Width: 320, Height: 568, Touch: true})
	p.WaitFor(t, `document.querySelector('[data-testid=screen-tile] video')?.videoWidth > 0 && document.documentElement.scrollWidth <= innerWidth`)
	p.WaitFor(t, `[...document.querySelectorAll('.tile')].every(tile => tile.getBoundingClientRect().width >= 132)`)
	// A finger needs no keys: the menu names none.
	p.Click(t, by("more-menu"))
	p.WaitFor(t, menuInView)
	if is(t, p, shows("shortcuts-button")+"|| document.querySelector('[role=menu] kbd')") {
		t.Error("a telephone is told of keys")
	}
	p.Press(t, kb.Escape)
}

func (a account) viewKept(t *testing.T) {
	const room = "kept view"
	p := a.join(desk, map[string]any{"room": room, "name": "Ada"})
	defer p.Close()
	bob := a.join(small, map[string]any{"room": room, "name": "Bob"})
	defer bob.Close()
	choose(t, p, "layout-speaker")
	choose(t, p, "self-view")
	p.WaitFor(t, large+` === 'Bob'`)
	// What others write while the tab is not in sight stands in its title.
	bob.Press(t, "c")
	bob.Type(t, by("chat-input"), "are you there?")
	bob.Click(t, by("chat-send"))
	p.WaitFor(t, `document.title.startsWith('(1) Muted · kept view')`)
	p.Reload(t)
	p.WaitFor(t, inRoom+` && `+large+` === 'Bob' && !(`+tileOf("Ada")+`)`)
}

// contrast: in a theme of few colours a pressed button differs from others by more than its icon, and only a speaker has a ring.
func (a account) contrast(t *testing.T) {
	d := desk
	d.Contrast = true
	p := a.join(d, map[string]any{"room": "contrast", "name": "Ada", "audio": true})
	defer p.Close()
	a.enter(map[string]any{"room": "contrast", "name": "Quiet"})
	p.WaitFor(t, `matchMedia('(forced-colors: active)').matches && `+tileOf("Quiet"))
	const colour = `getComputedStyle(document.querySelector('[data-testid=%s]')).backgroundColor`
	for _, toggle := range []string{"hand-toggle", "chat-toggle"} {
		at := fmt.Sprintf(colour, toggle)
		before := testkit.Eval[string](t, p, at)
		p.Click(t, by(toggle))
		p.WaitFor(t, fmt.Sprintf(`document.querySelector('[data-testid=%s]').ariaPressed === 'true'`, toggle))
		p.WaitFor(t, at+` !== `+quote(before))
	}
	if ring := testkit.Eval[string](t, p, `getComputedStyle(`+tileOf("Quiet")+`, '::after').display`); ring != "none" {
		t.Errorf("the ring of a silent participant is displayed as %s", ring)
	}
	checkAccess(t, p, d)
	takeScreenshots(t, p, d, "room contrast")
}
