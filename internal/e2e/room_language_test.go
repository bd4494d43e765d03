// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"testing"

	"convene.dev/convene/internal/testkit"
)

// inLanguage is true of a page that says this to browsers and screen readers.
func inLanguage(tag, dir string) string {
	return fmt.Sprintf(`(document.documentElement.lang === %q && document.documentElement.dir === %q)`, tag, dir)
}

// says is true while a heading of the page is this text.
func says(text string) string {
	return fmt.Sprintf(`[...document.querySelectorAll('h1, h2')].some(h => h.textContent.trim() === %s)`, quote(text))
}

// loadedLanguages are the languages whose scripts the page has asked for.
const loadedLanguages = `[...new Set(performance.getEntriesByType('resource')
	.map(({name}) => /\/assets\/(ar|de|es|fr|it|ja|pl|pt|tr|uk|zh-Hans)-[^/]*\.js$/.exec(name)?.[1]).filter(Boolean))].join()`

// chooseLanguage picks an entry of the language menu, as a participant does.
func chooseLanguage(t *testing.T, p *testkit.Page, tag string) {
	t.Helper()
	p.WaitFor(t, shows("language"))
	testkit.Eval[bool](t, p, fmt.Sprintf(`(list => {
		list.value = %q;
		return list.dispatchEvent(new Event('change', {bubbles: true}));
	})(document.querySelector('[data-testid=language]'))`, tag))
}

// TestLanguageOfTheBrowser: the page is in the language that the browser asks for, and loads no other.
func TestLanguageOfTheBrowser(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	for _, c := range []struct{ browser, tag, dir, title string }{
		{"de-AT,en", "de", "ltr", "Videokonferenzen direkt im Browser"},
		{"fr-CA,en", "fr", "ltr", "Des visioconférences, directement dans votre navigateur"},
		{"es-MX,en", "es", "ltr", "Videollamadas directamente en tu navegador"},
		{"it,en", "it", "ltr", "Videoriunioni direttamente nel browser"},
		{"pt-BR,en", "pt", "ltr", "Reuniões por vídeo direto no seu navegador"},
		{"pl-PL,en", "pl", "ltr", "Spotkania wideo prosto w przeglądarce"},
		{"tr-TR,en", "tr", "ltr", "Doğrudan tarayıcınızda görüntülü toplantılar"},
		{"uk-UA,en", "uk", "ltr", "Відеозустрічі просто у вашому браузері"},
		{"zh-CN,zh,en", "zh-Hans", "ltr", "在浏览器中直接进行视频会议"},
		{"ja-JP,en", "ja", "ltr", "ブラウザーですぐに使えるビデオ会議"},
		{"tlh,ar-EG,en", "ar", "rtl", "اجتماعات فيديو في متصفّحك مباشرةً"},
		{"nl-NL,nl", "en", "ltr", "Video meetings, right in your browser"},
	} {
		t.Run(c.browser, func(t *testing.T) {
			p := testkit.Browser(t).OpenOn(t, testkit.Device{Width: 420, Height: 700, Language: c.browser}, w.a.baseURL+"/")
			defer p.Close()
			p.WaitFor(t, inLanguage(c.tag, c.dir)+" && "+says(c.title))
			want := c.tag
			if want == "en" {
				want = ""
			}
			if got := testkit.Eval[string](t, p, loadedLanguages); got != want {
				t.Errorf("the page loaded the languages %q, want %q", got, want)
			}
		})
	}
}

// TestLanguageMenu: a visitor chooses a language, which stays over a reload and another room, and changes it in the meeting
// without leaving it.
func TestLanguageMenu(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	a := w.a.on(t)
	link := a.link(map[string]any{"room": "words", "name": "Ada", "video": true})
	d := testkit.Device{Width: 1280, Height: 800, Language: "en"}
	p := testkit.Browser(t).OpenOn(t, d, a.baseURL+"/?lang=ar")
	p.WaitFor(t, inLanguage("ar", "rtl"))
	chooseLanguage(t, p, "de")
	p.WaitFor(t, inLanguage("de", "ltr")+" && "+says("Videokonferenzen direkt im Browser"))
	takeScreenshots(t, p, d, "home german")
	checkAccess(t, p, d)
	p.Reload(t)
	p.WaitFor(t, inLanguage("de", "ltr")+" && "+shows("home"))

	bob := a.join(small, map[string]any{"room": "words", "name": "Bob", "video": true})
	p.Goto(t, link)
	p.WaitFor(t, inRoom+" && "+seesVideoOf("Bob"))
	p.WaitFor(t, `document.querySelector('[data-testid=leave-button]').textContent.includes('Verlassen')`)
	testkit.Eval[bool](t, p, `!!(window.tile = document.querySelector('[data-testid=tile][data-name=Bob] video'))`)
	p.Click(t, by("more-menu"))
	p.Click(t, by("devices-button"))
	p.WaitFor(t, says("Einstellungen"))
	takeScreenshots(t, p, d, "settings german")
	checkAccess(t, p, d)
	chooseLanguage(t, p, "ar")
	p.WaitFor(t, inLanguage("ar", "rtl")+" && "+says("الإعدادات"))
	chooseLanguage(t, p, "fr")
	p.WaitFor(t, inLanguage("fr", "ltr")+" && "+says("Paramètres"))
	p.WaitFor(t, `(`+tileOf("Ada")+`).textContent.includes('(vous)')`)
	if !is(t, p, `window.tile.isConnected && !window.tile.paused`) {
		t.Error("the picture of the other participant was taken down when the language changed")
	}
	// The other participant has not seen Ada leave.
	if is(t, bob, `[...document.querySelectorAll('[data-testid=notice]')].some(n => n.textContent.includes('left'))`) {
		t.Error("a change of the language ended the participant's presence")
	}
	if errs := p.ConsoleErrors(); len(errs) > 0 {
		t.Errorf("console: %q", errs)
	}
}
