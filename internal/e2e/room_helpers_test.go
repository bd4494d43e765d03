// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// small is a window that costs little to draw.
var small = testkit.Device{Width: 640, Height: 480}

// fitsWidth is true of a page that needs no scrolling from side to side.
const fitsWidth = `document.documentElement.scrollWidth <= innerWidth`

// What pages are waited for.
const (
	inRoom  = `document.querySelector('[data-testid=room][data-phase=live]')`
	anyTile = `document.querySelector('[data-testid=tile]')`
)

// shows is true while an element with the test id is there.
func shows(testID string) string {
	return fmt.Sprintf(`!!document.querySelector('[data-testid=%q]')`, testID)
}

func hasNo(testID string) string { return shows(testID)[1:] }

func by(testID string) string { return fmt.Sprintf("[data-testid=%q]", testID) }

// tileOf is the tile of a participant, by name.
func tileOf(name string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('[data-testid=tile]')].find(t => t.dataset.name === %s)`, quote(name))
}

// seenWith is true of a page on which a participant's tile has this state.
func seenWith(name, state string) string {
	return fmt.Sprintf(`(%s)?.matches(%s)`, tileOf(name), quote(state))
}

// seesVideoOf is true once moving pictures of a participant play.
func seesVideoOf(name string) string {
	return fmt.Sprintf(`(v => v && v.videoWidth > 0 && v.currentTime > 0)((%s)?.querySelector('video'))`, tileOf(name))
}

// errorScreen is true while the page says this reason.
func errorScreen(reason string) string {
	return fmt.Sprintf(`document.querySelector('[data-testid=error-screen]')?.dataset.reason === %q`, reason)
}

// quote is a value as JavaScript writes it.
func quote(value any) string {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// on is the account for the calls of one subtest.
func (a account) on(t testing.TB) account {
	a.t = t
	return a
}

// link is a join link.
func (a account) link(options map[string]any) string {
	a.t.Helper()
	return a.insist(http.StatusOK, "POST", "/api/v1/join", options).text("join")
}

// presenterToken is a token whose holder presents.
func (a account) presenterToken(username string) string {
	a.t.Helper()
	return a.want(http.StatusOK, "POST", "/api/v1/token", map[string]any{
		"username": username, "password": "x", "presenter": true, "expire": "1h",
	}).text("token")
}

// withSession calls the gateway as the page of a participant who is in, and returns the status.
func (a account) withSession(e entry, path string, body map[string]any) int {
	a.t.Helper()
	request, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.baseURL+"/"+path, strings.NewReader(quote(body)))
	if err != nil {
		a.t.Fatal(err)
	}
	request.Header.Set("Convene-Session", e.Session)
	return a.do(request).status
}

// join opens a join link and returns when its holder is in.
func (a account) join(on testkit.Device, options map[string]any) *testkit.Page {
	a.t.Helper()
	p := testkit.Browser(a.t).OpenOn(a.t, on, a.link(options))
	p.WaitFor(a.t, inRoom)
	return p
}

// roomURL is the link of a room.
func (a account) roomURL(room string) string { return a.baseURL + "/join/" + url.PathEscape(room) }

// dismissNotices clears the view.
func dismissNotices(t testing.TB, p *testkit.Page) {
	t.Helper()
	p.WaitFor(t, `(document.querySelectorAll('[data-testid=notice] button:not([data-testid=notice-offer])').forEach(b => b.click()), !document.querySelector('[data-testid=notice]'))`)
}

// identityIn is the identity of the participant whose page is given.
func identityIn(t testing.TB, p *testkit.Page) string {
	t.Helper()
	return testkit.Eval[string](t, p, `document.querySelector('[data-testid=room]').dataset.identity`)
}

// rowOf is the row of a participant in the list of people.
func rowOf(name string) string { return `[data-testid=participant-row][data-name=` + quote(name) + `]` }

// openRow opens the menu of a row, in which a presenter finds what to do.
func openRow(t testing.TB, p *testkit.Page, row string) {
	t.Helper()
	p.Click(t, row+" "+by("act-menu"))
	p.WaitFor(t, `document.querySelector('[role=menu]')`)
}

// actOn does one thing from the menu of a row.
func actOn(t testing.TB, p *testkit.Page, name, act string) {
	t.Helper()
	openRow(t, p, rowOf(name))
	p.Click(t, by(act))
	p.WaitFor(t, `!document.querySelector('[role=menu]')`)
}

// offers waits until the menu of a row has what is asked for, and closes it again.
func offers(t testing.TB, p *testkit.Page, name, menu string) {
	t.Helper()
	openRow(t, p, rowOf(name))
	p.WaitFor(t, menu)
	p.Press(t, "\x1b")
	p.WaitFor(t, `!document.querySelector('[role=menu]')`)
}

// presents is true of the page of a presenter.
const presents = `document.querySelector('[data-testid=room][data-presenter=true]')`

// is evaluates a condition now.
func is(t testing.TB, p *testkit.Page, condition string) bool {
	t.Helper()
	return testkit.Eval[bool](t, p, "Boolean("+condition+")")
}

// axe is the source of axe-core, which knows the rules of WCAG.
var axe = sync.OnceValues(func() (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(filepath.Join(root, "../web/ui/node_modules/axe-core/axe.min.js"))
	return string(source), err
})

// axeRules are all of WCAG 2.2 AA that a machine can judge, and what its authors recommend beyond.
const axeRules = `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']`

