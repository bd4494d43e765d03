// SPDX-License-Identifier: Apache-2.0

//go:build slow

package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/testkit"
)

// TestVisitorsDuringAnUpdate: behind one address are two versions of the page, and each request goes to the other one. Every
// visitor gets a page that works.
func TestVisitorsDuringAnUpdate(t *testing.T) {
	l := newLiveSite(t)
	var versions [2]http.Handler
	for i, mark := range []string{"old-", "new-"} {
		h, err := newHandler(Options{Tenants: fakeTenants{l.tenant}, Meetings: l.meetings, ClusterTime: l.ClusterTime}, built(t, mark))
		if err != nil {
			t.Fatal(err)
		}
		versions[i] = l.route(h)
	}
	var requests, missed atomic.Int64
	balancer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/session") || strings.HasPrefix(r.URL.Path, "/media-server") {
			versions[0].ServeHTTP(w, r) // What a replica keeps of a call is not what is looked at here.
			return
		}
		counted := &statusCounter{ResponseWriter: w, missed: &missed}
		versions[requests.Add(1)%2].ServeHTTP(counted, r)
	}))
	t.Cleanup(balancer.Close)
	l.tenant.BaseURL = balancer.URL
	l.tenant.Hosts = []string{strings.TrimPrefix(balancer.URL, "http://")}
	for i := range 4 {
		visits := map[string]string{
			balancer.URL + "/": `document.querySelector('[data-testid=home]')`,
			balancer.URL + "/join/room?name=" + fmt.Sprint("Guest", i): `document.querySelector('[data-testid=prejoin]')`,
			balancer.URL + "/join?room=room&name=Tina&token=" + l.ticket(t, func(k *credential.Ticket) {
				k.Name = fmt.Sprint("Tina", i)
			}): `document.querySelector('[data-testid=room][data-phase=live]')`,
		}
		for at, shown := range visits {
			page := testkit.Browser(t).Open(t, at)
			page.WaitFor(t, shown)
			page.Close()
		}
	}
	if missed.Load() == 0 {
		t.Error("no visitor asked the wrong version for a file: this shows nothing")
	}
}

// statusCounter counts the files that were not there.
type statusCounter struct {
	http.ResponseWriter
	missed *atomic.Int64
}

func (s *statusCounter) WriteHeader(status int) {
	if status == http.StatusNotFound {
		s.missed.Add(1)
	}
	s.ResponseWriter.WriteHeader(status)
}
