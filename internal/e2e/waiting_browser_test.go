// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"net/http"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// TestABrowserWaitsAndComesIn: the page connects to a room in which it may do nothing, keeps its place over a reload, and comes in.
func TestABrowserWaitsAndComesIn(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t, controlled)
	const room, path = "door", "/api/v1/meeting/door"
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room})
	w.a.want(http.StatusOK, "PATCH", path, map[string]any{"admission": "Ask"})
	ann := testkit.Browser(t).Open(t, w.a.link(map[string]any{"room": room, "name": "Ann"}))
	ann.WaitFor(t, shows("waiting-screen"))
	waiting := func() (identity string) {
		t.Helper()
		w.eventually(t, func() error {
			m := w.meetingsOf(t, room)[0].Status
			if m.WaitingCount != 1 {
				return errors.New("nobody waits, or more than Ann")
			}
			identity = m.Waiting[0].Identity
			return nil
		})
		return identity
	}
	before := waiting()
	ann.Reload(t)
	ann.WaitFor(t, shows("waiting-screen"))
	if after := waiting(); after != before {
		t.Errorf("Ann waits as %s, and waited as %s before the reload", after, before)
	}
	w.eventually(t, func() error { // The status may be from before the reload.
		if r := w.a.call("PATCH", path+"/participants/"+before, map[string]any{"admitted": true}); r.status != http.StatusOK {
			return errors.New(r.raw)
		}
		return nil
	})
	ann.WaitFor(t, inRoom)
	w.eventually(t, w.hasPeople(room, 1))
}
