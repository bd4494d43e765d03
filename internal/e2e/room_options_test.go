// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// countsSounds counts the tones that a page makes of its own.
const countsSounds = `window.tones = 0; (start => OscillatorNode.prototype.start = function (...at) {
	window.tones++; return start.apply(this, at);
})(OscillatorNode.prototype.start)`

// recordsServers keeps the URLs of all ICE servers that a page's connections are told to ask.
const recordsServers = `;(() => {
	window.iceURLs = [];
	const keep = configuration => configuration?.iceServers?.forEach(({urls}) => iceURLs.push(...[urls].flat()));
	window.RTCPeerConnection = class extends RTCPeerConnection {
		constructor(configuration, ...more) { super(configuration, ...more); keep(configuration); }
		setConfiguration(configuration) { super.setConfiguration(configuration); keep(configuration); }
	};
})()`

// humming is a microphone before a person who never stops. That of the browser beeps too briefly to count as a person who
// speaks.
const humming = `navigator.mediaDevices.getUserMedia = async () => {
	const audio = new AudioContext(), to = audio.createMediaStreamDestination();
	const tone = new OscillatorNode(audio, {frequency: 300});
	tone.connect(to);
	tone.start();
	return to.stream;
}`

// picture is a server of one image, and its URL.
func picture(t *testing.T) string {
	png, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write(png)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/ada.png"
}

// options are a meeting in which Ada sees what becomes of the options of those who join.
type options struct {
	account
	world *world
	ada   *testkit.Page
	// watch hears what LiveKit tells a participant.
	watch *peer.Peer
}

const (
	optionsRoom = "options"
	// goneImage is at a port where nobody listens.
	goneImage = "http://127.0.0.1:1/gone.png"
)

// TestJoinOptions: every option of the join body, seen from the page of another participant.
func TestJoinOptions(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	ada := w.a.join(testkit.Device{Script: countsSounds + recordsServers}, map[string]any{
		"room": optionsRoom, "name": "Ada", "token": w.a.presenterToken("ada"), "duration": "02:00:00",
	})
	watch, _ := w.a.enter(map[string]any{"room": optionsRoom, "name": "Watch"})
	ada.WaitFor(t, tileOf("Watch"))
	for _, c := range []struct {
		name string
		try  func(*options, *testing.T)
	}{
		{"name", (*options).name},
		{"avatar", (*options).avatar},
		{"audio", (*options).audio},
		{"video", (*options).video},
		{"screen", (*options).screen},
		{"chat", (*options).chat},
		{"hide", (*options).hide},
		{"notify", (*options).notify},
		{"duration", (*options).duration},
		{"presenter", (*options).presenter},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.try(&options{account: w.a.on(t), world: w, ada: ada, watch: watch}, t)
		})
	}
	// A page asks the servers that LiveKit names, which TURN is among where there is any, and never one on its own.
	if got, want := testkit.Eval[string](t, ada, `[...new Set(iceURLs)].join()`), "stun:127.0.0.1:3478"; got != want {
		t.Errorf("Ada's page asks the ICE servers %q, want those of LiveKit: %q", got, want)
	}
	for _, said := range ada.ConsoleErrors() {
		if !strings.Contains(said, goneImage) {
			t.Errorf("Ada's console: %q", said)
		}
	}
}

// with opens one more page, with options beside room and name.
func (o *options) with(name string, more map[string]any) *testkit.Page {
	o.t.Helper()
	body := map[string]any{"room": optionsRoom, "name": name}
	for key, value := range more {
		body[key] = value
	}
	p := o.join(small, body)
	o.t.Cleanup(p.Close)
	return p
}

func (o *options) name(t *testing.T) {
	for _, name := range []string{`<b>Eve</b> & "Co" 'x' {name}`, "محمد بن موسى", "Zoë 👩🏽‍🚀 Núñez"} {
		o.with(name, nil)
		o.ada.WaitFor(t, fmt.Sprintf(`(%s)?.querySelector('.tile-name').innerText === %s`, tileOf(name), quote(name)))
	}
}

func (o *options) avatar(t *testing.T) {
	at := picture(t)
	o.with("Pictured", map[string]any{"avatar": at})
	o.ada.WaitFor(t, fmt.Sprintf(`(i => i?.src === %q && i.naturalWidth > 0)((%s)?.querySelector('.avatar img'))`, at, tileOf("Pictured")))
	o.with("Broken Link", map[string]any{"avatar": goneImage})
	o.ada.WaitFor(t, fmt.Sprintf(`(%s)?.querySelector('.avatar').innerText === 'BL'`, tileOf("Broken Link")))
}

