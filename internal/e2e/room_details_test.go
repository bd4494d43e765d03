// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"convene.dev/convene/internal/testkit"
)

// TestTheRoomExplainsItself: a first-time visitor sees what a button does, what is wrong with a device, and who they are.
func TestTheRoomExplainsItself(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	for name, look := range map[string]func(account, *testing.T){
		"tips, keys and where the focus goes": account.tips,
		"a device that is blocked":            account.blockedCamera,
		"one's own name, and a long one":      account.longName,
		"a Latin room name in Arabic":         account.latinName,
		"watching unseen":                     account.watchingExplained,
		"a touch shows the pin":               account.touchShowsPin,
		"the choice of devices":               account.deviceMenus,
		"the title of the tab":                account.titleOfTab,
		"one of many":                         account.search,
	} {
		t.Run(name, func(t *testing.T) { look(w.a.on(t), t) })
	}
}

// tipOf is true while the tip of a button is in sight.
func tipOf(button string) string {
	return fmt.Sprintf(`getComputedStyle(document.querySelector('[data-testid=%s] > .tip')).visibility === 'visible'`, button)
}

func (a account) tips(t *testing.T) {
	p := a.join(small, map[string]any{"room": "tips", "name": "Ada", "audio": true, "token": a.presenterToken("tips")})
	defer p.Close()
	if is(t, p, tipOf("hand-toggle")) {
		t.Error("a tip stands over a button that nobody is at")
	}
	// One stop of Tab for the bar, and the arrows go on from there.
	testkit.Eval[bool](t, p, `(document.querySelector('.controls [tabindex="0"]').focus(), true)`)
	p.Press(t, kb.End+kb.Home)
	for range 12 {
		if is(t, p, `document.activeElement.dataset.testid === 'hand-toggle'`) {
			break
		}
		p.Press(t, kb.ArrowRight)
	}
	p.WaitFor(t, tipOf("hand-toggle")+` && document.querySelector('[data-testid=hand-toggle] > .tip').textContent === 'Raise handH'`)

	// A panel that a key opens has the focus, and Escape gives it back from wherever it is.
	for key, panel := range map[string]string{"p": "participants", "c": "chat"} {
		testkit.Eval[bool](t, p, `(document.querySelector('h1').focus(), true)`)
		p.Press(t, key)
		p.WaitFor(t, `document.activeElement.closest('[data-testid=`+panel+`]')`)
		testkit.Eval[bool](t, p, `(document.querySelector('h1').focus(), true)`)
		p.Press(t, kb.Escape)
		p.WaitFor(t, hasNo(panel)+` && document.activeElement.dataset.testid === '`+panel+`-toggle'`)
	}
	// What cannot be undone asks first, and the answer at hand is no.
	p.Click(t, by("leave-menu"))
	p.Click(t, by("end-for-all"))
	p.WaitFor(t, shows("end-dialog")+` && document.activeElement.innerText === 'Cancel' && !document.querySelector('[data-testid=end-redirect]').checkVisibility()`)
}

// blocksCamera is a browser that gives the microphone and, once the room is there, no camera.
const blocksCamera = `(media => {
	navigator.permissions.query = async ({name}) => ({state: name === 'camera' ? 'denied' : 'granted'});
	const open = media.getUserMedia.bind(media);
	media.getUserMedia = async wanted => {
		if (wanted.video) throw new DOMException('', 'NotAllowedError');
		return open(wanted);
	};
})(navigator.mediaDevices);`

func (a account) blockedCamera(t *testing.T) {
	d := desk
	d.Script = blocksCamera
	p := a.join(d, map[string]any{"room": "blocked", "name": "Ada", "audio": true, "video": true})
	defer p.Close()
	const says = "Your browser blocks the camera. Allow it in the address bar."
	p.WaitForText(t, says)
	p.WaitFor(t, shows("camera-problem")+" && "+hasNo("mic-problem")+" && "+sends(true, false))
	dismissNotices(t, p)
	p.WaitFor(t, `document.querySelector('[data-testid=camera-toggle]').ariaLabel === 'Camera (does not work)'`)
	// A press tries again, and says it again.
	p.Click(t, by("camera-toggle"))
	p.WaitForText(t, says)
	checkAccess(t, p, desk)
	takeScreenshots(t, p, desk, "room camera blocked")
}

func (a account) longName(t *testing.T) {
	const room = "names"
	name := strings.Repeat("Wolfeschlegelstein ", 6)
	p := a.join(phone, map[string]any{"room": room, "name": name})
	defer p.Close()
	a.enter(map[string]any{"room": room, "name": "Bo"})
	p.WaitFor(t, tileOf("Bo"))
	p.WaitFor(t, `(([name, mine], tile) => name.scrollWidth > name.clientWidth && mine.innerText === '(you)' &&
		mine.getBoundingClientRect().right <= tile.getBoundingClientRect().right && mine.scrollWidth <= mine.clientWidth)(
		document.querySelectorAll('[data-local=true] .tile-name > span'), document.querySelector('[data-local=true]'))`)
}

