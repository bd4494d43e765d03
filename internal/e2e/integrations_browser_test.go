// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/compat/compattest"
	"convene.dev/convene/internal/testkit"
)

// TestLinksOfIntegrationsInABrowser: what people click.
func TestLinksOfIntegrationsInABrowser(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newMigratedWorld(t)
	browser := testkit.Browser(t)

	t.Run("a static link opens its room", func(t *testing.T) {
		p := browser.Open(t, w.b.baseURL+"/join?room=static&name=Ann&audio=0&video=0&screen=0&notify=0")
		defer p.Close()
		p.Click(t, by("join-button"))
		p.WaitFor(t, inRoom)
		w.eventually(t, w.hasPeople("static", 1))
		// Who opens a room leads it, and the page offers what a presenter may do.
		if m := w.meetingsOf(t, "static")[0]; !m.Status.Participants[0].Presenter || !m.Spec.Participants[0].Promoted {
			t.Errorf("%+v, decided %+v", m.Status.Participants, m.Spec.Participants)
		}
		askForTheEnd(t, p)
		p.WaitFor(t, shows("end-confirm"))
	})
	t.Run("a token that the integration signed makes a presenter", func(t *testing.T) {
		token := compattest.Token(t, integrationsKey, time.Now(), map[string]any{"username": "coach", "password": "", "presenter": true}, time.Hour)
		p := browser.Open(t, w.b.baseURL+"/join?room=club&name=Coach&audio=0&video=0&token="+url.QueryEscape(token))
		defer p.Close()
		p.Click(t, by("join-button"))
		p.WaitFor(t, inRoom)
		w.eventually(t, w.hasPeople("club", 1))
		if m := w.meetingsOf(t, "club")[0]; !m.Status.Participants[0].Presenter || m.Labels[v1alpha1.LabelAdHoc] != v1alpha1.OpenedByUser {
			t.Errorf("%v %+v", m.Labels, m.Status.Participants)
		}
		if address := p.URL(t); strings.Contains(address, "token") {
			t.Errorf("the token stays in the address bar: %s", address)
		}
	})
	t.Run("an old link opens its room again", func(t *testing.T) {
		link := w.a.on(t).link(map[string]any{"room": "old", "name": "Ada", "duration": "00:45:00"})
		m := w.meetingsOf(t, "old")[0]
		if err := w.Client.Patch(t.Context(), &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}},
			client.RawPatch(types.MergePatchType, []byte(`{"spec":{"unjoinedTimeout":"1s"}}`))); err != nil {
			t.Fatal(err)
		}
		w.forgotten(t, "old")
		p := browser.Open(t, link)
		defer p.Close()
		p.WaitFor(t, inRoom)
		w.eventually(t, w.hasPeople("old", 1))
	})
}

// integrator is a site with the pages that integrators write. {base}, {domain}, {room} and {token} in them are filled in.
func integrator(t *testing.T, a account) *httptest.Server {
	domain := strings.TrimPrefix(a.baseURL, "http://")
	const keep = `<script>window.told = []; window.keep = room => { for (const name of ['joined', 'left', 'ended', 'participants', 'muted'])
		room.addEventListener(name, ({detail}) => told.push({event: name, ...detail})) }</script>`
	pages := map[string]string{
		"/script": `<script src="{base}/js/Iframe.js"></script><div id="meet"></div><script>
			keep(window.api = new IframeApi("{domain}", {room: "{room}", roomPassword: 0, name: "Ada", avatar: 0, audio: 0, video: 0, screen: 0, hide: 0, notify: 0,
				duration: "unlimited", token: "{token}", width: "900px", height: "600px", parentNode: document.querySelector("#meet")}));</script>`,
		"/element": `<convene-room room="{room}" name="Ada" token="{token}" style="height: 600px"></convene-room>
			<script type="module" src="{base}/js/embed.js"></script><script>keep(window.api = document.querySelector('convene-room'))</script>`,
		"/widget": `<script src="{base}/js/Widget.js"></script><div id="support-widget" data-service-auto data-domain="{domain}" data-room="{room}" data-theme="dark"
			data-widget-type="support" data-widget-state="normal" data-position="bottom-right" data-heading="Need &lt;b&gt;Help&lt;/b&gt;?" data-powered-by=""></div>`,
		// A page that a framework draws twice, over what it showed while it loaded.
		"/twice": `<script src="{base}/js/Iframe.js"></script><div id="meet">Loading</div><script>
			for (let i = 0; i < 2; i++) keep(window.api = new IframeApi("{domain}",
				{room: "{room}", name: "Ada", token: "{token}", parentNode: document.querySelector("#meet")}));</script>`,
		"/bare-widget": `<script src="{base}/js/Widget.js"></script><div data-mirotalk-auto data-buttons="audio,chat" data-user="Ada" data-widget-state="closed"></div>`,
		// Another site's page beside the room tries to command it.
		"/meddler": `<script>addEventListener('message', e => { if (e.data === 'go') for (const command of ['leave', 'microphone', 'camera'])
			for (let i = 0; i < parent.frames.length; i++) parent.frames[i].postMessage({target: 'convene', command, on: true}, '*'); })</script>`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		query := r.URL.Query()
		page := strings.NewReplacer("{base}", a.baseURL, "{domain}", domain, "{room}", html.EscapeString(query.Get("room")), "{token}", html.EscapeString(query.Get("token"))).Replace(pages[r.URL.Path])
		_, _ = fmt.Fprintf(w, "<!doctype html><title>Site</title>%s%s", keep, page)
	}))
	t.Cleanup(server.Close)
	return server
}