func (o *options) audio(t *testing.T) {
	o.with("Silent", map[string]any{"audio": false})
	d := small
	d.Script = humming
	speaks := testkit.Browser(t).OpenOn(t, d, o.link(map[string]any{"room": optionsRoom, "name": "Speaks", "audio": "true"}))
	defer speaks.Close()
	o.ada.WaitFor(t, seenWith("Silent", "[data-muted=true]"))
	o.ada.WaitFor(t, seenWith("Speaks", "[data-muted=false]"))
	o.ada.WaitFor(t, seenWith("Speaks", "[data-speaking=true]"))
	speaks.Click(t, by("mic-toggle"))
	o.ada.WaitFor(t, seenWith("Speaks", "[data-muted=true]"))
}

func (o *options) video(t *testing.T) {
	o.with("Unseen", map[string]any{"video": false})
	seen := o.with("Seen", map[string]any{"video": 1})
	o.ada.WaitFor(t, seesVideoOf("Seen")+" && "+tileOf("Unseen"))
	if is(t, o.ada, fmt.Sprintf(`!!(%s).querySelector('video')`, tileOf("Unseen"))) {
		t.Error("a participant without video is filmed")
	}
	seen.Click(t, by("camera-toggle"))
	o.ada.WaitFor(t, fmt.Sprintf(`!(%s)?.querySelector('video')`, tileOf("Seen")))
}

func (o *options) screen(t *testing.T) {
	d := small
	d.Script = paintedCamera
	shares := testkit.Browser(t).OpenOn(t, d, o.link(map[string]any{"room": optionsRoom, "name": "Shares", "screen": true}))
	defer shares.Close()
	shares.Click(t, by("screen-offer"))
	o.ada.WaitFor(t, `(v => v && v.videoWidth > 0 && v.currentTime > 0)(document.querySelector('[data-testid=screen-tile][data-large=true] video'))`)
	shares.WaitFor(t, hasNo("screen-offer"))
	shares.Click(t, by("screen-toggle"))
	o.ada.WaitFor(t, hasNo("screen-tile"))
	if is(t, o.with("Looks", nil), shows("screen-offer")) {
		t.Error("a participant who did not wish it was offered to share a screen")
	}
}

func (o *options) chat(t *testing.T) {
	mute := o.with("Unwritten", map[string]any{"chat": "false"})
	writes := o.with("Writes", map[string]any{"chat": true})
	o.ada.WaitFor(t, tileOf("Unwritten"))
	writes.Press(t, "c")
	writes.Type(t, by("chat-input"), "one https://example.com/a?b=c&d=e) javascript:alert(1)")
	writes.Click(t, by("chat-send"))
	o.ada.WaitFor(t, `document.querySelector('[data-testid=chat-unread]')?.dataset.count === '1'`)
	o.ada.WaitFor(t, `document.querySelector('[data-testid=announcements]').innerText.includes('Message from Writes: one')`)
	o.ada.Click(t, by("chat-toggle"))
	o.ada.WaitFor(t, `(links => links.length === 1 && links[0].href === 'https://example.com/a?b=c&d=e' && links[0].rel.includes('noopener'))
		([...document.querySelectorAll('[data-testid=chat-message] a')])`)
	o.ada.WaitFor(t, hasNo("chat-unread"))
	o.ada.Press(t, "\x1b")
	o.ada.WaitFor(t, hasNo("chat")+` && document.activeElement.dataset.testid === 'chat-toggle'`)
	// Whatever happened to the message has happened to this page too, once it has seen what came after it.
	writes.Click(t, by("hand-toggle"))
	mute.WaitFor(t, seenWith("Writes", ":has(.tile-hand)"))
	if is(t, mute, shows("chat-toggle")+"||"+shows("chat")+"|| document.body.textContent.includes('example.com')") {
		t.Error("a participant without chat has some")
	}
	mute.Press(t, "c")
	if is(t, mute, shows("chat")) {
		t.Error("a key opens the chat of a participant without")
	}
}

