// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"testing"
	"time"
)

// This machine's clock is off: links of other replicas are accepted all the same, and pages count down by the time in which
// meetings end.
func TestTheClustersTimeCounts(t *testing.T) {
	for _, off := range []time.Duration{-10 * time.Minute, 10 * time.Minute} {
		s := newSite(t)
		cluster := s.now
		s.handler = mustHandler(t, s, Options{Tenants: fakeTenants{s.tenant}, ClusterTime: func() time.Time { return cluster }})
		s.router = s.route(s.handler)
		s.meetings.open("room", nil)
		ticket := s.ticket(t, nil)
		s.now = cluster.Add(off)
		got := s.call(t, http.MethodPost, "/session", "", object{"room": "room", "ticket": ticket})
		if got.Code != http.StatusOK {
			t.Fatalf("off by %s, the link: %d %s", off, got.Code, got.Body)
		}
		if now := got.session().Now; !now.Equal(cluster) {
			t.Errorf("off by %s, the page is told that it is %s", off, now)
		}
		if _, err := s.tenant.Signer.VerifySession(got.session().Session, cluster); err != nil {
			t.Errorf("off by %s, the session: %v", off, err)
		}
	}
}
