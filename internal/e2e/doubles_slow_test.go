// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// TestBrowsersAreAsTheirDoubles: what the doubles of the page's tests do, real browsers do as well. The page's own tests make the same
// claims of the doubles.
func TestBrowsersAreAsTheirDoubles(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	ui := filepath.Join(testkit.Root(t), "internal", "web", "ui")
	claims := filepath.Join(t.TempDir(), "claims.js")
	bundle := exec.CommandContext(t.Context(), filepath.Join(ui, "node_modules", ".bin", "rolldown"), "src/contract/page.ts",
		"--format", "iife", "--name", "claims", "-o", claims)
	bundle.Dir = ui
	if out, err := bundle.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/claims.js" {
			http.ServeFile(w, r, claims)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>Claims</title><script src="/claims.js"></script><button>Press</button>`)
	}))
	defer site.Close()
	disagreements := func(groups string) string {
		return fmt.Sprintf(`claims.disagreements(%s).then(found => found.join("\n"))`, groups)
	}
	hold := func(t *testing.T, browser, found string) {
		t.Helper()
		if found != "" {
			t.Errorf("%s does otherwise:\n%s", browser, found)
		}
	}
	t.Run("Chromium", func(t *testing.T) {
		p := testkit.OwnBrowser(t, threeDevices, "--autoplay-policy=document-user-activation-required").Open(t, site.URL)
		hold(t, "before a press, Chromium", testkit.Eval[string](t, p, disagreements(`"silent", "allowed", "allowedInChromium", "tab", "back", "sight"`)))
		p.Click(t, "button")
		hold(t, "after a press, Chromium", testkit.Eval[string](t, p, disagreements(`"pressed"`)))
		testkit.Eval[any](t, p, `(globalThis.found = `+disagreements(`"unplugged"`)+`, 0)`)
		p.WaitFor(t, "globalThis.waits")
		p.TakeAway(t, "microphone")
		hold(t, "without its microphone, Chromium", testkit.Eval[string](t, p, "found"))
	})
	t.Run("Chromium that gives no device", func(t *testing.T) {
		p := testkit.OwnBrowser(t, "--use-fake-ui-for-media-stream=deny").Open(t, site.URL)
		hold(t, "Chromium", testkit.Eval[string](t, p, disagreements(`"refused"`)))
	})
	t.Run("Firefox", func(t *testing.T) {
		f := testkit.OpenFirefox(t, "", site.URL)
		hold(t, "Firefox", f.Text(t, disagreements(`"allowed", "tab", "back", "sight"`)))
	})
}