// checkAccess fails the test for each barrier that the page has as it stands, in both themes.
func checkAccess(t testing.TB, p *testkit.Page, d testkit.Device) {
	t.Helper()
	source, err := axe()
	if err != nil {
		t.Fatalf("axe-core is not installed: run `make web`: %v", err)
	}
	testkit.Eval[bool](t, p, source+"\n;true")
	// Without motion, so that no colour is caught on its way. Only colours differ between the themes.
	d.Still = true
	for _, c := range []struct {
		dark  bool
		rules string
	}{{true, `['color-contrast']`}, {false, axeRules}} {
		d.Dark = c.dark
		p.Use(t, d)
		found := testkit.Eval[[]string](t, p, `axe.run(document, {runOnly: `+c.rules+`}).then(({violations}) =>
			violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.html + '\n' + n.failureSummary)))`)
		for _, barrier := range found {
			t.Errorf("dark: %t: %s", c.dark, barrier)
		}
	}
}

// takeScreenshots keeps pictures in both themes when `make screenshots` asks for them.
func takeScreenshots(t testing.TB, p *testkit.Page, d testkit.Device, name string) {
	t.Helper()
	if os.Getenv("CONVENE_SCREENSHOTS") == "" {
		return
	}
	d.Still = true
	for _, d.Dark = range []bool{true, false} {
		p.Use(t, d)
		p.Screenshot(t, strings.ReplaceAll(name, " ", "-")+map[bool]string{true: "-dark"}[d.Dark])
	}
}

// openPanel opens chat or participants, unless it is open.
func openPanel(t testing.TB, p *testkit.Page, panel string) {
	t.Helper()
	if !is(t, p, shows(panel)) {
		// A narrow bar has some of its buttons in the menu.
		if is(t, p, hasNo(panel+"-toggle")) {
			p.Click(t, by("more-menu"))
		}
		p.Click(t, by(panel+"-toggle"))
	}
	p.WaitFor(t, shows(panel))
}

// textOf is what an element says.
func textOf(t testing.TB, p *testkit.Page, testID string) string {
	t.Helper()
	return testkit.Eval[string](t, p, fmt.Sprintf(`document.querySelector('[data-testid=%q]').innerText`, testID))
}

// sent is what GET participants shows that a participant sends.
func (a account) sent(room, identity string) (sources string) {
	a.t.Helper()
	var listed struct {
		Participants []struct {
			Identity string
			Media    struct{ Audio, Video, Screen bool }
		}
	}
	if err := json.Unmarshal([]byte(a.want(http.StatusOK, "GET", "/api/v1/meeting/"+room+"/participants", nil).raw), &listed); err != nil {
		a.t.Fatal(err)
	}
	found := false
	for _, p := range listed.Participants {
		if p.Identity != identity {
			continue
		}
		found = true
		for _, s := range []struct {
			name string
			on   bool
		}{{"audio ", p.Media.Audio}, {"video ", p.Media.Video}, {"screen ", p.Media.Screen}} {
			if s.on {
				sources += s.name
			}
		}
	}
	if !found {
		a.t.Fatalf("%s is not listed: %+v", identity, listed)
	}
	return sources
}

// micLocked is that the participant may not switch the microphone on.
const micLocked = `document.querySelector('[data-testid=mic-toggle][aria-disabled=true] [data-testid=mic-locked]')`
