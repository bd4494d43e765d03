// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// liar is a changed page: it asks for more than its link allows, tells its own screens that it got all of it, and
// keeps LiveKit's client where a script can use it past every button.
const liar = `(() => {
	const real = window.fetch;
	window.fetch = async (at, init) => {
		const entering = String(at).endsWith('/session') && init?.method === 'POST';
		if (entering) {
			const body = {...JSON.parse(init.body), presenter: true, hide: false, hidden: false, chat: true, audio: true, video: true,
				duration: 'unlimited', you: {presenter: true}};
			init = {...init, body: JSON.stringify(body)};
		}
		const answer = await real(at, init);
		if (!entering || !answer.ok) return answer;
		const told = await answer.json();
		window.opened = structuredClone(told);
		Object.assign(told.you, {presenter: true, hidden: false, chat: true, audio: true, video: true});
		told.meeting.duration = 'unlimited';
		delete told.meeting.expiresAt;
		return new Response(JSON.stringify(told), {status: 200, headers: {'Content-Type': 'application/json'}});
	};
	window.tryAll = lies => Promise.allSettled(
		lies.map(lie => Promise.race([lie(), new Promise((_, fail) => setTimeout(fail, 3000))]))).then(tried => tried.length);
	Object.defineProperty(Object.prototype, 'localParticipant', {configurable: true, set(value) {
		window.stolen = this;
		Object.defineProperty(this, 'localParticipant', {value, writable: true, configurable: true, enumerable: true});
	}});
})()`

// lies are what the liar's script tries with LiveKit's client. Each fails, by an error or without effect.
const lies = `tryAll([
	() => stolen.localParticipant.setMicrophoneEnabled(true),
	() => stolen.localParticipant.setCameraEnabled(true),
	() => stolen.localParticipant.publishData(new TextEncoder().encode(JSON.stringify(
		{id: 'x', from: 'ada', name: 'Ada', text: 'forged words', at: new Date().toISOString()})), {reliable: true, topic: 'convene.chat'}),
])`

// disguises are lies about who one is. The gateway closes the connection over which it gets one.
const disguises = `tryAll([
	() => stolen.localParticipant.setAttributes({presenter: 'true', notify: 'true'}),
	() => stolen.localParticipant.setName('Ada'),
	() => stolen.localParticipant.setMetadata('{"presenter":true}'),
])`

// callAs makes the liar's page call the gateway with its session, and returns the status.
func callAs(t *testing.T, p *testkit.Page, path, body string) int {
	t.Helper()
	return testkit.Eval[int](t, p, fmt.Sprintf(`fetch(new URL(%q, document.baseURI), {method: 'POST', body: %s,
		headers: {'Content-Type': 'application/json', 'Convene-Session': opened.session}}).then(r => r.status)`, path, quote(body)))
}

