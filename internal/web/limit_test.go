// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
	lkpeer "convene.dev/convene/internal/testkit/peer"
)

// A gateway counts who came through it and whom LiveKit lists, which is a moment later. Many who come at once through
// several gateways, or past them all, still find no more places than the meeting has.
func TestPlacesAreCountedOverAllGateways(t *testing.T) {
	const places, each = 2, 3
	l := newLiveSite(t)
	l.tenant.Settings.MaxParticipants = 100
	other := httptest.NewServer(l.route(mustHandler(t, l.site, Options{Tenants: fakeTenants{l.tenant}})))
	t.Cleanup(other.Close)
	l.tenant.Hosts = append(l.tenant.Hosts, strings.TrimPrefix(other.URL, "http://"))
	for i, ways := range [][]string{{l.server.URL + "/media-server", other.URL + "/media-server"}, {l.livekit.URL}} {
		room := fmt.Sprint("room-", i)
		l.view = l.meetings.open(room, func(v *meeting.View) { v.MaxParticipants = places })
		ctx := within(t)
		var came atomic.Int32
		var all sync.WaitGroup
		sessions := map[string]string{}
		for _, way := range ways {
			for range each { // While nobody is in, everybody is told that there is a place.
				sessions[l.open(t, object{"room": room, "name": "Ann"}).Engine.Token] = way
			}
		}
		for token, way := range sessions {
			all.Go(func() {
				if p, err := lkpeer.Join(ctx, way, token); err == nil {
					came.Add(1)
					t.Cleanup(p.Close)
				}
			})
		}
		all.Wait()
		if n := came.Load(); n != places {
			t.Errorf("%d of %d come in through %d ways", n, places, len(ways))
		}
		testkit.Eventually(t, patience, func() error {
			if n := len(l.people(t)); n != places {
				return fmt.Errorf("LiveKit lists %d", n)
			}
			return nil
		})
	}
}