func (a account) latinName(t *testing.T) {
	d := desk
	d.Language = "ar"
	p := testkit.Browser(t).OpenOn(t, d, a.link(map[string]any{"room": "Board", "name": "Ada", "duration": "01:00:00"}))
	defer p.Close()
	p.WaitFor(t, inRoom+` && document.dir === 'rtl'`)
	// The name is beside the mark, which is at the right, and far from the countdown.
	p.WaitFor(t, `((name, brand, clock) => brand.left - name.right < 40 && name.left - clock.right > 200)(
		document.querySelector('.room-name bdi').getBoundingClientRect(), document.querySelector('.room-header').firstElementChild.getBoundingClientRect(),
		document.querySelector('[data-testid=countdown]').getBoundingClientRect())`)
}

func (a account) watchingExplained(t *testing.T) {
	p := a.join(phone, map[string]any{"room": "watched", "name": "Quality team", "hide": true})
	defer p.Close()
	p.Click(t, by("watching"))
	p.WaitForText(t, "You are watching: the others neither see nor hear you.")
}

func (a account) touchShowsPin(t *testing.T) {
	const room = "touched"
	p := a.join(phone, map[string]any{"room": room, "name": "Ada"})
	defer p.Close()
	a.enter(map[string]any{"room": room, "name": "Bo"})
	p.WaitFor(t, tileOf("Bo"))
	const pin = `[data-testid=tile][data-name=Bo] [data-testid=pin]`
	const opacity = `getComputedStyle(document.querySelector('` + pin + `')).opacity`
	p.WaitFor(t, opacity+` === '0'`)
	testkit.Eval[bool](t, p, `(window.clicks = 0, document.addEventListener('click', () => clicks++), true)`)
	p.Tap(t, pin)
	p.WaitFor(t, opacity+` === '1' && clicks === 1`)
	if is(t, p, `document.querySelector('[data-large=true]')`) {
		t.Fatal("the touch that shows the pin presses it")
	}
	p.Tap(t, pin)
	p.WaitFor(t, `(`+tileOf("Bo")+`).dataset.large === 'true' && (`+tileOf("Bo")+`).querySelector('.pinned').ariaLabel === 'Pinned by you'`)
}

func (a account) deviceMenus(t *testing.T) {
	d := desk
	d.Script = speaks
	p := a.join(d, map[string]any{"room": "menus", "name": "Ada", "audio": true, "video": true})
	defer p.Close()
	p.Click(t, by("camera-menu"))
	p.WaitFor(t, `(v => v.videoWidth > 0 && v.currentTime > 0)(document.querySelector('[data-testid=settings-picture]')) && `+shows("choose-videoinput"))
	p.Press(t, kb.Escape)
	p.Click(t, by("mic-menu"))
	p.WaitFor(t, `+document.querySelector('[data-testid=mic-level]').ariaValueNow > 0 && `+shows("test-sound")+" && "+shows("choose-audioinput"))
}

func (a account) titleOfTab(t *testing.T) {
	p := a.join(small, map[string]any{"room": "tabs", "name": "Ada", "audio": true})
	defer p.Close()
	title := func(want string) {
		t.Helper()
		p.WaitFor(t, `document.title === `+quote(want))
	}
	p.WaitFor(t, sends(true, false))
	title("tabs – Convene")
	p.Click(t, by("mic-toggle"))
	title("Muted · tabs – Convene")
	if status := callChat(t, a, "tabs", "Hello"); status != http.StatusNoContent {
		t.Fatalf("chat answered %d", status)
	}
	title("(1) Muted · tabs – Convene")
	p.Click(t, by("mic-toggle"))
	title("(1) tabs – Convene")
	openPanel(t, p, "chat")
	title("tabs – Convene")
	p.Click(t, by("leave-button"))
	p.WaitFor(t, shows("left"))
	title("tabs – Convene")

	hidden := a.join(small, map[string]any{"room": "tabs", "name": "Wilma", "hide": true})
	defer hidden.Close()
	hidden.WaitFor(t, shows("watching")+` && document.title === 'tabs – Convene'`)
}

func (a account) search(t *testing.T) {
	const room = "many"
	p := a.join(desk, map[string]any{"room": room, "name": "Ada", "token": a.presenterToken("many")})
	defer p.Close()
	for i := range 11 {
		a.enter(map[string]any{"room": room, "name": fmt.Sprintf("Guest %c", 'A'+i)})
	}
	p.WaitFor(t, `document.querySelector('[data-testid=people-count]')?.dataset.count === '12'`)
	openPanel(t, p, "participants")
	p.Type(t, by("people-search"), "guest k")
	p.WaitFor(t, `document.querySelectorAll('[data-testid=participant-row]').length === 1 && document.querySelector(`+quote(rowOf("Guest K"))+`)`)
	p.Type(t, by("people-search"), "nobody")
	p.WaitForText(t, "Nobody has this name.")
	checkAccess(t, p, desk)
}
