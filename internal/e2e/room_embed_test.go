// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// embedder is a site that shows what ?room= names in an iframe, and keeps what it is told.
func embedder(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><title>Site</title><script>
			window.told = [];
			addEventListener('message', e => e.data?.source === 'convene' && told.push({...e.data, origin: e.origin}));
		</script><iframe id=meeting width=900 height=600 allow="%s" src="%s"></iframe>`, r.URL.Query().Get("allow"), r.URL.Query().Get("src"))
	}))
	t.Cleanup(server.Close)
	return server
}

// TestEmbedding: the page works in an iframe of an allowed site and tells it what happens; another site sees nothing.
func TestEmbedding(t *testing.T) {
	friend, stranger := embedder(t), embedder(t)
	// Another host than the gateway's, so that the browser has to keep the two apart.
	friendly := strings.Replace(friend.URL, "127.0.0.1", "localhost", 1)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Web = &v1alpha1.WebSpec{EmbedOrigins: []string{friendly, "https://*.example.com"}}
	})
	link := w.a.link(map[string]any{"room": "inside", "name": "Ada", "video": true})
	show := func(site, allow string) *testkit.Page {
		return testkit.Browser(t).Open(t, site+"/?allow="+allow+"&src="+strings.ReplaceAll(strings.ReplaceAll(link, "&", "%26"), "+", "%2B"))
	}
	const events = `told.map(m => m.event + (m.reason ? ' ' + m.reason : '')).join(', ')`

	t.Run("an allowed site is told", func(t *testing.T) {
		p := show(friendly, "camera;microphone;display-capture;fullscreen;screen-wake-lock")
		defer p.Close()
		p.WaitFor(t, events+` === 'joined'`)
		if got, want := testkit.Eval[string](t, p, `told[0].origin + ' ' + told[0].room + ' ' + told[0].name`), w.a.baseURL+" inside Ada"; got != want {
			t.Errorf("it is told %q, want %q", got, want)
		}
		w.eventually(t, w.hasPeople("inside", 1))
		to := farewell(t)
		w.a.on(t).want(http.StatusOK, "DELETE", "/api/v1/meeting/inside", map[string]any{"redirect": to})
		p.WaitFor(t, events+` === 'joined, ended'`)
		if got := testkit.Eval[string](t, p, `told[1].redirect`); got != to {
			t.Errorf("it is told that people go to %q, want %q", got, to)
		}
	})
	t.Run("without permissions the camera is missing, and nothing else", func(t *testing.T) {
		link = w.a.on(t).link(map[string]any{"room": "plain", "name": "Ada", "video": true})
		p := show(friendly, "")
		defer p.Close()
		p.WaitFor(t, events+` === 'joined'`)
		w.eventually(t, w.hasPeople("plain", 1))
	})
	t.Run("another site neither shows it nor is told", func(t *testing.T) {
		p := show(stranger.URL, "camera")
		defer p.Close()
		w.eventually(t, func() error {
			for _, said := range p.ConsoleErrors() {
				if strings.Contains(said, "frame-ancestors") {
					return nil
				}
			}
			return fmt.Errorf("the browser has not refused: %q", p.ConsoleErrors())
		})
		if told := testkit.Eval[string](t, p, events); told != "" {
			t.Errorf("it is told %s", told)
		}
	})
}
