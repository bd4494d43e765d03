// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// TestTheSameLinkTwice: a participant who opens their link in a second tab is told so before they hear themselves.
func TestTheSameLinkTwice(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	link := w.a.link(map[string]any{"room": "twice", "name": "Ada"})
	p := testkit.Browser(t).OpenOn(t, small, link)
	p.WaitFor(t, inRoom)
	// Tabs of one browser share its locks.
	openSecond(t, p, link)
	const second = `second.document.querySelector(`
	p.WaitFor(t, second+`'[data-testid=error-screen][data-reason=AlreadyIn]')`)
	if is(t, p, `document.querySelectorAll('[data-testid=tile]').length > 1`) {
		t.Error("the second tab is in before its participant has chosen")
	}
	testkit.Eval[bool](t, p, `(`+second+`'[data-testid=retry-button]').click(), true)`)
	p.WaitFor(t, second+`'[data-testid=room][data-phase=live]')`)
	p.WaitFor(t, `document.querySelectorAll('[data-testid=tile]').length === 2`)
	testkit.Eval[bool](t, p, `(second.close(), true)`)
	p.WaitFor(t, `document.querySelectorAll('[data-testid=tile]').length === 1`)
	// A reload is no second tab.
	p.Reload(t)
	p.WaitFor(t, inRoom)

	// A visitor by the room's own link reads it in the form.
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "again"})
	visitor := testkit.Browser(t).OpenOn(t, small, w.a.roomURL("again")+"?name=Bob")
	visitor.Click(t, by("join-button"))
	visitor.WaitFor(t, inRoom)
	openSecond(t, visitor, w.a.roomURL("again")+"?name=Bob")
	visitor.WaitFor(t, second+`'[data-testid=already-in]')`)
}

// openSecond opens an address in a second tab of a page's browser, on a press, since browsers open none without. The test looks into
// it through the first, as window.second.
func openSecond(t *testing.T, p *testkit.Page, address string) {
	t.Helper()
	testkit.Eval[bool](t, p, fmt.Sprintf(`(document.querySelector('h1').addEventListener('click', () => window.second = open(%q), {once: true}), true)`, address))
	p.Click(t, "h1")
	p.WaitFor(t, `window.second?.document.readyState === 'complete' && second.location.href !== 'about:blank'`)
}

// TestOneSeesWhereOneGoes: on the way in and after the end the page names the room, and the way in can be left.
func TestOneSeesWhereOneGoes(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	const room = "quarterly_review_of_the_finance_department_of_2026_and_2027" // No line breaks in it.
	d := phone
	// The gateway's answer stays away until the test lets it come.
	d.Script = `(fetch => window.fetch = async (...request) => {
		if (String(request[0]).endsWith('/session') && request[1]?.method === 'POST') await new Promise(resolve => window.answer = resolve);
		return fetch(...request);
	})(window.fetch)`
	p := testkit.Browser(t).OpenOn(t, d, w.a.link(map[string]any{"room": room, "name": "Ada"}))
	p.WaitFor(t, fmt.Sprintf(`%s && document.querySelector('[data-testid=joining]').innerText.includes(%q) && window.answer && %s`, shows("joining"), room, fitsWidth))
	checkAccess(t, p, phone)
	takeScreenshots(t, p, phone, "joining")
	p.Click(t, by("cancel-joining"))
	p.WaitFor(t, shows("left"))
	p.Click(t, by("rejoin-button"))
	p.WaitFor(t, shows("joining")+` && (window.answer(), true)`)
	p.WaitFor(t, inRoom)
	// How long it was counts from before the reload.
	p.WaitFor(t, `(window.since ??= performance.now(), performance.now() - since > 3000)`)
	p.Reload(t)
	p.WaitFor(t, `window.answer && (window.answer(), true)`)
	p.WaitFor(t, inRoom)
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, map[string]any{"redirect": ""})
	p.WaitFor(t, fmt.Sprintf(`document.querySelector('[data-testid=ended]')?.innerText.includes(%q) && %s`, room, fitsWidth))
	p.WaitFor(t, `(said => said[1] * 60 + +said[2] >= 3)(document.querySelector('[data-testid=ended-length]').innerText.match(/^You were in for (\d+):(\d\d)\.$/))`)
	checkAccess(t, p, phone)
	takeScreenshots(t, p, phone, "ended length")
}

// TestTheEndIsAnnounced: notices say it when five minutes are left, and when it is the last one.
func TestTheEndIsAnnounced(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	long := w.a.join(small, map[string]any{"room": "long", "name": "Ada", "duration": "00:05:15"})
	short := w.a.join(small, map[string]any{"room": "short", "name": "Bob", "duration": "00:01:15"})
	const noticed = `[...document.querySelectorAll('[role=status] [data-testid=notice]')].some(n => n.innerText.includes(%q))`
	long.WaitFor(t, fmt.Sprintf(noticed, "This meeting ends in 5 minutes."))
	short.WaitFor(t, fmt.Sprintf(noticed, "This meeting ends in 1 minute."))
}
