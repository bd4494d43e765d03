// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// embedder is a site that shows ?src= in an iframe with the permissions ?allow= and the sandbox
// ?sandbox=, or in the documented example, and keeps what it is told.
func embedder(t *testing.T) *httptest.Server {
	example := documentedExample(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		src := r.URL.Query().Get("src")
		frame := fmt.Sprintf(`<iframe width=900 height=600 allow="%s" src="%s"></iframe>`, r.URL.Query().Get("allow"), html.EscapeString(src))
		if sandbox := r.URL.Query().Get("sandbox"); sandbox != "" {
			frame = strings.Replace(frame, "<iframe", `<iframe sandbox="`+sandbox+`"`, 1)
		}
		if r.URL.Path == "/example" {
			service, _, _ := strings.Cut(src, "/join?")
			frame = strings.Replace(example, documentedLink, html.EscapeString(src), 1)
			frame = strings.ReplaceAll(frame, documentedService, service)
		}
		_, _ = fmt.Fprintf(w, `<!doctype html><title>Site</title><script>
			window.told = [];
			addEventListener('message', e => e.data?.source === 'convene' && told.push({...e.data, origin: e.origin}));
		</script>%s`, frame)
	}))
	t.Cleanup(server.Close)
	return server
}

// What stands in the documented example for the service and for a user's link.
const (
	documentedService = "https://meet.example.com"
	documentedLink    = documentedService + "/join?room=board&name=Ada&token=…"
)

// documentedExample is what docs/embedding.md shows.
func documentedExample(t *testing.T) string {
	t.Helper()
	example := inEmbeddingGuide(t, "```html\n", "```")
	if !strings.Contains(example, documentedLink) {
		t.Fatalf("docs/embedding.md has no example with %s", documentedLink)
	}
	return example
}

// inEmbeddingGuide returns what stands first between two texts in docs/embedding.md.
func inEmbeddingGuide(t *testing.T, before, after string) string {
	t.Helper()
	guide, err := os.ReadFile(filepath.Join(testkit.Root(t), "docs", "embedding.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, found, _ := strings.Cut(string(guide), before)
	found, _, ok := strings.Cut(found, after)
	if !ok {
		t.Fatalf("docs/embedding.md has nothing between %q and %q", before, after)
	}
	return found
}

// TestEmbedding: the page works in an iframe of an allowed site and tells it what happens; another site sees nothing.
func TestEmbedding(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	friend, stranger := embedder(t), embedder(t)
	// Another host than the gateway's, so that the browser has to keep the two apart.
	friendly := strings.Replace(friend.URL, "127.0.0.1", "localhost", 1)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Web = &v1alpha1.WebSpec{EmbedOrigins: []string{friendly, "https://*.example.com"}}
	})
	link := w.a.link(map[string]any{"room": "inside", "name": "Ada", "video": true})
	show := func(site, allow string) *testkit.Page {
		return testkit.Browser(t).Open(t, site+"?"+url.Values{"allow": {allow}, "src": {link}}.Encode())
	}
	const events = `told.map(m => m.event + (m.reason ? ' ' + m.reason : '')).join(', ')`

	t.Run("an allowed site is told", func(t *testing.T) {
		p := show(friendly+"/example", "")
		defer p.Close()
		p.WaitFor(t, events+` === 'joined'`)
		if got, want := testkit.Eval[string](t, p, `told[0].origin + ' ' + told[0].room + ' ' + told[0].name`), w.a.baseURL+" inside Ada"; got != want {
			t.Errorf("it is told %q, want %q", got, want)
		}
		w.eventually(t, w.hasPeople("inside", 1))
		to := farewell(t)
		w.a.on(t).want(http.StatusOK, "DELETE", "/api/v1/meeting/inside", map[string]any{"redirect": to})
		p.WaitFor(t, events+` === 'joined, ended' && !document.querySelector('iframe')`)
		if got := testkit.Eval[string](t, p, `told[1].redirect`); got != to {
			t.Errorf("it is told that people go to %q, want %q", got, to)
		}
	})
	t.Run("an allowed site is told of a removal", func(t *testing.T) {
		a := w.a.on(t)
		link = a.link(map[string]any{"room": "strict", "name": "Ada"})
		p := show(friendly+"/example", "")
		defer p.Close()
		p.WaitFor(t, events+` === 'joined'`)
		_, chair := a.enter(map[string]any{"room": "strict", "name": "Chair", "token": a.presenterToken("chair")})
		identity := testkit.Eval[string](t, p, `told[0].identity`)
		if status := a.withSession(chair, "session/act", map[string]any{"action": "remove", "identity": identity}); status != http.StatusNoContent {
			t.Fatalf("the removal answered %d", status)
		}
		p.WaitFor(t, events+` === 'joined, left removed'`)
	})
	t.Run("without permissions the camera is missing, and nothing else", func(t *testing.T) {
		link = w.a.on(t).link(map[string]any{"room": "plain", "name": "Ada", "video": true})
		p := show(friendly+"/", "")
		defer p.Close()
		p.WaitFor(t, events+` === 'joined'`)
		w.eventually(t, w.hasPeople("plain", 1))
	})
	t.Run("another site neither shows it nor is told", func(t *testing.T) {
		p := show(stranger.URL+"/", "camera")
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

// TestSandboxedEmbedding: the sandbox that docs/embedding.md names works, and one without allow-same-origin is told what is missing.
func TestSandboxedEmbedding(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	site := embedder(t)
	friendly := strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Web = &v1alpha1.WebSpec{EmbedOrigins: []string{friendly}}
	})
	sandbox := inEmbeddingGuide(t, `sandbox="`, `"`)
	link := w.a.link(map[string]any{"room": "walled", "name": "Ada", "video": true})
	p := testkit.Browser(t).Open(t, friendly+"?"+url.Values{"allow": {"camera"}, "sandbox": {sandbox}, "src": {link}}.Encode())
	p.WaitFor(t, `told.some(({event}) => event === 'joined')`)
	w.eventually(t, w.hasPeople("walled", 1))
	p.Close()

	// What the attribute does to a page in a frame, a header does to the page itself, which a test can look into.
	service, err := url.Parse(w.a.baseURL)
	if err != nil {
		t.Fatal(err)
	}
	walled := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(service) },
		ModifyResponse: func(r *http.Response) error {
			r.Header.Add("Content-Security-Policy", "sandbox "+strings.Replace(sandbox, "allow-same-origin", "", 1))
			return nil
		},
	})
	t.Cleanup(walled.Close)
	p = testkit.Browser(t).Open(t, strings.Replace(link, w.a.baseURL, walled.URL, 1))
	p.WaitForText(t, sandbox)
	p.Close()
}
