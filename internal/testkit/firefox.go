// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/internal/devstack"
)

// firefoxNames are what it is called on Linux, and where it is on macOS. FIREFOX overrides them.
var firefoxNames = []string{"firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"}

// firefoxPrefs have it give a camera and a microphone without asking, have neither loudspeaker nor graphics card, and send nothing to its maker.
const firefoxPrefs = `user_pref("media.navigator.permission.disabled", true);
user_pref("media.navigator.streams.fake", true);
user_pref("media.cubeb.force_null_context", true);
user_pref("webgl.disabled", true);
user_pref("media.autoplay.default", 0);
user_pref("media.autoplay.block-webaudio", false);
user_pref("media.gmp-manager.updateEnabled", false);
user_pref("media.peerconnection.ice.obfuscate_host_addresses", false);
user_pref("media.peerconnection.ice.loopback", true);
user_pref("app.update.auto", false);
user_pref("app.normandy.enabled", false);
user_pref("browser.region.update.enabled", false);
user_pref("browser.safebrowsing.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("extensions.update.enabled", false);
user_pref("intl.accept_languages", "en");
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("network.dns.disablePrefetch", true);
user_pref("services.settings.server", "http://127.0.0.1:9/");
user_pref("toolkit.telemetry.enabled", false);
`

// Firefox is a tab of a Firefox of its own, of one person. Its methods are those of Page, as far as tests need them.
type Firefox struct {
	driver *bidi
	tab    string
}

// OpenFirefox starts Firefox and opens url in it. The script runs in every document before its own scripts.
func OpenFirefox(t testing.TB, script, url string) *Firefox {
	t.Helper()
	f, err := startFirefox(t, script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			f.describe(t)
		}
		f.driver.close()
	})
	f.Goto(t, url)
	return f
}

func startFirefox(t testing.TB, script string) (*Firefox, error) {
	path, err := findBrowser("FIREFOX", "firefox-esr", firefoxNames)
	if err != nil {
		return nil, err
	}
	dir, err := newTempDir()
	if err != nil {
		return nil, err
	}
	profile := filepath.Join(dir, "profile")
	if err := errors.Join(os.MkdirAll(profile, 0o700), os.WriteFile(filepath.Join(profile, "user.js"), []byte(firefoxPrefs), 0o600)); err != nil {
		return nil, err
	}
	server := filepath.Join(profile, "WebDriverBiDiServer.json")
	proc, err := devstack.Start(t.Context(), devstack.Command{
		Name: "firefox", Path: path, LogDir: dir, Env: []string{"HOME=" + dir, "TMPDIR=" + dir},
		Args:  []string{"--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"},
		Ready: func(context.Context) error { _, err := bidiURL(server); return err },
		Grace: time.Second,
	})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		proc.Kill()
		_ = os.RemoveAll(dir)
	})
	url, err := bidiURL(server)
	if err != nil {
		return nil, err
	}
	f := &Firefox{}
	if f.driver, err = dialBidi(t.Context(), url); err != nil {
		return nil, err
	}
	return f, f.openTab(t.Context(), script)
}

func (f *Firefox) openTab(ctx context.Context, script string) error {
	var tab struct{ Context string }
	if err := f.driver.call(ctx, "browsingContext.create", map[string]any{"type": "tab"}, &tab); err != nil {
		return err
	}
	f.tab = tab.Context
	// Keys go to the tab in front.
	if err := f.driver.call(ctx, "browsingContext.activate", map[string]any{"context": f.tab}, nil); err != nil {
		return err
	}
	return f.driver.call(ctx, "script.addPreloadScript", map[string]any{"functionDeclaration": "() => {" + script + "}"}, nil)
}

// bidiURL reads the file that Firefox writes once it can be driven.
func bidiURL(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var at struct {
		Host string `json:"ws_host"`
		Port int    `json:"ws_port"`
	}
	if err := json.Unmarshal(b, &at); err != nil || at.Port == 0 {
		return "", fmt.Errorf("half-written %s: %w", file, err)
	}
	return fmt.Sprintf("ws://%s:%d/session", at.Host, at.Port), nil
}

