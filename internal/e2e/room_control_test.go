// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// backend makes the calls of the extension control about a stage.
type backend struct {
	*stage
	t *testing.T
}

// does makes a call below the meeting's path.
func (b backend) does(method, path string, body map[string]any) {
	b.t.Helper()
	b.on(b.t).want(http.StatusOK, method, "/api/v1/meeting/"+url.PathEscape(b.room)+path, body)
}

// about makes a call about a participant whose page is given.
func (b backend) about(p *testkit.Page, method string, body map[string]any) {
	b.t.Helper()
	b.does(method, "/participants/"+identityIn(b.t, p), body)
}

// TestPagesShowWhatTheAPIDecides: what a backend changes of a running meeting, the pages of two and three participants obey and show.
func TestPagesShowWhatTheAPIDecides(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t, controlled)
	for name, look := range map[string]func(*testing.T, backend){
		"length":            changesTheLength,
		"lock and policy":   rulesByREST,
		"one participant":   decidesAboutOne,
		"notices":           sendsNotices,
		"admission":         admitsByREST,
		"a limit of people": limitsPeople,
	} {
		t.Run(name, func(t *testing.T) { look(t, backend{w.a.on(t).stage(name), t}) })
	}
}

func changesTheLength(t *testing.T, b backend) {
	for _, p := range []*testkit.Page{b.chair, b.guest} {
		p.WaitFor(t, hasNo("countdown"))
	}
	for _, change := range []struct{ length, shows string }{
		{"01:30:00", `/^1:2\d:\d\d$/`}, {"02:30:00", `/^2:2\d:\d\d$/`}, {"00:40:00", `/^3\d:\d\d$/`},
	} {
		b.does("PATCH", "", map[string]any{"duration": change.length})
		for _, p := range []*testkit.Page{b.chair, b.guest} {
			p.WaitFor(t, fmt.Sprintf(`%s.test(document.querySelector('[data-testid=countdown]')?.innerText.trim())`, change.shows))
		}
	}
	b.does("PATCH", "", map[string]any{"duration": "unlimited"})
	for _, p := range []*testkit.Page{b.chair, b.guest} {
		p.WaitFor(t, hasNo("countdown"))
	}
	over := farewell(t) + "?to=over"
	b.does("PATCH", "", map[string]any{"duration": "00:00:01", "redirect": over})
	for _, p := range []*testkit.Page{b.chair, b.guest} {
		p.WaitForURL(t, over)
	}
}

func rulesByREST(t *testing.T, b backend) {
	b.does("PATCH", "", map[string]any{"locked": true, "policy": map[string]any{"microphone": "Presenters", "chat": "Presenters"}})
	b.guest.WaitFor(t, shows("locked")+" && "+micLocked)
	b.chair.WaitFor(t, seenWith("Guest", "[data-muted=true]"))
	openPanel(t, b.guest, "chat")
	b.guest.WaitFor(t, shows("chat-locked")+" && "+hasNo("chat-input"))
	b.about(b.guest, "PATCH", map[string]any{"grantedSources": []string{"Microphone"}})
	b.guest.WaitFor(t, "!"+micLocked)
	b.does("PATCH", "", map[string]any{"policy": map[string]any{"microphone": "Presenters"}})
	b.guest.WaitFor(t, micLocked)
	b.does("PATCH", "", map[string]any{"locked": false, "policy": nil})
	b.guest.WaitFor(t, hasNo("locked")+" && !"+micLocked+" && "+shows("chat-input"))
}