// TestEmbedsOfIntegrations: pages of another site command the room and are told what happens; a site that is not allowed gets
// nothing.
func TestEmbedsOfIntegrations(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	friend, stranger := newLateSite(t), newLateSite(t)
	friendly := strings.Replace(friend.URL, "127.0.0.1", "localhost", 1)
	w := newMigratedWorld(t, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Web = &v1alpha1.WebSpec{EmbedOrigins: []string{friendly}}
	})
	site := integrator(t, w.a)
	friend.serve(site)
	stranger.serve(site)
	show := func(t *testing.T, origin, page, room string, options map[string]any) *testkit.Page {
		body := map[string]any{"room": room, "name": "Ada"}
		for name, value := range options {
			body[name] = value
		}
		return testkit.Browser(t).Open(t, origin+page+"?"+url.Values{"room": {room}, "token": {w.a.on(t).ticket(body)}}.Encode())
	}
	const last = `(told.filter(m => m.event === 'muted').at(-1) ?? {})`

	for _, page := range []string{"/script", "/element"} {
		t.Run(page+" with commands and events", func(t *testing.T) {
			room := "embed-" + page[1:]
			p := show(t, friendly, page, room, map[string]any{"audio": true, "notify": true})
			defer p.Close()
			p.WaitFor(t, `told.some(m => m.event === 'joined' && m.name === 'Ada')`)
			p.WaitFor(t, last+`.muted === false`)
			p.WaitFor(t, `told.some(m => m.event === 'participants' && m.participants.length === 1 && m.participants[0].name === 'Ada')`)
			w.a.on(t).enter(map[string]any{"room": room, "name": "Grace"})
			p.WaitFor(t, `told.some(m => m.event === 'participants' && m.participants.some(one => one.name === 'Grace'))`)

			// The meddler's message is there before the next command is.
			p.WaitFor(t, fmt.Sprintf(`(window.meddler ??= (() => { const f = document.createElement('iframe'); f.src = %s; f.onload = () => { f.dataset.ready = 1 };
				document.body.append(f); return f })()).dataset.ready === '1'`, quote(stranger.URL+"/meddler")))
			testkit.Eval[bool](t, p, `(meddler.contentWindow.postMessage('go', '*'), true)`)

			testkit.Eval[bool](t, p, `(api.microphone(false), true)`)
			p.WaitFor(t, last+`.muted === true`)
			testkit.Eval[bool](t, p, `(api.camera(true), true)`)
			p.WaitFor(t, last+`.camera === true`)
			testkit.Eval[bool](t, p, `(api.microphone(), api.chat(true), api.camera(false), true)`)
			p.WaitFor(t, last+`.muted === false && `+last+`.camera === false`)
			if testkit.Eval[bool](t, p, `told.some(m => m.event === 'left')`) {
				t.Error("a page beside the room made it leave")
			}
			testkit.Eval[bool](t, p, `(api.hangUp(), true)`)
			p.WaitFor(t, `told.some(m => m.event === 'left' && m.reason === 'left') && document.querySelectorAll('iframe').length === 1`)
			w.eventually(t, w.hasPeople(room, 1))
		})
	}
	t.Run("the end of the meeting is told", func(t *testing.T) {
		p := show(t, friendly, "/script", "over", nil)
		defer p.Close()
		p.WaitFor(t, `told.some(m => m.event === 'joined')`)
		w.a.on(t).want(http.StatusOK, "DELETE", "/api/v1/meeting/over", nil)
		p.WaitFor(t, `told.some(m => m.event === 'ended')`)
	})
	t.Run("a widget calls in its own box", func(t *testing.T) {
		p := show(t, friendly, "/widget", "support", nil)
		defer p.Close()
		p.WaitFor(t, `document.querySelector('#support-widget h2')?.textContent === 'Need Help?'`)
		p.WaitFor(t, `([...document.querySelectorAll('#support-widget button')].find(b => b.textContent === 'Join')?.click(),
			new URL(document.querySelector('#support-widget iframe')?.src ?? 'x:y').searchParams.get('room') === 'support')`)
	})
	t.Run("a page that draws itself twice has one room", func(t *testing.T) {
		p := show(t, friendly, "/twice", "twice", nil)
		defer p.Close()
		p.WaitFor(t, `told.some(m => m.event === 'participants' && m.participants.length === 1)`)
		if in := testkit.Eval[string](t, p, `document.querySelector('#meet').innerHTML`); strings.Count(in, "<iframe") != 1 || strings.Contains(in, "Loading") {
			t.Errorf("the page shows %s", in)
		}
		w.eventually(t, w.hasPeople("twice", 1))
	})
	t.Run("a widget has what its attributes name, and opens again", func(t *testing.T) {
		p := show(t, friendly, "/bare-widget", "bare", nil)
		defer p.Close()
		const press = `[...document.querySelectorAll('[data-mirotalk-auto] button')].find(b => b.title === '%s')?.click()`
		p.WaitFor(t, `(`+fmt.Sprintf(press, "Open")+`,
			[...document.querySelectorAll('[data-mirotalk-auto] button')].map(b => b.textContent).join() === '–,×,Audio call,Chat')`)
		p.WaitFor(t, `(`+fmt.Sprintf(press, "Chat")+`,
			(asked => asked.get('room') === 'support-room' && asked.get('name') === 'Ada')(new URL(document.querySelector('[data-mirotalk-auto] iframe')?.src ?? 'x:y').searchParams))`)
	})
	t.Run("another site gets nothing", func(t *testing.T) {
		p := show(t, stranger.URL, "/script", "embed-foreign", nil)
		defer p.Close()
		w.eventually(t, func() error {
			for _, said := range p.ConsoleErrors() {
				if strings.Contains(said, "frame-ancestors") {
					return nil
				}
			}
			return fmt.Errorf("the browser has not refused: %q", p.ConsoleErrors())
		})
		if told := testkit.Eval[int](t, p, `told.length`); told != 0 {
			t.Errorf("it is told %d times", told)
		}
		q := show(t, stranger.URL, "/element", "embed-foreign", nil)
		defer q.Close()
		w.eventually(t, func() error {
			for _, said := range q.ConsoleErrors() {
				if strings.Contains(said, "CORS") {
					return nil
				}
			}
			return fmt.Errorf("the browser has loaded the module: %q", q.ConsoleErrors())
		})
	})
	t.Run("a tenant that lets nobody embed serves no scripts", func(t *testing.T) {
		for _, path := range []string{"/js/Iframe.js", "/js/embed.js", "/js/widget.js"} {
			w.b.on(t).want(http.StatusNotFound, "GET", path, nil)
		}
	})
}

// lateSite is a site whose address is known before its pages are.
type lateSite struct {
	*httptest.Server
	pages http.Handler
}

func newLateSite(t *testing.T) *lateSite {
	s := &lateSite{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.pages.ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	return s
}

func (s *lateSite) serve(pages *httptest.Server) { s.pages = pages.Config.Handler }
