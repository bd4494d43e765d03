// SPDX-License-Identifier: Apache-2.0

//go:build slow

package testkit_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/testkit"
)

const cameraPage = `<!doctype html><title>camera</title>
<input id="name"><button id="go" onclick="document.title='hello '+document.getElementById('name').value">go</button>
<video id="v" autoplay muted></video>
<script>
navigator.mediaDevices.getUserMedia({audio: true, video: true}).then(s => document.getElementById('v').srcObject = s);
localStorage.setItem('visits', 1 + Number(localStorage.getItem('visits')));
console.error('something', 'went', 1);
setTimeout(() => { throw new Error('uncaught thing') });
</script>`

func TestBrowser(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(cameraPage))
	}))
	t.Cleanup(site.Close)
	b := testkit.Browser(t)
	one, two := b.Open(t, site.URL+"/one"), b.Open(t, site.URL+"/two")
	for _, p := range []*testkit.Page{one, two} {
		p.WaitFor(t, "document.getElementById('v').videoWidth > 0")
		if visits := testkit.Eval[string](t, p, "localStorage.getItem('visits')"); visits != "1" {
			t.Fatalf("visits %s: two people share a browser's storage", visits)
		}
	}
	one.Type(t, "#name", "Zoë")
	one.Click(t, "#go")
	one.WaitFor(t, "document.title == 'hello Zoë'")
	one.Screenshot(t, "testkit")

	testkit.Eventually(t, 30*time.Second, func() error {
		errs := strings.Join(one.ConsoleErrors(), "\n")
		for _, want := range []string{"something went 1", "uncaught thing"} {
			if !strings.Contains(errs, want) {
				return fmt.Errorf("no %q in %q", want, errs)
			}
		}
		return nil
	})
	if got := two.Requests(); len(got) == 0 || got[0] != site.URL+"/two" {
		t.Fatalf("requests: %v", got)
	}
	two.Goto(t, site.URL+"/three")
	two.WaitForURL(t, site.URL+"/three")
}

// TestOffline: a page that goes offline loses the connections it has and gets no new ones, and no other page notices.
func TestOffline(t *testing.T) {
	const counts = `<script>
let said = 0, lost = false;
const events = new EventSource('/events');
events.onmessage = () => { said++ };
events.onerror = () => { lost = true };
const reaches = () => fetch('/').then(() => true, () => false);
</script>`
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(counts))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range time.Tick(20 * time.Millisecond) {
			if r.Context().Err() != nil {
				return
			}
			_, _ = w.Write([]byte("data: more\n\n"))
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(site.Close)
	b := testkit.Browser(t)
	one, two := b.Open(t, site.URL+"/one"), b.Open(t, site.URL+"/two")
	for _, p := range []*testkit.Page{one, two} {
		p.WaitFor(t, "said > 0 && navigator.onLine && reaches()")
	}
	one.Offline(t, true)
	one.WaitFor(t, "lost && !navigator.onLine && reaches().then(yes => !yes)")
	before := testkit.Eval[int](t, two, "said")
	two.WaitFor(t, fmt.Sprintf("said > %d && !lost && navigator.onLine && reaches()", before))
	one.Offline(t, false)
	one.WaitFor(t, "navigator.onLine && reaches()")
}
