// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"

	"convene.dev/convene/internal/devstack"
)

// BrowserProcess is a Chromium with a fake camera and microphone, which it gives without asking.
type BrowserProcess struct {
	proc   *devstack.Process
	ctx    context.Context
	cancel context.CancelFunc
}

// chromiumNames are what it is called on Linux, and where it is on macOS. CHROMIUM overrides them. The first one has no windows:
// it takes half of the processor time. Debian's command of that name is a script, which would end without it when a test is killed.
var chromiumNames = []string{
	"/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

var chromiumFlags = []string{
	"--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--mute-audio",
	"--window-size=1280,800", "--hide-scrollbars",
	"--remote-debugging-port=0",
	// A container's /dev/shm is often too small.
	"--disable-dev-shm-usage",
	// Nothing leaves the machine.
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
	"--disable-default-apps", "--disable-breakpad",
	"--disable-features=Translate,MediaRouter,OptimizationHints",
	// Pages of a test are never in front, and are all watched.
	"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
	"--disable-renderer-backgrounding", "--autoplay-policy=no-user-gesture-required",
	// Five pictures per second move as well as twenty, and leave the processors to other tests.
	"--use-fake-device-for-media-stream=fps=5", "--use-fake-ui-for-media-stream",
	"--password-store=basic", "--use-mock-keychain",
}

// Browser returns the browser that the tests of this package share. Each page of it is another person.
func Browser(t testing.TB) *BrowserProcess {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.browser == nil {
		b, err := startBrowser(filepath.Join(sharedDir(t), "browser"))
		if err != nil {
			t.Fatal(err)
		}
		shared.browser = b
		shared.closers = append(shared.closers, b.Kill)
	}
	return shared.browser
}

// OwnBrowser returns a browser for this test alone, which it may kill, with further flags.
func OwnBrowser(t testing.TB, flags ...string) *BrowserProcess {
	t.Helper()
	// Not the test's folder: its path may be too long for the socket that Chromium makes.
	dir, err := newTempDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b, err := startBrowser(dir, flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Kill)
	return b
}

// PID of the browser's first process.
func (b *BrowserProcess) PID() int { return b.proc.PID() }

// Kill ends the browser and its pages without warning (SIGKILL).
func (b *BrowserProcess) Kill() {
	b.proc.Kill()
	b.cancel()
}

func startBrowser(dir string, flags ...string) (*BrowserProcess, error) {
	path, err := findBrowser("CHROMIUM", "chromium", chromiumNames)
	if err != nil {
		return nil, err
	}
	args := append([]string{"--user-data-dir=" + filepath.Join(dir, "profile")}, chromiumFlags...)
	args = append(args, flags...)
	if os.Geteuid() == 0 {
		// Its sandbox refuses to run as root.
		args = append(args, "--no-sandbox")
	}
	tmp := filepath.Join(dir, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return nil, err
	}
	portFile := filepath.Join(dir, "profile", "DevToolsActivePort")
	proc, err := devstack.Start(context.Background(), devstack.Command{
		Name: "chromium", Path: path, Args: append(args, "about:blank"), LogDir: dir,
		// What it leaves behind when it is killed goes with the folder.
		Env:   []string{"TMPDIR=" + tmp},
		Ready: func(context.Context) error { _, err := devToolsURL(portFile); return err },
		Grace: time.Second,
	})
	if err != nil {
		return nil, err
	}
	url, err := devToolsURL(portFile)
	if err != nil {
		proc.Kill()
		return nil, err
	}
	b := &BrowserProcess{proc: proc}
	b.ctx, b.cancel = remote.NewAllocator(context.Background(), url, remote.NoModifyURL)
	return b, nil
}

// findBrowser is the path of the first of these programs that is there, or of the one that an environment variable names.
func findBrowser(variable, debianPackage string, names []string) (string, error) {
	if name := os.Getenv(variable); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no browser named %s: run `apt-get install %s`, or set %s to its path", strings.Join(names, ", "), debianPackage, variable)
}

// devToolsURL reads the file that Chromium writes once it can be driven: a port and a path.
func devToolsURL(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	port, path, ok := strings.Cut(strings.TrimSpace(string(b)), "\n")
	if !ok {
		return "", errors.New("half-written " + file)
	}
	return "ws://127.0.0.1:" + port + path, nil
}

// newTab opens a tab that shares no cookies, storage or connections with another.
func (b *BrowserProcess) newTab(up *uplink) (context.Context, context.CancelFunc, error) {
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(func(p *target.CreateBrowserContextParams) {
		p.ProxyServer = up.url()
		p.ProxyBypassList = "<-loopback>" // Addresses of this machine go through it too.
	}))
	if err := errors.Join(chromedp.Do(ctx), focus(ctx), setPermission(ctx, "microphone", granted), setPermission(ctx, "camera", granted)); err != nil {
		cancel()
		return nil, nil, fmt.Errorf("open a tab: %w", err)
	}
	return ctx, cancel, nil
}

// focus has a tab believe that it is in front, as the window of a participant is: tests share the browser.
func focus(ctx context.Context) error {
	_, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	return err
}

// granted lets a page have a device without a question to its participant.
const granted = browser.PermissionSettingGranted

func setPermission(ctx context.Context, device string, setting browser.PermissionSetting) error {
	_, err := chromedp.CallBrowser(ctx, browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: device}, Setting: setting,
		BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
	})
	return err
}
