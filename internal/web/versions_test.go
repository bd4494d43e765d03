// SPDX-License-Identifier: Apache-2.0

package web

import (
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
