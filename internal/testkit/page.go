// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// pageTimeout bounds every wait for a page. Generous: several browsers share few cores.
const pageTimeout = 60 * time.Second

// Page is a tab, of one person. Its methods fail the test of the call when they cannot do what they say.
type Page struct {
	ctx    context.Context
	cancel context.CancelFunc
	uplink *uplink
	root   string
	log    *pageLog
	// report tells, once, what can be seen of the page when its test has failed.
	report func()
}

// Open opens url for one more person, and returns when the page has loaded. The tab ends with the test; when the
// test fails, its console is printed and a screenshot kept.
func (b *BrowserProcess) Open(t testing.TB, url string) *Page {
	t.Helper()
	up, err := newUplink()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(up.close)
	ctx, cancel, err := b.newTab(up)
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{ctx: ctx, cancel: cancel, uplink: up, root: Root(t), log: &pageLog{}}
	describe := sync.OnceFunc(func() { p.describe(t) })
	p.report = func() {
		if t.Failed() {
			describe()
		}
	}
	t.Cleanup(p.Close)
	if err := chromedp.Listen(ctx, p.log.record); err != nil {
		t.Fatal(err)
	}
	p.Goto(t, url)
	return p
}

// Goto leads the tab to url and returns when the page has loaded.
func (p *Page) Goto(t testing.TB, url string) {
	t.Helper()
	p.do(t, "open "+url, chromedp.Navigate(url))
}

// Reload loads the page again.
func (p *Page) Reload(t testing.TB) {
	t.Helper()
	p.do(t, "reload", chromedp.Reload())
}

// WaitFor waits until the JavaScript expression is true, over page loads too; a promise is awaited. An expression that
// throws is not yet true.
func (p *Page) WaitFor(t testing.TB, expr string) {
	t.Helper()
	err := poll(pageTimeout, func() error {
		ok, err := evaluate[bool](p.ctx, "(async () => Boolean(await ("+expr+")))()")
		if err == nil && !ok {
			err = errors.New("it is false")
		}
		return err
	})
	if err != nil {
		t.Fatalf("the page %s never came to %s: %v", p.location(), expr, err)
	}
}

// WaitForText waits until the page shows the text.
func (p *Page) WaitForText(t testing.TB, text string) {
	t.Helper()
	p.WaitFor(t, fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// WaitForURL waits until the address bar holds a URL that begins with prefix.
func (p *Page) WaitForURL(t testing.TB, prefix string) {
	t.Helper()
	p.WaitFor(t, fmt.Sprintf("location.href.startsWith(%q)", prefix))
}

// Eval returns the value of a JavaScript expression; a promise is awaited.
func Eval[T any](t testing.TB, p *Page, expr string) T {
	t.Helper()
	v, err := evaluate[T](p.ctx, expr)
	if err != nil {
		t.Fatalf("evaluate %s on %s: %v", expr, p.location(), err)
	}
	return v
}

// Click waits until the element that the CSS selector names can be seen and moves no more, and clicks it.
func (p *Page) Click(t testing.TB, selector string) {
	t.Helper()
	p.awaitStill(t, selector)
	p.do(t, "click "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Type waits until the element can be seen, empties it, and types the text as keys.
func (p *Page) Type(t testing.TB, selector, text string) {
	t.Helper()
	p.Click(t, selector)
	// What is selected is replaced by the first key; chromedp.Clear fails on an empty textarea, and chromedp.SendKeys writes what the page prevents.
	Eval[any](t, p, fmt.Sprintf("document.querySelector(%q).select()", selector))
	p.Press(t, text)
}

// awaitStill: nobody presses what moves under the finger, and a click is aimed before it is made.
func (p *Page) awaitStill(t testing.TB, selector string) {
	t.Helper()
	p.WaitFor(t, fmt.Sprintf(`(async () => {
		const look = () => JSON.stringify(document.querySelector(%q).getBoundingClientRect());
		const before = look();
		await new Promise(resolve => setTimeout(resolve, 50));
		return look() === before;
	})()`, selector))
}

// URL returns what the address bar holds.
func (p *Page) URL(t testing.TB) string {
	t.Helper()
	return Eval[string](t, p, "location.href")
}

// Screenshot keeps a picture as .local/screenshots/NAME.png in the module root.
func (p *Page) Screenshot(t testing.TB, name string) {
	t.Helper()
	path, err := p.screenshot(name)
	if err != nil {
		t.Fatalf("screenshot: %v", err)
	}
	t.Log("screenshot:", path)
}

// ConsoleErrors returns the errors on the page's console, uncaught exceptions and failed loads included.
func (p *Page) ConsoleErrors() []string { return p.log.errors() }

// Requests returns the URLs that the page has asked for, web sockets included.
func (p *Page) Requests() []string { return p.log.requests() }

// TakeAway takes the permission for a device, as its name is in the Permissions API, away from the page. What the page has open ends.
func (p *Page) TakeAway(t testing.TB, device string) {
	t.Helper()
	if err := setPermission(p.ctx, device, browser.PermissionSettingDenied); err != nil {
		t.Fatalf("take the permission for the %s away from %s: %v", device, p.location(), err)
	}
}

// Close closes the tab, as a person does.
func (p *Page) Close() {
	p.report()
	p.cancel()
}

func (p *Page) do(t testing.TB, what string, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pageTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatalf("%s on %s: %v", what, p.location(), err)
	}
}

func evaluate[T any](ctx context.Context, expr string) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expr, chromedp.EvalAwaitPromise))
}

// location is for messages.
func (p *Page) location() string {
	ctx, cancel := context.WithTimeout(p.ctx, 2*time.Second)
	defer cancel()
	url, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return url
}

func (p *Page) screenshot(name string) (string, error) {
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return "", err
	}
	return keepScreenshot(p.root, name, png)
}

// keepScreenshot writes a picture into the module at root, and returns where.
func keepScreenshot(root, name string, png []byte) (string, error) {
	path := filepath.Join(root, ".local", "screenshots", name+".png")
	err := os.WriteFile(path, png, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		// Only now: Go takes a look at a folder for an input of the test, and tests again when the folder changes.
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, png, 0o600)
		}
	}
	return path, err
}

// failedName is what the screenshots of a test that failed begin with.
func failedName(t testing.TB) string {
	return "failed-" + strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) {
			return '-'
		}
		return r
	}, t.Name())
}

func (p *Page) describe(t testing.TB) {
	path, err := p.screenshot(failedName(t) + "-" + string(chromedp.FromContext(p.ctx).Target.TargetID[:6]))
	if err != nil {
		path = err.Error()
	}
	t.Logf("page %s\nscreenshot: %s\nconsole:\n%s", p.location(), path, p.log)
}
