// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"net/http"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

// TestASnapshotOfEtcdBringsEverythingBack: what came after it is gone, what was there before goes on, a call that is
// running among it.
func TestASnapshotOfEtcdBringsEverythingBack(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	w := newWorldWith(t, testkit.OwnControlPlane(t), testkit.ManagerOptions{})
	e := w.a.mustEnter(map[string]any{"room": "board", "name": "Ada", "ticket": w.a.ticket(map[string]any{"room": "board", "name": "Ada", "roomPassword": "sesame"})})
	// Past the gateway: its only replica is going to be restarted.
	e.Engine.URL = w.livekit.URL
	p := e.connect(t)
	w.eventually(t, w.hasPeople("board", 1))
	ticket := w.a.ticket(map[string]any{"room": "board", "name": "Grace", "roomPassword": "sesame"})
	token := w.a.want(http.StatusOK, "POST", "/api/v1/token", map[string]any{"username": "ada", "password": "x"}).text("token")

	restore := w.SaveEtcd(t)
	w.eventually(t, func() error {
		return w.a.try("POST", "/api/v1/meeting", `{"room":"late"}`)
	})
	w.manager.Stop()
	restore()
	w.manager.Start(t)

	w.eventually(t, w.hasPeople("board", 1))
	if late := w.meetingsOf(t, "late"); len(late) > 0 {
		t.Errorf("a meeting from after the snapshot is back: %+v", late)
	}
	select {
	case reason := <-p.Disconnected():
		t.Errorf("the call that was running was cut: %s", reason)
	default:
	}
	w.a.mustEnter(map[string]any{"room": "board", "name": "Grace", "ticket": ticket})
	w.a.mustEnter(map[string]any{"room": "board", "name": "Ada", "session": e.Session})
	w.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "other", "name": "Ada", "token": token})
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/board", nil)
	select {
	case <-p.Disconnected():
	case <-time.After(patience):
		t.Error("a participant is still in a meeting that has ended")
	}
}
