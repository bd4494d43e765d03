// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/testkit"
)

// built is the room page as it is built, with a mark in the names of all its files: two of them have no file in common.
func built(t *testing.T, mark string) fs.FS {
	t.Helper()
	files, err := fs.Sub(embedded, "dist/assets")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if ext := path.Ext(e.Name()); ext != ".br" && ext != ".gz" {
			names = append(names, e.Name(), mark+e.Name())
		}
	}
	rename := strings.NewReplacer(names...)
	out := fstest.MapFS{}
	for i := 0; i < len(names); i += 2 {
		text, err := fs.ReadFile(files, names[i])
		if err != nil {
			t.Fatal(err)
		}
		out[path.Join("assets", names[i+1])] = &fstest.MapFile{Data: []byte(rename.Replace(string(text)))}
	}
	text, err := fs.ReadFile(embedded, "dist/index.html")
	if err != nil {
		t.Fatal(err)
	}
	out["js/embed.js"] = &fstest.MapFile{}
	out["index.html"] = &fstest.MapFile{Data: []byte(rename.Replace(string(text)))}
	return out
}

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
		if strings.HasPrefix(r.URL.Path, "/session") || strings.HasPrefix(r.URL.Path, "/engine") {
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

// notesFailures keeps, over page loads, whether a page has shown an error or said that the person has left.
const notesFailures = `new MutationObserver(() => document.querySelector('[data-testid=error-screen], [data-testid=left]') &&
	sessionStorage.setItem('failed', document.body.innerText)).observe(document, {childList: true, subtree: true});`

// TestAPartThatComesLate: for more than a second no replica has a part of the room's page. A person who opens a link sees no
// error, and is in the meeting once the part is there.
func TestAPartThatComesLate(t *testing.T) {
	for _, part := range []string{"call-", "RoomScreen-"} {
		t.Run(part, func(t *testing.T) {
			l := newLiveSite(t)
			h, err := newHandler(Options{Tenants: fakeTenants{l.tenant}, Meetings: l.meetings, ClusterTime: l.ClusterTime}, built(t, ""))
			if err != nil {
				t.Fatal(err)
			}
			router := l.route(h)
			var refused atomic.Int64
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/assets/"+part) && refused.Add(1) <= 7 {
					http.NotFound(w, r)
					return
				}
				router.ServeHTTP(w, r)
			}))
			t.Cleanup(front.Close)
			l.tenant.BaseURL = front.URL
			l.tenant.Hosts = []string{strings.TrimPrefix(front.URL, "http://")}
			link := front.URL + "/join?room=room&name=Tina&token=" + l.ticket(t, func(*credential.Ticket) {})
			page := testkit.Browser(t).OpenOn(t, testkit.Device{Script: notesFailures}, link)
			page.WaitFor(t, `document.querySelector('[data-testid=room][data-phase=live]')`)
			if said := testkit.Eval[string](t, page, `sessionStorage.getItem('failed') ?? ''`); said != "" {
				t.Errorf("meanwhile the page said: %s", said)
			}
			if refused.Load() < 7 {
				t.Errorf("the part was asked for %d times: this shows nothing", refused.Load())
			}
		})
	}
}