// Goto leads the tab to url and returns when the page has loaded.
func (f *Firefox) Goto(t testing.TB, url string) {
	t.Helper()
	f.do(t, "browsingContext.navigate", map[string]any{"context": f.tab, "url": url, "wait": "complete"})
}

// WaitFor waits until the JavaScript expression is true, over page loads too; a promise is awaited. An expression that
// throws is not yet true.
func (f *Firefox) WaitFor(t testing.TB, expression string) {
	t.Helper()
	err := poll(pageTimeout, func() error {
		got, err := f.driver.evaluate(t.Context(), f.tab, "(async () => Boolean(await ("+expression+")))()")
		if err == nil && got != "true" {
			err = errors.New("it is false")
		}
		return err
	})
	if err != nil {
		t.Fatalf("Firefox never came to %s: %v", expression, err)
	}
}

// Text is what the JavaScript expression has as text; a promise is awaited.
func (f *Firefox) Text(t testing.TB, expression string) string {
	t.Helper()
	got, err := f.driver.evaluate(t.Context(), f.tab, "(async () => String(await ("+expression+")))()")
	var text string
	if err == nil {
		err = json.Unmarshal([]byte(got), &text)
	}
	if err != nil {
		t.Fatalf("%s in Firefox: %v", expression, err)
	}
	return text
}

// Click waits until the element can be seen, stands still and is not covered, and presses the left button over its centre.
func (f *Firefox) Click(t testing.TB, selector string) {
	t.Helper()
	find := fmt.Sprintf(`(async e => {
		e.scrollIntoView({block: 'nearest'});
		const before = JSON.stringify(e.getBoundingClientRect());
		await new Promise(resolve => setTimeout(resolve, 50));
		const box = e.getBoundingClientRect(), x = Math.round(box.left + box.width / 2), y = Math.round(box.top + box.height / 2);
		return JSON.stringify(box) === before && e.contains(document.elementFromPoint(x, y)) ? {x, y} : undefined;
	})(document.querySelector(%q))`, selector)
	var at *struct{ X, Y int }
	err := poll(pageTimeout, func() error {
		got, err := f.driver.evaluate(t.Context(), f.tab, find)
		if err == nil {
			err = json.Unmarshal([]byte(got), &at)
		}
		if err == nil && at == nil {
			err = errors.New("it moves, or is covered")
		}
		return err
	})
	if err != nil {
		t.Fatalf("Firefox cannot click %s: %v", selector, err)
	}
	f.perform(t, "pointer", []any{
		map[string]any{"type": "pointerMove", "x": at.X, "y": at.Y},
		map[string]any{"type": "pointerDown", "button": 0}, map[string]any{"type": "pointerUp", "button": 0},
	})
}

// Type clicks the element and types the text as keys.
func (f *Firefox) Type(t testing.TB, selector, text string) {
	t.Helper()
	f.Click(t, selector)
	var keys []any
	for _, key := range text {
		keys = append(keys, map[string]any{"type": "keyDown", "value": string(key)}, map[string]any{"type": "keyUp", "value": string(key)})
	}
	f.perform(t, "key", keys)
}

func (f *Firefox) perform(t testing.TB, kind string, actions []any) {
	t.Helper()
	f.do(t, "input.performActions", map[string]any{"context": f.tab, "actions": []any{
		map[string]any{"type": kind, "id": kind, "actions": actions},
	}})
}

func (f *Firefox) do(t testing.TB, method string, params map[string]any) {
	t.Helper()
	if err := f.driver.call(t.Context(), method, params, nil); err != nil {
		t.Fatal(err)
	}
}

// describe says what can be seen of the tab when its test has failed.
func (f *Firefox) describe(t testing.TB) {
	f.driver.mu.Lock()
	console := strings.Join(f.driver.console, "\n    ")
	f.driver.mu.Unlock()
	var picture struct{ Data []byte }
	err := f.driver.call(context.Background(), "browsingContext.captureScreenshot", map[string]any{"context": f.tab}, &picture)
	path := ""
	if err == nil {
		path, err = keepScreenshot(Root(t), failedName(t)+"-firefox", picture.Data)
	}
	if err != nil {
		path = err.Error()
	}
	t.Logf("Firefox\nscreenshot: %s\nconsole:\n    %s", path, console)
}
