// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"convene.dev/convene/internal/testkit"
)

// TestAnyHands: the meeting on a telephone, by keyboard alone, enlarged, and as each person wants to see it.
func TestAnyHands(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	const room = "hands"
	ada := w.a.join(testkit.Device{Width: 1280, Height: 800, Script: twoCameras + recordsWakeLocks}, map[string]any{
		"room": room, "name": "Ada", "audio": true, "video": true, "token": w.a.presenterToken("ada"),
	})
	bob := w.a.join(small, map[string]any{"room": room, "name": "Bob", "video": true})
	ada.WaitFor(t, seesVideoOf("Bob"))
	t.Run("layouts", func(t *testing.T) { layouts(t, ada) })
	t.Run("keyboard", func(t *testing.T) { keyboard(t, ada, bob) })
	t.Run("enlarged", func(t *testing.T) { enlarged(t, ada) })
	t.Run("less motion", func(t *testing.T) { still(t, bob) })
	t.Run("telephone", func(t *testing.T) { telephone(t, ada) })
	t.Run("language of the address", func(t *testing.T) {
		p := testkit.Browser(t).OpenOn(t, small, w.a.baseURL+"/?lang=ar")
		defer p.Close()
		p.WaitFor(t, shows("home")+` && document.dir === 'rtl'`)
		p.Type(t, by("room-input"), room)
		p.Click(t, by("home-join"))
		p.WaitFor(t, shows("prejoin")+` && document.dir === 'rtl'`)
	})
	if errs := ada.ConsoleErrors(); len(errs) > 0 {
		t.Errorf("Ada's console: %q", errs)
	}
}

// twoCameras makes the test camera two, one for each side, and keeps which was asked for.
const twoCameras = `(media => {
	window.facing = [];
	const list = media.enumerateDevices.bind(media), open = media.getUserMedia.bind(media);
	media.enumerateDevices = async () => {
		const found = await list(), camera = found.find(d => d.kind === 'videoinput');
		return camera ? [...found, {kind: 'videoinput', deviceId: 'back', groupId: 'back', label: 'Back camera'}] : found;
	};
	media.getUserMedia = wanted => {
		const asked = wanted.video?.facingMode;
		if (asked) window.facing.push(asked.ideal ?? asked.exact ?? asked);
		return open(wanted);
	};
})(navigator.mediaDevices);`

const recordsWakeLocks = `window.awake = 0; (request => navigator.wakeLock && (navigator.wakeLock.request = kind => {
	window.awake++; return request(kind);
}))(navigator.wakeLock?.request.bind(navigator.wakeLock));`

const (
	large     = `[...document.querySelectorAll('[data-testid=tile][data-large=true]')].map(t => t.dataset.name).join()`
	noneLarge = `!document.querySelector('[data-large=true]')`
)

func choose(t *testing.T, p *testkit.Page, item string) {
	t.Helper()
	p.Click(t, by("more-menu"))
	p.Click(t, by(item))
	p.WaitFor(t, `!document.querySelector('[role=menu]')`)
}

func layouts(t *testing.T, p *testkit.Page) {
	p.WaitFor(t, noneLarge)
	choose(t, p, "layout-speaker")
	p.WaitFor(t, large+` === 'Bob'`)
	press(t, p, `[data-testid=tile][data-name=Ada] [data-testid=pin]`)
	p.WaitFor(t, large+` === 'Ada'`)
	press(t, p, `[data-testid=tile][data-name=Ada] [data-testid=pin]`)
	p.WaitFor(t, large+` === 'Bob'`)
	choose(t, p, "self-view")
	p.WaitFor(t, `document.querySelectorAll('[data-testid=tile]').length === 1`)
	choose(t, p, "layout-grid")
	p.WaitFor(t, noneLarge+` && document.querySelectorAll('[data-testid=tile]').length === 1`)
	choose(t, p, "self-view")
	p.WaitFor(t, `document.querySelectorAll('[data-testid=tile]').length === 2`)
	choose(t, p, "full-screen")
	p.WaitFor(t, `document.fullscreenElement`)
	p.Press(t, "f")
	p.WaitFor(t, `!document.fullscreenElement`)
	p.WaitFor(t, `window.awake > 0`)
	// LiveKit tells the quality of others when it changes, and one's own in any case.
	p.WaitFor(t, `['excellent', 'good', 'poor', 'lost'].includes((`+tileOf("Ada")+`)?.dataset.quality)`)
}

