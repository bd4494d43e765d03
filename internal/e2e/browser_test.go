// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// seesAndHears is true once a page plays moving pictures and has the sound of another participant.
func seesAndHears(name string) string {
	return fmt.Sprintf(`(() => {
		const tile = [...document.querySelectorAll('[data-testid=tile]')].find(t => t.dataset.name === %q);
		const video = tile && tile.querySelector('video');
		const audio = [...document.querySelectorAll('audio')].some(a => a.srcObject && a.srcObject.getAudioTracks().length && !a.paused);
		return !!video && video.videoWidth > 0 && video.currentTime > 0 && audio;
	})()`, name)
}

// farewell is a page to which people are sent when a meeting ends.
func farewell(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, "<!doctype html><title>Bye</title><p>Bye bye")
	}))
	t.Cleanup(server.Close)
	return server.URL + "/bye"
}

// translate puts elements in place of the page's texts, as the translation of a browser does. Names are not to be translated.
func translate(t *testing.T, p *testkit.Page, names ...string) {
	t.Helper()
	translated := testkit.Eval[[]string](t, p, `(() => {
		const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, node =>
			node.data.trim() && !node.parentElement.closest('[translate=no], script, noscript') ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT);
		const found = [];
		while (texts.nextNode()) found.push(texts.currentNode);
		for (const text of found) {
			const font = document.createElement('font');
			font.textContent = text.data.toUpperCase();
			text.replaceWith(font);
		}
		window.written = found[0];
		return found.map(({data}) => data.trim());
	})()`)
	if len(translated) == 0 {
		t.Error("there was nothing to translate")
	}
	testkit.Eval[string](t, p, `written.data = 'As the page writes.'`)
	p.WaitForText(t, "As the page writes.")
	for _, name := range names {
		if slices.Contains(translated, name) {
			t.Errorf("the browser translates the name %s", name)
		}
	}
}

// TestTwoPeopleMeetInTheBrowser goes the way of a new user: the room link in two windows, a meeting that both see and
// hear, with a page that a browser translates, kubectl, and an end with a redirect.
func TestTwoPeopleMeetInTheBrowser(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	browser := testkit.Browser(t)
	link := w.a.want(http.StatusOK, "POST", "/api/v1/meeting", nil).text("meeting")
	room := strings.TrimPrefix(link, w.a.baseURL+"/join/")

	direct := w.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{
		"room": room, "name": "Grace", "audio": "true", "video": "true", "chat": true, "notify": true, "duration": "01:00:00",
	}).text("join")
	ada := browser.Open(t, link)
	ada.Type(t, "[data-testid=name-input]", "Ada")
	ada.Screenshot(t, "prejoin")
	ada.Click(t, "[data-testid=join-button]")
	ada.WaitFor(t, `!!document.querySelector('[data-testid=room]')`)

	grace := browser.Open(t, direct)
	ada.WaitFor(t, seesAndHears("Grace"))
	grace.WaitFor(t, seesAndHears("Ada"))
	if at := grace.URL(t); strings.Contains(at, "token") {
		t.Errorf("the ticket is still in the address bar: %s", at)
	}
	grace.WaitFor(t, `!!document.querySelector('[data-testid=countdown]')`)
	translate(t, grace, "Ada", "Grace", room)
	counts := testkit.Eval[string](t, grace, `document.querySelector('[data-testid=countdown]').innerText`)
	grace.WaitFor(t, fmt.Sprintf(`document.querySelector('[data-testid=countdown]').innerText !== %q`, counts))

	ada.Click(t, "[data-testid=chat-toggle]")
	ada.Type(t, "[data-testid=chat-input]", "Hello Grace, see https://example.com/ <b>now</b>")
	ada.Click(t, "[data-testid=chat-send]")
	grace.Click(t, "[data-testid=chat-toggle]")
	grace.WaitForText(t, "Hello Grace, see https://example.com/ <b>now</b>")
	ada.Screenshot(t, "room-with-chat")

	w.eventually(t, func() error {
		out := w.Kubectl(t, "get", "meetings", "-n", w.Namespace)
		if !strings.Contains(out, room) || !strings.Contains(out, string(v1alpha1.MeetingActive)) || !strings.Contains(out, "1h") {
			return fmt.Errorf("kubectl shows:\n%s", out)
		}
		if m := w.meetingsOf(t, room)[0]; m.Status.ParticipantCount != 2 || m.Status.Participants[0].Browser == "" {
			return fmt.Errorf("status is %+v", m.Status)
		}
		return nil
	})

	bye := farewell(t)
	began := time.Now()
	if ended := w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, map[string]any{"redirect": bye}); ended.text("message") != "Meeting ended" {
		t.Fatalf("DELETE answered %s", ended.raw)
	}
	ada.WaitForURL(t, bye)
	grace.WaitForURL(t, bye)
	t.Logf("from DELETE until both pages had left: %s", time.Since(began).Round(time.Millisecond))
	for name, page := range map[string]*testkit.Page{"Ada": ada, "Grace": grace} {
		for _, asked := range page.Requests() {
			if at, err := url.Parse(asked); err == nil && at.Host != "" && at.Hostname() != "127.0.0.1" {
				t.Errorf("%s's page asked another host: %s", name, asked)
			}
		}
		if errs := page.ConsoleErrors(); len(errs) > 0 {
			t.Errorf("%s's console: %q", name, errs)
		}
	}
}

func TestDeletingTheObjectSendsTheBrowserHome(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	home := farewell(t)
	w := newWorld(t, func(a, _ *v1alpha1.ConferenceConfig) { a.Spec.Web = &v1alpha1.WebSpec{HomeURL: v1alpha1.URL(home)} })
	page := testkit.Browser(t).Open(t, w.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "short", "name": "Ada"}).text("join"))
	page.WaitFor(t, `!!document.querySelector('[data-testid=room]')`)
	w.eventually(t, func() error {
		if m := w.meetingsOf(t, "short")[0]; m.Status.ParticipantCount != 1 {
			return fmt.Errorf("status is %+v", m.Status)
		}
		return nil
	})
	w.Kubectl(t, "delete", "meetings", "--all", "-n", w.Namespace, "--wait", "--timeout=30s")
	page.WaitForURL(t, home)
}
