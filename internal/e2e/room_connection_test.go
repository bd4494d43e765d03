// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// keepClipboard lets a test read what the page copies.
const keepClipboard = `navigator.clipboard && (navigator.clipboard.writeText = async text => { window.copied = text })`

// found is true while the test of the connection says this of one of its rows.
func found(row, finding string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('[data-testid=findings] > div')]
		.some(r => r.querySelector('dt').textContent === %q && r.dataset.finding === %q)`, row, finding)
}

// figure is the text of a figure of the test of the connection.
func figure(name string) string {
	return fmt.Sprintf(`([...document.querySelectorAll('[data-testid=figures] > div')]
		.find(r => r.querySelector('dt').textContent === %q)?.querySelector('dd').textContent ?? '')`, name)
}

// TestConnectionTest: a participant sees what their connection is like, and copies it for support.
func TestConnectionTest(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	a := w.a.on(t)
	d := testkit.Device{Width: 1280, Height: 800, Script: keepClipboard}
	p := a.join(d, map[string]any{"room": "lines", "name": "Ada", "video": true})
	bob := a.join(small, map[string]any{"room": "lines", "name": "Bob", "video": true})
	p.WaitFor(t, seesVideoOf("Bob"))
	script := `performance.getEntriesByType('resource').some(({name}) => name.includes('ConnectionDialog'))`
	if is(t, p, script) {
		t.Error("the script of the test is loaded before the test is opened")
	}
	choose(t, p, "connection-button")
	p.WaitFor(t, found("Service", "works")+" && "+found("Sound and picture", "works")+" && "+found("UDP", "works"))
	// The media server of the tests announces no relay.
	p.WaitFor(t, found("TURN", "absent")+" && "+found("TCP", "untested"))
	for _, name := range []string{"Sent", "Received"} {
		p.WaitFor(t, `/[1-9][0-9,]* *kb/.test(`+figure(name)+`)`)
	}
	p.WaitFor(t, `/[0-9] *ms/.test(`+figure("Delay")+`)`)
	takeScreenshots(t, p, d, "connection")
	checkAccess(t, p, d)
	p.Click(t, by("copy-connection"))
	p.WaitFor(t, `window.copied`)
	copied := testkit.Eval[string](t, p, `window.copied`)
	for _, want := range []string{"Media: direct over udp", "UDP: works", "TURN: absent", "Browser: Mozilla/"} {
		if !strings.Contains(copied, want) {
			t.Errorf("the text for support lacks %q:\n%s", want, copied)
		}
	}
	if secret := regexp.MustCompile(`eyJ|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+:[0-9]+|Ada|lines`).FindString(copied); secret != "" {
		t.Errorf("the text for support tells %q:\n%s", secret, copied)
	}
	// The test did not touch the meeting.
	bob.WaitFor(t, seesVideoOf("Ada"))
	if errs := p.ConsoleErrors(); len(errs) > 0 {
		t.Errorf("console: %q", errs)
	}
}

// TestInviteByQR: the link is a picture that cameras read, in either theme.
func TestInviteByQR(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	d := testkit.Device{Width: 390, Height: 844, Touch: true, Dark: true}
	p := w.a.join(d, map[string]any{"room": "square", "name": "Ada"})
	p.Click(t, by("qr-button"))
	p.WaitFor(t, shows("qr"))
	takeScreenshots(t, p, d, "qr")
	checkAccess(t, p, d)
	// Every code has an eye in three of its corners.
	corners := testkit.Eval[bool](t, p, `(() => {
		const svg = document.querySelector('.qr'), path = svg.querySelector('.qr-dark').getAttribute('d');
		const size = svg.viewBox.baseVal.width, dark = (x, y) => path.includes('M' + x + ' ' + y + 'h1');
		const ring = (left, top, size) => [...Array(size).keys()].flatMap(n => [dark(left + n, top), dark(left, top + n),
			dark(left + n, top + size - 1), dark(left + size - 1, top + n)]);
		const eye = (left, top) => ring(left, top, 7).every(on => on) && !ring(left + 1, top + 1, 5).some(on => on);
		return eye(4, 4) && eye(size - 11, 4) && eye(4, size - 11) && !eye(size - 11, size - 11);
	})()`)
	if !corners {
		t.Error("the picture is no QR code")
	}
	if got, want := testkit.Eval[string](t, p, `document.querySelector('.qr-link').textContent`), w.a.roomURL("square"); got != want {
		t.Errorf("the code is of %s, want %s", got, want)
	}
	p.Press(t, "\x1b")
	p.WaitFor(t, hasNo("qr"))
}