func decidesAboutOne(t *testing.T, b backend) {
	b.about(b.guest, "PATCH", map[string]any{"muted": true})
	b.guest.WaitFor(t, micLocked)
	b.chair.WaitFor(t, seenWith("Guest", "[data-muted=true]"))
	b.about(b.guest, "PATCH", map[string]any{"muted": false, "sources": []string{"Microphone"}})
	b.guest.WaitFor(t, "!"+micLocked+" && "+shows("camera-locked")+" && "+shows("screen-locked"))
	b.guest.Click(t, by("mic-toggle"))
	b.chair.WaitFor(t, seenWith("Guest", "[data-muted=false]"))
	b.about(b.guest, "PATCH", map[string]any{"hand": true, "sources": nil})
	b.chair.WaitFor(t, seenWith("Guest", ":has(.tile-hand)"))
	b.guest.WaitFor(t, `document.querySelector('[data-testid=hand-toggle]').ariaPressed === 'true' && `+hasNo("camera-locked"))
	b.about(b.guest, "PATCH", map[string]any{"role": "Presenter"})
	b.guest.WaitFor(t, presents)
	openPanel(t, b.chair, "participants")
	b.chair.WaitFor(t, `document.querySelector(`+quote(rowOf("Guest"))+`)?.innerText.includes('Presenter')`)
	openPanel(t, b.guest, "participants")
	offers(t, b.guest, "Chair", shows("act-remove")+" && "+shows("act-demote"))
	b.about(b.guest, "PATCH", map[string]any{"role": nil, "hand": false})
	b.guest.WaitFor(t, "!"+presents)
	b.chair.WaitFor(t, seenWith("Guest", ":not(:has(.tile-hand))"))
	b.about(b.guest, "DELETE", nil)
	b.guest.WaitFor(t, errorScreen("Removed"))
	b.chair.WaitFor(t, "!"+tileOf("Guest"))
}

func sendsNotices(t *testing.T, b backend) {
	read := func(text string) string {
		return `document.querySelector('.lane [role=alert]')?.innerText.includes(` + quote(text) + `)`
	}
	b.does("POST", "/announcements", map[string]any{"text": "Lunch is at noon"})
	for _, p := range []*testkit.Page{b.chair, b.guest} {
		p.WaitFor(t, read("Lunch is at noon"))
	}
	b.does("POST", "/announcements", map[string]any{"text": "You are next", "to": identityIn(t, b.guest)})
	b.guest.WaitForText(t, "You are next")
	b.does("POST", "/announcements", map[string]any{"text": "The last one"})
	b.chair.WaitForText(t, "The last one")
	if is(t, b.chair, `document.body.innerText.includes('You are next')`) {
		t.Error("the chair reads what is for the guest")
	}
}

func admitsByREST(t *testing.T, b backend) {
	b.does("PATCH", "", map[string]any{"admission": "Ask"})
	ann, bob, eve := b.knocks(t, "Ann", "Ask"), b.knocks(t, "Bob", "Ask"), b.knocks(t, "Eve", "Ask")
	openPanel(t, b.chair, "participants")
	for _, name := range []string{"Ann", "Bob", "Eve"} {
		b.chair.WaitFor(t, sees(waitingRow(name)))
	}
	identity := func(p *testkit.Page) string { return testkit.Eval[string](t, p, `opened.you.identity`) }
	b.does("PATCH", "/participants/"+identity(ann), map[string]any{"admitted": true})
	ann.WaitFor(t, inRoom)
	b.chair.WaitFor(t, tileOf("Ann")+" && !"+sees(waitingRow("Ann")))
	b.does("DELETE", "/participants/"+identity(eve), nil)
	eve.WaitFor(t, shows("error-screen"))
	b.chair.WaitFor(t, "!"+sees(waitingRow("Eve"))+" && "+sees(waitingRow("Bob")))
	b.does("PATCH", "", map[string]any{"admitAll": true})
	bob.WaitFor(t, inRoom)
	b.guest.WaitFor(t, tileOf("Bob")+" && !"+tileOf("Eve"))
}

func limitsPeople(t *testing.T, b backend) {
	b.does("PATCH", "", map[string]any{"maxParticipants": 2})
	late := testkit.Browser(t).OpenOn(t, small, b.link(map[string]any{"room": b.room, "name": "Late"}))
	defer late.Close()
	late.WaitFor(t, errorScreen("Full"))
	b.does("PATCH", "", map[string]any{"maxParticipants": 3})
	late.Click(t, by("retry-button"))
	late.WaitFor(t, inRoom)
	b.chair.WaitFor(t, tileOf("Late"))
}
