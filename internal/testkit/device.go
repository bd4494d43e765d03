// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Device is what a person holds and how they have set it up. The zero value is the browser as it starts.
type Device struct {
	// Width and Height in CSS pixels; 0 leaves the window's.
	Width, Height int64
	// Scale is device pixels for one CSS pixel; 0 means 1.
	Scale float64
	// Touch makes it one that is held in the hand.
	Touch bool
	Dark  bool
	// Contrast makes the system's own few colours replace the page's, as contrast themes do (forced colors).
	Contrast bool
	// Still asks for reduced motion.
	Still bool
	// Language is what Accept-Language and navigator.languages say, for example "ar,en"; empty leaves the browser's.
	Language string
	// Script runs in every document before its own scripts.
	Script string
}

// OpenOn is Open on a device.
func (b *BrowserProcess) OpenOn(t testing.TB, d Device, url string) *Page {
	t.Helper()
	p := b.Open(t, "about:blank")
	p.Use(t, d)
	if d.Script != "" {
		call(t, p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: d.Script})
	}
	p.Goto(t, url)
	return p
}

// Use changes the device under an open page, all but its script.
func (p *Page) Use(t testing.TB, d Device) {
	t.Helper()
	if d.Width > 0 {
		scale := max(d.Scale, 1)
		options := []chromedp.EmulateViewportOption{chromedp.EmulateScale(scale)}
		if d.Touch {
			options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
		}
		p.do(t, "resize", chromedp.EmulateViewport(d.Width, d.Height, options...))
	}
	scheme, motion := "light", "no-preference"
	if d.Dark {
		scheme = "dark"
	}
	if d.Still {
		motion = "reduce"
	}
	forced := "none"
	if d.Contrast {
		forced = "active"
	}
	call(t, p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: motion},
		{Name: "forced-colors", Value: forced},
	}})
	if d.Language != "" {
		agent := Eval[string](t, p, "navigator.userAgent")
		call(t, p, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent, AcceptLanguage: d.Language})
	}
}

// Crash ends the process that draws the page, as a browser does that has no memory left. Reload brings the page back.
func (p *Page) Crash(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Second)
	defer cancel()
	// Nobody answers any more.
	_, _ = chromedp.Call(ctx, page.Crash, cdp.Empty{})
}

// Offline cuts the page off from every server, or restores its network. Sound and video go on while the media server holds them.
func (p *Page) Offline(t testing.TB, offline bool) {
	t.Helper()
	p.uplink.setCut(offline)
	// The page is told, as it is by a device that notices it.
	call(t, p, network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Offline: offline, DownloadThroughput: -1, UploadThroughput: -1,
	})
}

// Block makes the page's requests for what matches a pattern fail: * stands for anything.
func (p *Page) Block(t testing.TB, pattern string) {
	t.Helper()
	call(t, p, network.SetBlockedURLs, network.SetBlockedURLsParams{URLPatterns: []*network.BlockPattern{{URLPattern: pattern, Block: true}}})
}

// Press presses keys one after the other, wherever the focus is. Special keys are those of chromedp's package kb. A key that
// the page prevents from its default writes nothing, as on a real keyboard. chromedp.KeyEvent writes it all the same.
func (p *Page) Press(t testing.TB, keys string) {
	t.Helper()
	for _, key := range keys {
		events := kb.Encode(key)
		down := events[0]
		for _, e := range events {
			if e.Type == kb.KeyChar {
				down.Text, down.UnmodifiedText = e.Text, e.UnmodifiedText
			}
		}
		call(t, p, input.DispatchKeyEvent, *down)
		call(t, p, input.DispatchKeyEvent, *events[len(events)-1])
	}
}

// Tap touches the middle of an element with a finger. What is there may let the touch through.
func (p *Page) Tap(t testing.TB, selector string) {
	t.Helper()
	p.awaitStill(t, selector)
	at := Eval[struct{ X, Y float64 }](t, p, fmt.Sprintf(
		`(({left, top, width, height}) => ({X: left + width / 2, Y: top + height / 2}))(document.querySelector(%q).getBoundingClientRect())`, selector))
	call(t, p, input.DispatchTouchEvent, input.DispatchTouchEventParams{
		Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: at.X, Y: at.Y}},
	})
	call(t, p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
}

// HoldSpace presses the space bar, and lets it go when the returned function is called.
func (p *Page) HoldSpace(t testing.TB) (release func()) {
	t.Helper()
	key := func(what input.DispatchKeyEventType) {
		t.Helper()
		call(t, p, input.DispatchKeyEvent, input.DispatchKeyEventParams{
			Type: what, Key: " ", Code: "Space", Text: " ", WindowsVirtualKeyCode: 32, NativeVirtualKeyCode: 32,
		})
	}
	key(input.DispatchKeyEventTypeKeyDown)
	return func() { t.Helper(); key(input.DispatchKeyEventTypeKeyUp) }
}

func call[P, R any](t testing.TB, p *Page, command cdp.Command[P, R], params P) R {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, pageTimeout)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	if err != nil {
		t.Fatalf("%s on %s: %v", command.Method, p.location(), err)
	}
	return result
}