// keyboard goes everywhere without a pointer.
func keyboard(t *testing.T, ada, bob *testkit.Page) {
	pressed := func(testID string, on bool) string {
		return fmt.Sprintf(`document.querySelector('[data-testid=%q]').ariaPressed === '%t'`, testID, on)
	}
	for _, c := range []struct{ key, toggle string }{
		{"m", "mic-toggle"}, {"v", "camera-toggle"}, {"h", "hand-toggle"}, {"p", "participants-toggle"}, {"c", "chat-toggle"},
	} {
		before := is(t, ada, pressed(c.toggle, true))
		ada.Press(t, c.key)
		ada.WaitFor(t, pressed(c.toggle, !before))
	}
	bob.WaitFor(t, seenWith("Ada", "[data-muted=true]:has(.tile-hand)")+` && !(`+tileOf("Ada")+`).querySelector('video')`)
	// The chat has the focus: what is typed there is text.
	ada.WaitFor(t, `document.activeElement.dataset.testid === 'chat-input'`)
	ada.Press(t, "mvh?")
	ada.WaitFor(t, `document.activeElement.value === 'mvh?' && `+pressed("mic-toggle", false)+" && "+hasNo("shortcuts"))
	ada.Press(t, kb.Escape)
	ada.WaitFor(t, hasNo("chat")+` && document.activeElement.dataset.testid === 'chat-toggle'`)

	// The dialog keeps the focus and gives it back; the switch in it holds over a reload.
	ada.Press(t, "?")
	ada.WaitFor(t, shows("shortcuts")+` && document.activeElement.closest('dialog')`)
	ada.Click(t, by("shortcuts-switch"))
	ada.Press(t, kb.Escape)
	ada.WaitFor(t, hasNo("shortcuts")+` && document.activeElement.dataset.testid === 'chat-toggle'`)
	ada.Press(t, "m?")
	if is(t, ada, shows("shortcuts")+"||"+pressed("mic-toggle", true)) {
		t.Error("keys that are switched off do something")
	}
	if kept := testkit.Eval[string](t, ada, `localStorage.getItem('convene.choices')`); !strings.Contains(kept, `"shortcuts":false`) {
		t.Errorf("the choice is not kept: %s", kept)
	}
	choose(t, ada, "shortcuts-button")
	ada.Click(t, by("shortcuts-switch"))
	ada.Press(t, kb.Escape)
	ada.WaitFor(t, hasNo("shortcuts"))

	// Arrows move in the menu, and Escape gives the focus back.
	testkit.Eval[bool](t, ada, `(document.querySelector('[data-testid=more-menu]').focus(), true)`)
	ada.Press(t, kb.Enter)
	ada.WaitFor(t, `document.activeElement.dataset.testid === 'layout-grid'`)
	ada.Press(t, kb.ArrowDown)
	ada.WaitFor(t, `document.activeElement.dataset.testid === 'layout-speaker'`)
	ada.Press(t, kb.End)
	ada.WaitFor(t, `document.activeElement.dataset.testid === 'shortcuts-button'`)
	ada.Press(t, kb.Escape)
	ada.WaitFor(t, `!document.querySelector('[role=menu]') && document.activeElement.dataset.testid === 'more-menu'`)

	// Every control can be reached, and shows that it has the focus.
	testkit.Eval[bool](t, ada, `(window.reached = new Set(), document.addEventListener('focusin', e => {
		if (getComputedStyle(e.target).outlineStyle !== 'none') reached.add(e.target.dataset.testid);
	}), document.activeElement.blur(), true)`)
	for range 4 {
		ada.Press(t, kb.Tab)
	}
	ada.WaitFor(t, `reached.has('pin') && document.querySelectorAll('.controls [tabindex="0"]').length === 1`)
	testkit.Eval[bool](t, ada, `(document.querySelector('.controls [tabindex="0"]').focus(), true)`)
	ada.Press(t, kb.Home)
	for range 10 {
		ada.Press(t, kb.ArrowRight)
	}
	ada.WaitFor(t, `['mic-toggle', 'mic-menu', 'camera-toggle', 'camera-menu', 'screen-toggle', 'hand-toggle', 'react-menu', 'chat-toggle',
		'participants-toggle', 'more-menu', 'leave-menu'].every(id => reached.has(id))`)
	for _, key := range []string{"m", "v", "h"} {
		ada.Press(t, key)
	}
	bob.WaitFor(t, seesVideoOf("Ada"))
}

