// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
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

// tested says that a test of the connection before a meeting is over.
const tested = `document.querySelector('[data-testid=copy-connection]')`

// TestConnectionTestBeforeAMeeting: a person who may enter tests the way to the media server first. This does not
// start the meeting, nobody is counted, and the room of the test is removed.
func TestConnectionTestBeforeAMeeting(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	a := w.a.on(t)
	a.link(map[string]any{"room": "ahead", "name": "Ada", "roomPassword": "sesame"})
	name := w.meetingsOf(t, "ahead")[0].Name
	before, err := w.get(name)
	if err != nil {
		t.Fatal(err)
	}
	d := testkit.Device{Width: 1280, Height: 800, Script: keepClipboard + ";" + paintedCamera}
	p := testkit.Browser(t).OpenOn(t, d, a.roomURL("ahead"))
	defer p.Close()
	p.WaitFor(t, shows("prejoin"))
	if is(t, p, `performance.getEntriesByType('resource').some(({name}) => name.includes('TestDialog'))`) {
		t.Error("the script of the test is loaded before the test is opened")
	}
	p.Click(t, by("test-connection"))
	// What the form has to say first is asked for in the form.
	p.WaitFor(t, shows("password-input")+" && "+hasNo("connection")+" && document.activeElement.dataset.testid === 'password-input'")
	p.Type(t, by("password-input"), "sesame")
	p.Click(t, by("test-connection"))
	p.WaitFor(t, found("Service", "works")+" && "+found("Sound and picture", "works")+" && "+found("UDP", "works"))
	rooms := w.testRooms(t)
	if len(rooms) != 1 {
		t.Fatalf("the rooms of tests are %v", rooms)
	}
	w.eventually(t, func() error {
		people, err := w.engine(t).Participants(t.Context(), rooms[0])
		if err == nil && len(people) != 2 {
			err = fmt.Errorf("%d are in the room of the test", len(people))
		}
		return err
	})
	p.WaitFor(t, tested)
	// The media server of the tests offers neither a relay nor TCP.
	p.WaitFor(t, found("TURN", "absent")+" && "+found("TCP", "absent"))
	for _, name := range []string{"Sent", "Received"} {
		p.WaitFor(t, `/[1-9][0-9,]* *kb/.test(`+figure(name)+`) && /lost/.test(`+figure(name)+`)`)
	}
	p.WaitFor(t, `/[0-9] *ms/.test(`+figure("Delay")+`)`)
	takeScreenshots(t, p, d, "prejoin connection")
	checkAccess(t, p, d)
	p.Click(t, by("copy-connection"))
	p.WaitFor(t, `window.copied`)
	copied := testkit.Eval[string](t, p, `window.copied`)
	for _, want := range []string{"Service: connected", "Media: direct over udp", "UDP: works", "TCP: absent", "TURN: absent", "Browser: Mozilla/"} {
		if !strings.Contains(copied, want) {
			t.Errorf("the text for support lacks %q:\n%s", want, copied)
		}
	}
	if secret := regexp.MustCompile(`eyJ|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+:[0-9]+|ahead|test-`).FindString(copied); secret != "" {
		t.Errorf("the text for support tells %q:\n%s", secret, copied)
	}
	if stats := a.want(http.StatusOK, "GET", "/api/v1/stats", nil); stats.body["totalUsers"] != 0.0 {
		t.Errorf("stats are %s", stats.raw)
	}
	after, err := w.get(name)
	if err != nil {
		t.Fatal(err)
	}
	if after.Generation != before.Generation || len(after.Annotations) != len(before.Annotations) || after.Status.StartTime != nil {
		t.Errorf("the Meeting was %+v %+v, and is %+v %+v", before.ObjectMeta, before.Status, after.ObjectMeta, after.Status)
	}
	p.Press(t, "\x1b")
	p.WaitFor(t, hasNo("connection"))
	w.eventually(t, func() error { return w.hasNoTestRoom(t) })
	p.Type(t, by("name-input"), "Ada")
	p.Click(t, by("join-button"))
	p.WaitFor(t, inRoom)
	// The browser reports that the password was asked for, and nothing else.
	if errs := p.ConsoleErrors(); len(errs) != 1 || !strings.Contains(errs[0], "401 (Unauthorized)") {
		t.Errorf("console: %q", errs)
	}
}

// TestAScriptThatStaysInATest is put out when the time of the test is over, and does not come back.
func TestAScriptThatStaysInATest(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorld(t)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "stay"})
	test := w.a.want(http.StatusOK, "POST", "/session/test", map[string]any{"room": "stay", "name": "Eve"})
	started := time.Now()
	eve, err := peer.Join(t.Context(), test.text("url"), test.text("sender"))
	if err != nil {
		t.Fatal(err)
	}
	defer eve.Close()
	select {
	case <-eve.Disconnected():
	case <-time.After(meeting.TestDuration + 30*time.Second):
		t.Fatal("a script stays in the room of its test")
	}
	if stayed := time.Since(started); stayed < meeting.TestDuration-10*time.Second {
		t.Errorf("it was put out after %s", stayed)
	}
	for _, token := range []string{"sender", "receiver"} {
		if back, err := peer.Join(t.Context(), test.text("url"), test.text(token)); err == nil {
			back.Close()
			t.Errorf("it came back with the token of the %s", token)
		}
	}
	w.eventually(t, func() error { return w.hasNoTestRoom(t) })
}

// testRooms are the media server's rooms in which people test their connections.
func (w *world) testRooms(t *testing.T) (names []engine.RoomName) {
	t.Helper()
	rooms, err := w.engine(t).Rooms(t.Context(), meeting.AllRooms)
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range rooms {
		if meeting.IsTestRoom(room.Name) {
			names = append(names, room.Name)
		}
	}
	return names
}

func (w *world) hasNoTestRoom(t *testing.T) error {
	if rooms := w.testRooms(t); len(rooms) > 0 {
		return fmt.Errorf("there is %v", rooms)
	}
	return nil
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
