// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/testkit"
)

// bundle is one of the scripts of the page's contracts, which makes a variable "contract".
func bundle(t *testing.T, script string) string {
	t.Helper()
	ui := filepath.Join(testkit.Root(t), "internal", "web", "ui")
	file := filepath.Join(t.TempDir(), "contract.js")
	rolldown := exec.CommandContext(t.Context(), filepath.Join(ui, "node_modules", ".bin", "rolldown"), "src/contract/"+script,
		"--format", "iife", "--name", "contract", "-o", file)
	rolldown.Dir = ui
	if out, err := rolldown.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// bundled is a site with a page that has a bundle.
func bundled(t *testing.T, script string) string {
	t.Helper()
	file := bundle(t, script)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/contract.js" {
			http.ServeFile(w, r, file)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>Contract</title><script src="/contract.js"></script><button>Press</button>`)
	}))
	t.Cleanup(site.Close)
	return site.URL
}

// TestBrowsersAreAsTheirDoubles: what the doubles of the page's tests do, real browsers do as well. The page's own tests make the same
// claims of the doubles.
func TestBrowsersAreAsTheirDoubles(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	site := bundled(t, "page.ts")
	disagreements := func(groups string) string {
		return fmt.Sprintf(`contract.disagreements(%s).then(found => found.join("\n"))`, groups)
	}
	hold := func(t *testing.T, browser, found string) {
		t.Helper()
		if found != "" {
			t.Errorf("%s does otherwise:\n%s", browser, found)
		}
	}
	t.Run("Chromium", func(t *testing.T) {
		p := testkit.OwnBrowser(t, threeDevices, "--autoplay-policy=document-user-activation-required").Open(t, site)
		hold(t, "before a press, Chromium", testkit.Eval[string](t, p, disagreements(`"silent", "allowed", "allowedInChromium", "tab", "back", "sight"`)))
		p.Click(t, "button")
		hold(t, "after a press, Chromium", testkit.Eval[string](t, p, disagreements(`"pressed"`)))
		testkit.Eval[any](t, p, `(globalThis.found = `+disagreements(`"unplugged"`)+`, 0)`)
		p.WaitFor(t, "globalThis.waits")
		p.TakeAway(t, "microphone")
		hold(t, "without its microphone, Chromium", testkit.Eval[string](t, p, "found"))
	})
	t.Run("Chromium that gives no device", func(t *testing.T) {
		p := testkit.OwnBrowser(t, "--use-fake-ui-for-media-stream=deny").Open(t, site)
		hold(t, "Chromium", testkit.Eval[string](t, p, disagreements(`"refused"`)))
	})
	t.Run("Firefox", func(t *testing.T) {
		f := testkit.OpenFirefox(t, "", site)
		hold(t, "Firefox", f.Text(t, disagreements(`"allowed", "tab", "back", "sight"`)))
	})
}

// TestLivekitClientIsAsItsDouble: what the double of a call does with a microphone, livekit-client and LiveKit do as well.
func TestLivekitClientIsAsItsDouble(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	server := testkit.LiveKit(t, testkit.LiveKitOptions{})
	e, err := livekit.New("media", engine.Server{URL: server.URL, Key: server.Key, Secret: server.Secret})
	if err != nil {
		t.Fatal(err)
	}
	const room, who = engine.RoomName("contract"), engine.Identity("anna")
	token, err := e.Grant(engine.Grant{Room: room, Identity: who, Lifetime: time.Minute})
	if err := errors.Join(err, e.Ensure(t.Context(), room, engine.RoomOptions{}, engine.RoomState{})); err != nil {
		t.Fatal(err)
	}
	p := testkit.OwnBrowser(t, threeDevices).Open(t, bundled(t, "call.ts"))
	testkit.Eval[any](t, p, fmt.Sprintf("(globalThis.told = contract.tell(%q, %q), 0)", strings.Replace(server.URL, "http", "ws", 1), token))
	for _, asked := range []struct {
		what string
		act  engine.Action
	}{
		{"mute", engine.Mute{Who: who, What: engine.Microphone}},
		{"forbid", engine.SetRights{Who: who, Rights: engine.Rights{Forbidden: engine.Microphone}}},
		{"allow", engine.SetRights{Who: who}},
	} {
		p.WaitFor(t, fmt.Sprintf("globalThis.asks === %q", asked.what))
		if err := e.Act(t.Context(), room, asked.act); err != nil {
			t.Fatal(err)
		}
	}
	told := testkit.Eval[[]string](t, p, "told")
	if diff := cmp.Diff(testkit.Eval[[]string](t, p, "contract.wanted"), told); diff != "" {
		t.Errorf("what the double does (-), and what LiveKit does (+)\n%s", diff)
	}
}

// TestTheServiceIsAsItsDouble: what the double of the service does with sessions that are used again, the service does as well.
func TestTheServiceIsAsItsDouble(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t, controlled)
	const room = "contract"
	path := "/api/v1/meeting/" + room
	begin := func() { w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room}) }
	acts := map[string]func(){
		"end":   func() { w.a.want(http.StatusOK, "DELETE", path, nil) },
		"begin": begin,
		"lapse": func() {
			before := w.a.mustEnter(map[string]any{"room": room, "name": "Bob"}).Session
			w.replaceSigningKeys(t)
			w.eventually(t, func() error {
				if got := w.a.stateOf(before); got.status != http.StatusForbidden {
					return fmt.Errorf("answered %d", got.status)
				}
				return nil
			})
		},
		"hold":  func() { w.a.want(http.StatusOK, "PATCH", path, map[string]any{"admission": "Ask"}) },
		"admit": func() { w.a.want(http.StatusOK, "PATCH", path, map[string]any{"admission": "Open"}) },
	}
	script, err := os.ReadFile(bundle(t, "gateway.ts"))
	if err != nil {
		t.Fatal(err)
	}
	begin()
	p := testkit.Browser(t).OpenOn(t, small, w.a.baseURL+"/")
	defer p.Close()
	testkit.Eval[any](t, p, fmt.Sprintf("((0, eval)(%s), contract.tell(%q).then((told) => globalThis.told = told), 0)", quote(string(script)), room))
	for {
		p.WaitFor(t, "globalThis.asks || globalThis.told")
		asked := testkit.Eval[string](t, p, "globalThis.asks ?? ''")
		if asked == "" {
			break
		}
		var ticket string
		if act := acts[asked]; act != nil {
			act()
		} else {
			ticket = w.a.ticket(map[string]any{"room": room, "name": "Eve"})
		}
		testkit.Eval[any](t, p, fmt.Sprintf("(done(%q), 0)", ticket))
	}
	told := testkit.Eval[[]string](t, p, "told")
	if diff := cmp.Diff(testkit.Eval[[]string](t, p, "contract.wanted"), told); diff != "" {
		t.Errorf("what the double does (-), and what the service does (+)\n%s", diff)
	}
}