// inView says which of the controls are cut off, or none.
const inView = `[...document.querySelectorAll('.controls button, .room-name, [data-testid=tile]')].filter(e => {
	const r = e.getBoundingClientRect();
	return r.left < -1 || r.right > innerWidth + 1 || r.top < -1 || r.bottom > innerHeight + 1 || r.width < 24 || r.height < 20;
}).map(e => e.dataset.testid ?? e.className).join()`

// enlarged is a page at 200 %, and at 400 % where everything must still be reached without scrolling sideways.
func enlarged(t *testing.T, p *testkit.Page) {
	for _, d := range []testkit.Device{{Width: 640, Height: 400, Scale: 2}, {Width: 320, Height: 568}} {
		p.Use(t, d)
		p.WaitFor(t, fmt.Sprintf(`innerWidth === %d && document.documentElement.scrollWidth <= innerWidth && (%s) === ''`, d.Width, inView))
	}
}

// still is the page of a participant who asked for less motion.
func still(t *testing.T, p *testkit.Page) {
	const moves = `getComputedStyle(document.querySelector('.tile'), '::after').transitionDuration !== '0s'`
	if !is(t, p, moves) {
		t.Fatal("nothing moves that could be stilled")
	}
	d := small
	d.Still = true
	p.Use(t, d)
	p.WaitFor(t, "!("+moves+")")
}

func telephone(t *testing.T, p *testkit.Page) {
	portrait := testkit.Device{Width: 390, Height: 844, Scale: 3, Touch: true}
	p.Use(t, portrait)
	p.WaitFor(t, fmt.Sprintf(`innerWidth === 390 && (%s) === ''`, inView))
	// The device has come to have two cameras, which the tile learns when it is drawn again.
	p.Click(t, by("camera-toggle"))
	p.WaitFor(t, `!(`+tileOf("Ada")+`).querySelector('video')`)
	p.Click(t, by("camera-toggle"))
	p.Click(t, by("flip-camera"))
	p.WaitFor(t, `window.facing.at(-1) === 'environment' && !(`+tileOf("Ada")+`).querySelector('video.mirrored') && (`+tileOf("Ada")+`).querySelector('video').videoWidth > 0`)
	p.Click(t, by("flip-camera"))
	p.WaitFor(t, `window.facing.at(-1) === 'user' && (`+tileOf("Ada")+`).querySelector('video.mirrored')`)
	// Telephones have no way to share a screen.
	testkit.Eval[bool](t, p, `(delete MediaDevices.prototype.getDisplayMedia, true)`)
	p.Use(t, testkit.Device{Width: 844, Height: 390, Scale: 3, Touch: true})
	p.Click(t, by("hand-toggle"))
	p.WaitFor(t, fmt.Sprintf(`innerWidth === 844 && (%s) === '' && %s`, inView, hasNo("screen-toggle")))
	openPanel(t, p, "chat")
	p.WaitFor(t, `(r => r.right <= innerWidth && r.bottom <= innerHeight)(document.querySelector('[data-testid=chat-send]').getBoundingClientRect())`)
}