func (o *options) hide(t *testing.T) {
	before := len(o.watch.Others())
	o.ada.WaitFor(t, fmt.Sprintf(`document.querySelectorAll('[data-testid=tile]').length === %d`, before+1))
	hidden := o.with("Hidden One", map[string]any{"hide": true, "audio": true, "video": true, "notify": true})
	hidden.WaitFor(t, shows("watching")+" && !"+shows("mic-toggle")+" && "+tileOf("Ada"))
	// Ada presents: she sees a mark, in two places, and nothing else.
	o.ada.WaitFor(t, shows("hidden-mark"))
	openPanel(t, o.ada, "participants")
	o.ada.WaitFor(t, `document.querySelector('[data-testid=hidden-row]')?.dataset.name === 'Hidden One'`)
	plain := o.with("Plain", nil)
	openPanel(t, plain, "participants")
	plain.WaitFor(t, `[...document.querySelectorAll('[data-testid=participant-row]')].some(r => r.dataset.name === 'Ada')`)
	if is(t, plain, `document.documentElement.outerHTML.includes('Hidden One')`) {
		t.Error("the hidden one is in the page of a participant who does not present")
	}
	if is(t, o.ada, tileOf("Hidden One")+` || [...document.querySelectorAll('[data-testid=notice]')].some(n => n.innerText.includes('Hidden One'))`) {
		t.Error("the hidden one has a tile or was announced")
	}
	o.ada.Click(t, by("hidden-mark")) // Which names them.
	o.ada.WaitFor(t, `[...document.querySelectorAll('[data-testid=notice]')].some(n => n.innerText.includes('Hidden One'))`)
	if after := len(o.watch.Others()); after > before+1 {
		t.Errorf("LiveKit tells others of %d people, %d and Plain are there", after, before)
	}
	for identity, attributes := range o.watch.Others() {
		if attributes["name"] == "Hidden One" {
			t.Errorf("LiveKit tells others of %s", identity)
		}
	}
}

func (o *options) notify(t *testing.T) {
	testkit.Eval[int](t, o.ada, `window.tones = 0`) // Chat makes tones, too.
	o.with("Quiet", map[string]any{"notify": false})
	o.ada.WaitFor(t, tileOf("Quiet"))
	o.ada.WaitFor(t, `document.querySelector('[data-testid=announcements]').innerText.includes('Quiet joined')`)
	if is(t, o.ada, `window.tones > 0 || [...document.querySelectorAll('[data-testid=notice]')].some(n => n.innerText.includes('Quiet'))`) {
		t.Error("an arrival without notify was announced to everybody")
	}
	o.with("Herald", map[string]any{"notify": true})
	o.ada.WaitFor(t, `[...document.querySelectorAll('[role=status] [data-testid=notice]')].some(n => n.innerText.includes('Herald joined'))`)
	o.ada.WaitFor(t, `window.tones === 2`)
}

func (o *options) duration(t *testing.T) {
	p := o.with("Late", map[string]any{"duration": "09:00:00"})
	for _, page := range []*testkit.Page{o.ada, p} {
		left, err := time.Parse("15:04:05", "0"+textOf(t, page, "countdown"))
		if err != nil {
			t.Fatal(err)
		}
		if hour := left.Hour(); hour > 1 || hour == 1 && left.Minute() < 50 {
			t.Errorf("%s are left of two hours", left.Format("15:04:05"))
		}
	}
}

func (o *options) presenter(t *testing.T) {
	p := o.with("Chair", map[string]any{"token": map[string]any{"username": "chair", "password": "x", "presenter": true, "expire": "1h"}})
	p.WaitFor(t, presents)
	p.WaitFor(t, shows("leave-menu"))
	openPanel(t, o.ada, "participants")
	o.ada.WaitFor(t, `[...document.querySelectorAll('[data-testid=participant-row]')].find(r => r.dataset.name === 'Chair')?.innerText.includes('Presenter')`)
	plain := o.with("Guest", map[string]any{"token": map[string]any{"username": "guest", "password": "x", "presenter": false, "expire": "1h"}})
	o.ada.WaitFor(t, `[...document.querySelectorAll('[data-testid=participant-row]')].some(r => r.dataset.name === 'Guest' && !r.innerText.includes('Presenter'))`)
	openPanel(t, plain, "participants")
	if is(t, plain, presents+"||"+shows("leave-menu")+"||"+shows("act-menu")) {
		t.Error("a guest is offered what presenters do")
	}
}
