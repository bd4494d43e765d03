// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"convene.dev/convene/internal/testkit"
)

// speaks makes the microphone hear a voice without pauses.
const speaks = `(media => {
	const open = media.getUserMedia.bind(media);
	media.getUserMedia = async wanted => {
		const stream = await open(wanted);
		if (!wanted.audio) return stream;
		const audio = new AudioContext(), voice = new OscillatorNode(audio, {frequency: 220}), to = audio.createMediaStreamDestination();
		voice.connect(to);
		voice.start();
		await audio.resume();
		for (const track of stream.getAudioTracks()) { stream.removeTrack(track); track.stop(); }
		stream.addTrack(to.stream.getAudioTracks()[0]);
		return stream;
	};
})(navigator.mediaDevices);`

// TestAParticipantWhoSpeaksWhileMutedIsTold: the microphone's switch shows the level, and a muted participant who speaks is
// offered to switch it on.
func TestAParticipantWhoSpeaksWhileMutedIsTold(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	d := small
	d.Script = speaks
	p := w.a.join(d, map[string]any{"room": "level", "name": "Ada", "audio": true})
	const level = `document.querySelector('.split').style.getPropertyValue('--level')`
	p.WaitFor(t, level+` > 0.5`)
	p.Click(t, by("mic-toggle"))
	p.WaitForText(t, "You are muted.")
	if is(t, p, level) {
		t.Error("a muted microphone shows a level")
	}
	p.Click(t, by("notice-offer"))
	p.WaitFor(t, sends(true, false)+" && "+level+` > 0.5`)
}

// thumbs are the buttons of the bar that a thumb finds: all of the same size, in one row, wholly in sight.
const thumbs = `(buttons => buttons.length <= 6 && buttons.every(b => {
	const r = b.getBoundingClientRect();
	return r.width >= 47.5 && r.height >= 47.5 && r.left >= 0 && r.right <= innerWidth && r.bottom <= innerHeight;
}) && buttons.slice(1).every((b, i) => Math.abs(b.getBoundingClientRect().left - buttons[i].getBoundingClientRect().right) >= 3))(
	[...document.querySelectorAll('.controls button')])`

// TestTheBarIsForThumbs: a presenter's telephone has six buttons of full size, also at 320 px and from right to left, the menus
// are wholly in sight, and what ends the meeting is not beside what leaves it.
func TestTheBarIsForThumbs(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	chair := map[string]any{"room": "thumbs", "name": "Chair", "audio": true, "token": w.a.presenterToken("chair")}
	link := w.a.link(chair)
	for _, c := range []struct {
		name, lang string
		device     testkit.Device
	}{
		{"a common telephone", "en", testkit.Device{Width: 360, Height: 740, Touch: true}},
		{"the smallest", "en", testkit.Device{Width: 320, Height: 568, Touch: true}},
		{"from right to left", "ar", testkit.Device{Width: 360, Height: 740, Touch: true}},
		{"on its side", "en", testkit.Device{Width: 740, Height: 360, Touch: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.Browser(t).OpenOn(t, c.device, link+"&lang="+c.lang)
			defer p.Close()
			p.WaitFor(t, inRoom)
			if c.device.Width < 640 {
				p.WaitFor(t, thumbs)
			}
			for _, menu := range []string{"more-menu", "leave-menu"} {
				p.Click(t, by(menu))
				p.WaitFor(t, menuInView)
				p.Press(t, kb.Escape)
				p.WaitFor(t, `!document.querySelector('[role=menu]')`)
			}
			openPanel(t, p, "participants")
			p.Press(t, kb.Escape)
			p.WaitFor(t, hasNo("participants"))
		})
	}
}

// TestAPageWaitsForItsRoom: a visitor who comes before the room is open waits there, and is in when it opens.
func TestAPageWaitsForItsRoom(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	p := testkit.Browser(t).OpenOn(t, small, w.a.roomURL("soon")+"?name=Early&video=1")
	p.Click(t, by("join-button"))
	p.WaitFor(t, errorScreen("NotFound"))
	p.Click(t, by("wait-here"))
	p.WaitFor(t, shows("stop-waiting"))
	p.Click(t, by("stop-waiting"))
	p.WaitFor(t, hasNo("stop-waiting"))
	p.Click(t, by("wait-here"))
	p.WaitFor(t, shows("stop-waiting"))
	w.a.want(200, "POST", "/api/v1/meeting", map[string]any{"room": "soon"})
	p.WaitFor(t, inRoom+" && "+sends(true, true))
}

// TestWordsAreNotLost: what is written stays when the panel closes, what was said stays over a reload, and who reads further up
// sees that there is more.
func TestWordsAreNotLost(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	p := w.a.join(small, map[string]any{"room": "words", "name": "Ada"})
	bob := w.a.join(small, map[string]any{"room": "words", "name": "Bob"})
	openPanel(t, p, "chat")
	openPanel(t, bob, "chat")
	for _, text := range []string{"first\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nof many lines", "second"} {
		testkit.Eval[bool](t, bob, `(document.querySelector('[data-testid=chat-input]').focus(), document.execCommand('insertText', false, `+quote(text)+`))`)
		bob.Click(t, by("chat-send"))
		bob.WaitFor(t, `document.querySelector('[data-testid=chat-input]').value === ''`)
	}
	p.WaitForText(t, "second")
	p.Type(t, by("chat-input"), "half a thou")
	openPanel(t, p, "participants")
	p.Press(t, kb.Escape)
	openPanel(t, p, "chat")
	p.WaitFor(t, `document.querySelector('[data-testid=chat-input]').value === 'half a thou'`)

	testkit.Eval[bool](t, p, `(document.querySelector('.chat-log').scrollTop = 0, true)`)
	bob.Type(t, by("chat-input"), "third")
	bob.Click(t, by("chat-send"))
	p.WaitFor(t, `document.querySelector('[data-testid=chat-new]')?.innerText.includes('1 new message')`)
	p.Click(t, by("chat-new"))
	p.WaitFor(t, hasNo("chat-new"))

	// At the end it stays there: in a lively chat, while the draft grows, and after a message of one's own.
	const atEnd = `(log => log.scrollHeight - log.scrollTop - log.clientHeight < 2)(document.querySelector('.chat-log'))`
	said := func(count int) string {
		return fmt.Sprintf(`document.querySelectorAll('[data-testid=chat-message]').length === %d`, count)
	}
	for range 12 {
		bob.Type(t, by("chat-input"), "lively\r")
	}
	p.WaitFor(t, said(15)+" && "+atEnd+" && "+hasNo("chat-new"))
	testkit.Eval[bool](t, p, `(document.querySelector('[data-testid=chat-input]').focus(), document.execCommand('insertText', false, `+quote("\na\nb\nc\nd")+`))`)
	p.WaitFor(t, atEnd+" && "+hasNo("chat-new"))
	testkit.Eval[bool](t, p, `(document.querySelector('.chat-log').scrollTop = 0, true)`)
	p.WaitFor(t, "!"+atEnd)
	p.Click(t, by("chat-send"))
	p.WaitFor(t, said(16)+" && "+atEnd)

	p.Reload(t)
	p.WaitFor(t, inRoom)
	openPanel(t, p, "chat")
	p.WaitFor(t, said(16))
}