// TestChangedPage: a page that lies about hide, chat, presenter and duration gains nothing.
func TestChangedPage(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorld(t)
	const room = "truth"
	ada := w.a.join(small, map[string]any{"room": room, "name": "Ada", "audio": true, "duration": "01:00:00"})
	witness, _ := w.a.enter(map[string]any{"room": room, "name": "Witness"})
	ada.WaitFor(t, tileOf("Witness"))
	identity := identityIn(t, ada)

	d := small
	d.Script = liar
	unseen := testkit.Browser(t).OpenOn(t, d, w.a.link(map[string]any{"room": room, "name": "Unseen", "hide": true, "chat": false}))
	unwritten := testkit.Browser(t).OpenOn(t, d, w.a.link(map[string]any{"room": room, "name": "Unwritten", "chat": false, "video": false}))
	ada.WaitFor(t, tileOf("Unwritten"))
	people := len(witness.Others())
	for name, p := range map[string]*testkit.Page{"Unseen": unseen, "Unwritten": unwritten} {
		t.Run(name, func(t *testing.T) {
			// Its own screen believes it, but for the role: LiveKit tells that.
			p.WaitFor(t, inRoom+" && !"+presents+" && "+shows("chat-toggle")+" && "+shows("mic-toggle"))
			if told := testkit.Eval[string](t, p, `JSON.stringify([opened.you.presenter, opened.you.chat, opened.you.hidden, opened.meeting.duration])`); told != fmt.Sprintf(`[false,false,%t,"01:00:00"]`, name == "Unseen") {
				t.Errorf("the gateway granted %s", told)
			}
			if tried := testkit.Eval[int](t, p, lies); tried != 3 {
				t.Fatalf("%d of 3 lies were tried", tried)
			}
			for _, c := range []struct{ path, body string }{
				{"session/act", fmt.Sprintf(`{"action":"mute","identity":%q}`, identity)},
				{"session/act", fmt.Sprintf(`{"action":"remove","identity":%q}`, identity)},
				{"session/act", `{"action":"end","redirect":"https://example.com/"}`},
				{"session/chat", `{"text":"forged words"}`},
				{"session/reaction", `{"reaction":"like"}`},
			} {
				if got := callAs(t, p, c.path, c.body); got != http.StatusForbidden {
					t.Errorf("%s %s answered %d", c.path, c.body, got)
				}
			}
			openPanel(t, p, "chat")
			p.Type(t, by("chat-input"), "forged words")
			p.Click(t, by("chat-send"))
			p.WaitForText(t, "Not sent: chat is off for you.")
		})
	}

	t.Run("nobody was misled", func(t *testing.T) {
		// The true words are the last: whatever was forged before them would have come first.
		speaker, _ := w.a.enter(map[string]any{"room": room, "name": "Speaker"})
		defer speaker.Close()
		openPanel(t, ada, "chat")
		ada.Type(t, by("chat-input"), "true words")
		ada.Click(t, by("chat-send"))
		ada.WaitFor(t, `document.querySelector('[data-testid=chat-message]')?.innerText.includes('true words')`)
		if is(t, ada, `document.body.innerText.includes('forged words')`) {
			t.Error("Ada reads what nobody wrote")
		}
		if got := <-witness.Data(); got.From != "" {
			t.Errorf("a participant reached another with %s", got.Payload)
		}
		for name, p := range map[string]*testkit.Page{"Unseen": unseen, "Unwritten": unwritten} {
			p.WaitFor(t, tileOf("Speaker"))
			if is(t, p, `document.body.innerText.includes('true words')`) {
				t.Errorf("%s reads the chat", name)
			}
		}
		if !is(t, ada, seenWith("Ada", "[data-muted=false]")) || is(t, ada, tileOf("Unseen")) {
			t.Error("Ada's page shows what was forged")
		}
		for _, p := range []*testkit.Page{unseen, unwritten} {
			if tried := testkit.Eval[int](t, p, disguises); tried != 3 {
				t.Fatalf("%d of 3 disguises were tried", tried)
			}
			p.WaitForText(t, "This page is out of date")
		}
		if now := len(witness.Others()); now > people+1 {
			t.Errorf("LiveKit tells of %d people, %d and Speaker are there", now, people)
		}
		for identity, attributes := range witness.Others() {
			if attributes["presenter"] == "true" {
				t.Errorf("%s made itself a presenter", identity)
			}
		}
	})
	t.Run("the hidden one publishes nothing past the page either", func(t *testing.T) {
		status, e := w.a.on(t).session(map[string]any{"room": room, "name": "x", "ticket": w.a.on(t).ticket(map[string]any{"room": room, "name": "Ghost", "hide": true})})
		if status != http.StatusOK {
			t.Fatalf("no session: %d %+v", status, e)
		}
		ghost, err := peer.Join(t.Context(), e.Engine.URL, e.Engine.Token)
		if err != nil {
			t.Fatal(err)
		}
		defer ghost.Close()
		for _, source := range []peer.Source{peer.Microphone, peer.Camera, peer.Screen, peer.DisguisedMicrophone} {
			if _, err := ghost.Publish(t.Context(), source); err == nil {
				t.Errorf("a hidden peer publishes source %d", source)
			}
		}
	})
	t.Run("time is up for the liar too", func(t *testing.T) {
		p := w.a.on(t).join(d, map[string]any{"room": "brief", "name": "Unending", "duration": "00:00:20"})
		defer p.Close()
		p.WaitFor(t, shows("ended"))
	})
}
