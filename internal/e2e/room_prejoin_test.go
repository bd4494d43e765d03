// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"net/http"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// startsLate has the browser name and open no device until start is called, as one does that asks for permission.
const startsLate = `(media => {
	const list = media.enumerateDevices.bind(media), open = media.getUserMedia.bind(media);
	const allowed = new Promise(resolve => window.start = resolve);
	let started = false;
	allowed.then(() => started = true);
	media.enumerateDevices = async () => started ? list() : [];
	media.getUserMedia = async wanted => { await allowed; return open(wanted); };
})(navigator.mediaDevices);`

// What comes and goes when the devices start does not move the button that a participant is about to press.
func TestDevicesDoNotMoveTheWayIn(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "steady"})
	for _, c := range []struct {
		name   string
		device testkit.Device
	}{{"telephone", phone}, {"telephone on its side", phoneOnItsSide}, {"desk", desk}} {
		t.Run(c.name, func(t *testing.T) {
			c.device.Script = startsLate
			p := testkit.Browser(t).OpenOn(t, c.device, w.a.roomURL("steady"))
			defer p.Close()
			const at = `Math.round(document.querySelector('[data-testid=join-button]').getBoundingClientRect().top)`
			p.WaitFor(t, shows("join-button")+" && "+shows("no-devices"))
			before := testkit.Eval[int](t, p, at)
			testkit.Eval[any](t, p, "start()")
			p.WaitFor(t, shows("mic-picker")+" && "+shows("camera-picker")+" && "+shows("mic-level")+" && !"+shows("no-devices"))
			if after := testkit.Eval[int](t, p, at); after != before {
				t.Errorf("it moved from %d to %d pixels below the top", before, after)
			}
		})
	}
}
