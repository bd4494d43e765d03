// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// TestACrashedTabComesBack as the same participant, also into a meeting that is full and locked, by a ticket as by the room's link. Nobody
// else does: not under another name, not with a tab that was duplicated, and not after leaving.
func TestACrashedTabComesBack(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t, controlled)
	const ownName = `document.querySelector('[data-testid=tile][data-local=true]').dataset.name`
	const keepsProof = `atob(JSON.parse(sessionStorage.getItem('convene.seat ' + location.pathname + location.search)).session.split('.')[1].
		replaceAll('-', '+').replaceAll('_', '/')).match(/"o":"[a-z]*i/)`
	const identity = `document.querySelector('[data-testid=room]').dataset.identity`
	for way, link := range map[string]func(room string) string{
		"ticket": func(room string) string { return w.a.link(map[string]any{"room": room, "name": "Ada"}) },
		"link":   func(room string) string { return w.a.roomURL(room) + "?name=Ada" },
	} {
		t.Run(way, func(t *testing.T) {
			room := "crash-" + way
			path := "/api/v1/meeting/" + room
			w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
			w.a.enter(map[string]any{"room": room, "name": "Ada"}) // A namesake, who stays.
			address := link(room)
			ada := testkit.Browser(t).OpenOn(t, small, address)
			enter := func() {
				t.Helper()
				if way == "link" {
					ada.Click(t, by("join-button"))
				}
				ada.WaitFor(t, inRoom)
			}
			enter()
			was := testkit.Eval[string](t, ada, identity)
			name := testkit.Eval[string](t, ada, ownName)
			ada.WaitFor(t, keepsProof)
			w.a.want(http.StatusOK, "PATCH", path, map[string]any{"locked": true, "maxParticipants": 2})

			ada.Crash(t)
			ada.Reload(t)
			enter()
			if is := testkit.Eval[string](t, ada, identity); is != was {
				t.Errorf("after the crash Ada is %s, and was %s", is, was)
			}
			if people := w.identities(t, room, 2); len(people) != 2 {
				t.Errorf("%v are in", people)
			}
			ada.WaitFor(t, fmt.Sprintf(`%s === %q`, ownName, name))

			ada.Reload(t)
			enter()
			if is := testkit.Eval[string](t, ada, identity); is != was {
				t.Errorf("after a reload Ada is %s, and was %s", is, was)
			}
			// Another tab than the one that crashed: it has nothing of its own.
			ada.Crash(t)
			ada.Goto(t, w.a.baseURL+"/robots.txt")
			testkit.Eval[any](t, ada, `sessionStorage.clear()`)
			ada.Goto(t, address)
			enter()
			if is := testkit.Eval[string](t, ada, identity); is != was {
				t.Errorf("in another tab Ada is %s, and was %s", is, was)
			}
			if people := w.identities(t, room, 2); len(people) != 2 {
				t.Errorf("%v are in", people)
			}
			ada.Click(t, by("leave-button"))
			ada.WaitFor(t, `!localStorage['convene.seat ' + location.pathname + location.search]`)
			ada.Click(t, by("rejoin-button"))
			ada.WaitFor(t, inRoom)
			if is := testkit.Eval[string](t, ada, identity); is != was {
				t.Errorf("after leaving Ada is %s, and was %s", is, was)
			}
		})
	}
}
