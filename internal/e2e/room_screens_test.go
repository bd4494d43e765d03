// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// What screens are looked at on.
var (
	desk           = testkit.Device{Width: 1280, Height: 720, Script: paintedCamera}
	phone          = testkit.Device{Width: 390, Height: 844, Scale: 2, Touch: true, Script: paintedCamera}
	phoneOnItsSide = testkit.Device{Width: 844, Height: 390, Scale: 2, Touch: true, Script: paintedCamera}
)

// tour walks through every screen of the page.
type tour struct {
	*world
	// a is open, b asks for a login.
	a, b account
}

func newTour(t *testing.T) *tour {
	hash, err := bcrypt.GenerateFromPassword([]byte("right"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	cluster := testkit.ControlPlane(t)
	cluster.Secret(t, v1alpha1.UsedByConferenceConfig, "users", map[string]string{"htpasswd": "ada:" + string(hash) + "\n"})
	w := newWorldOn(t, cluster, func(_, b *v1alpha1.ConferenceConfig) {
		b.Spec.Access = &v1alpha1.AccessSpec{Protected: new(true), UsersSecretRef: &v1alpha1.SecretKeyReference{Name: "users", Key: "htpasswd"}}
		b.Spec.Web = &v1alpha1.WebSpec{Brand: &v1alpha1.BrandSpec{Name: "Example Meetings", Color: "#b4235a"}}
	})
	return &tour{world: w, a: w.a, b: w.b}
}

// at looks at a screen once it shows what is waited for.
func (tour) at(t *testing.T, p *testkit.Page, d testkit.Device, name, shown string) {
	t.Helper()
	p.WaitFor(t, shown)
	checkAccess(t, p, d)
	takeScreenshots(t, p, d, name)
}

// TestEveryScreen reaches every screen of the page, and finds no barrier on any, in either theme.
func TestEveryScreen(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newTour(t)
	for _, c := range []struct {
		name string
		look func(*tour, *testing.T)
	}{
		{"before the meeting", (*tour).before},
		{"refusals", (*tour).refusals},
		{"too many attempts", (*tour).tooManyAttempts},
		{"page that cannot work", (*tour).broken},
		{"meeting", (*tour).meeting},
		{"crowd", (*tour).crowd},
		{"telephone", (*tour).telephone},
		{"after the meeting", (*tour).after},
		{"Arabic", (*tour).arabic},
	} {
		t.Run(c.name, func(t *testing.T) {
			own := *w
			own.a, own.b = w.a.on(t), w.b.on(t)
			c.look(&own, t)
		})
	}
}

func (w *tour) before(t *testing.T) {
	p := testkit.Browser(t).OpenOn(t, desk, w.b.baseURL+"/")
	w.at(t, p, desk, "home brand", shows("home")+`&& document.body.innerText.includes('Example Meetings')`)
	p.Goto(t, w.a.baseURL+"/")
	w.at(t, p, desk, "home", shows("home"))
	p.Type(t, by("room-input"), "a/b")
	p.Click(t, by("home-join"))
	w.at(t, p, desk, "home invalid", `document.querySelector('[aria-invalid=true]')`)

	w.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "secret", "name": "x", "roomPassword": "sesame"})
	p.Type(t, by("room-input"), "secret")
	p.Click(t, by("home-join"))
	w.at(t, p, desk, "prejoin", shows("prejoin")+`&& document.querySelector('.preview video').videoWidth > 0`)
	p.WaitFor(t, `parseInt(document.querySelector('[data-testid=mic-level]').ariaValueNow) > 0`)
	p.Type(t, by("name-input"), "Ada")
	p.Click(t, by("join-button"))
	w.at(t, p, desk, "prejoin password", shows("password-input"))
	p.Type(t, by("password-input"), "wrong")
	p.Click(t, by("join-button"))
	w.at(t, p, desk, "prejoin wrong password", `document.querySelector('[data-testid=password-input][aria-invalid=true]')`)
	p.Type(t, by("password-input"), "sesame")
	p.Click(t, by("join-button"))
	p.WaitFor(t, inRoom)
	p.Goto(t, w.a.roomURL("secret"))
	p.WaitFor(t, `document.querySelector('[data-testid=name-input]').value === 'Ada'`)
	p.Close()

	room := strings.TrimPrefix(w.b.want(http.StatusOK, "POST", "/api/v1/meeting", nil).text("meeting"), w.b.baseURL+"/join/")
	p = testkit.Browser(t).OpenOn(t, desk, w.b.roomURL(room))
	p.Type(t, by("name-input"), "Ada")
	p.Click(t, by("join-button"))
	w.at(t, p, desk, "prejoin login", shows("login-username"))
	for i, c := range []struct{ username, password string }{{"ada", "wrong"}, {"ada", "right"}} {
		p.Type(t, by("login-username"), c.username)
		p.Type(t, by("login-password"), c.password)
		p.Click(t, by("join-button"))
		if i == 0 {
			w.at(t, p, desk, "prejoin wrong login", `document.querySelector('[data-testid=login-username][aria-invalid=true]')`)
		}
	}
	p.WaitFor(t, inRoom)
	p.Close()

	for _, c := range []struct{ name, failure, says string }{
		{"prejoin denied", "NotAllowedError", "Your browser blocks"},
		{"prejoin no devices", "NotFoundError", "No camera or microphone was found"},
	} {
		d := testkit.Device{Script: `navigator.permissions.query = async () => ({state: 'denied'});
			navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('', '` + c.failure + `') }`}
		p = testkit.Browser(t).OpenOn(t, d, w.a.roomURL("secret"))
		w.at(t, p, d, c.name, fmt.Sprintf(`document.querySelector('[data-testid=device-problem]')?.innerText.includes(%q)`, c.says))
		p.Type(t, by("name-input"), "Ada")
		p.Click(t, by("join-button"))
		p.Type(t, by("password-input"), "sesame")
		p.Click(t, by("join-button"))
		p.WaitFor(t, inRoom)
		p.Close()
	}
}

// refusals are what the gateway says to those who may not enter.
func (w *tour) refusals(t *testing.T) {
	for _, c := range []struct {
		reason string
		link   func() string
	}{
		{"Invalid", func() string { // cut, as some mail programs do
			link := w.a.link(map[string]any{"room": "cut", "name": "Ada"})
			return link[:len(link)-40]
		}},
		{"NotFound", func() string { return w.a.roomURL("nowhere") }},
		{"Invalid", func() string { return w.a.baseURL + "/join?name=Ada&room=" + strings.Repeat("x", 129) }},
		{"LinkExpired", func() string {
			link, err := url.Parse(w.a.link(map[string]any{"room": "forged", "name": "Ada"}))
			if err != nil {
				t.Fatal(err)
			}
			q := link.Query()
			parts := strings.Split(q.Get("token"), ".")
			parts[2] = strings.Repeat("A", len(parts[2]))
			q.Set("token", strings.Join(parts, "."))
			link.RawQuery = q.Encode()
			return link.String()
		}},
		{"Full", func() string {
			w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "full", "maxParticipants": 1})
			w.a.enter(map[string]any{"room": "full", "name": "Ada"})
			return w.a.link(map[string]any{"room": "full", "name": "Bob"})
		}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			p := testkit.Browser(t).OpenOn(t, desk, c.link())
			defer p.Close()
			p.WaitFor(t, shows("prejoin")+"||"+shows("error-screen"))
			if is(t, p, shows("prejoin")) {
				p.Type(t, by("name-input"), "Ada")
				p.Click(t, by("join-button"))
			}
			w.at(t, p, desk, "error "+c.reason, errorScreen(c.reason))
		})
	}
}

// tooManyAttempts guesses a password until the page says that it is too often.
func (w *tour) tooManyAttempts(t *testing.T) {
	const tooMany = `document.querySelector('form [role=alert].warning')`
	w.a.link(map[string]any{"room": "guessed", "name": "Ada", "roomPassword": "sesame"})
	p := testkit.Browser(t).OpenOn(t, desk, w.a.roomURL("guessed")+"?name=Ada")
	defer p.Close()
	p.Click(t, by("join-button"))
	p.WaitFor(t, shows("password-input"))
	for is(t, p, "!"+tooMany) {
		for {
			if status, _ := w.a.session(map[string]any{"room": "guessed", "name": "Eve", "password": "x"}); status == http.StatusTooManyRequests {
				break
			}
		}
		p.Type(t, by("password-input"), "y")
		p.Click(t, by("join-button"))
		// A slow machine may be allowed one more guess by now.
		p.WaitFor(t, tooMany+` || document.querySelector('[data-testid=password-input][aria-invalid=true]')`)
	}
	w.at(t, p, desk, "prejoin too many attempts", tooMany)
}

// broken are pages that cannot reach, load or do what they need.
func (w *tour) broken(t *testing.T) {
	p := testkit.Browser(t).OpenOn(t, desk, w.a.baseURL+"/no/such/page")
	w.at(t, p, desk, "error NoPage", errorScreen("NoPage"))
	p.Close()

	link := w.a.link(map[string]any{"room": "steady", "name": "Ada"})
	lockdown := testkit.Device{Script: "delete window.RTCPeerConnection"}
	p = testkit.Browser(t).OpenOn(t, lockdown, link)
	w.at(t, p, lockdown, "error NoWebRTC", errorScreen("NoWebRTC"))
	p.Close()

	p = testkit.Browser(t).Open(t, "about:blank")
	p.Block(t, "*://*:*/assets/call-*")
	p.Goto(t, link)
	w.at(t, p, testkit.Device{}, "error Broken", errorScreen("Broken"))
	p.Close()

	waiting := testkit.Device{Script: `window.fetch = () => new Promise(() => {})`}
	p = testkit.Browser(t).OpenOn(t, waiting, link)
	w.at(t, p, waiting, "joining", shows("joining"))
	p.Close()

	p = testkit.Browser(t).OpenOn(t, desk, w.a.roomURL("steady"))
	p.Type(t, by("name-input"), "Ada")
	p.WaitFor(t, `performance.getEntriesByType('resource').some(e => e.name.includes('/call-') && e.responseEnd)`)
	p.Offline(t, true)
	p.Click(t, by("join-button"))
	w.at(t, p, desk, "error Unavailable", errorScreen("Unavailable"))
	p.Offline(t, false)
	p.WaitFor(t, inRoom)
	p.Close()
}

// keepSockets keeps the WebSockets of a page.
const keepSockets = `
	window.sockets = []
	WebSocket = class extends WebSocket {
		constructor(...how) {
			super(...how)
			sockets.push(this)
		}
	}`

func (w *tour) after(t *testing.T) {
	const room = "over"
	link := w.a.link(map[string]any{"room": room, "name": "Ada"})
	second := testkit.Browser(t).OpenOn(t, testkit.Device{Script: keepSession}, link)
	second.WaitFor(t, inRoom)
	w.takePlaceOf(t, second, room)
	w.at(t, second, desk, "error Elsewhere", errorScreen("Elsewhere"))
	second.Click(t, by("retry-button"))
	second.WaitFor(t, inRoom)
	second.Click(t, by("leave-button"))
	w.at(t, second, desk, "left", shows("left"))
	second.Click(t, by("rejoin-button"))
	second.WaitFor(t, inRoom)

	presenter := w.a.join(desk, map[string]any{"room": room, "name": "Grace", "token": w.a.presenterToken("grace")})
	presenter.Click(t, by("participants-toggle"))
	actOn(t, presenter, "Ada", "act-remove")
	presenter.Click(t, by("remove-confirm"))
	w.at(t, second, desk, "error Removed", errorScreen("Removed"))
	second.Goto(t, link)
	w.at(t, second, desk, "error NotAllowed", errorScreen("NotAllowed"))
	second.Close()

	later := testkit.Device{Script: keepSockets}
	p := testkit.Browser(t).OpenOn(t, later, w.a.link(map[string]any{"room": room, "name": "Edsger"}))
	p.WaitFor(t, inRoom)
	p.WaitFor(t, `sockets.at(-1).send('a message of a later version') === undefined`)
	w.at(t, p, later, "error Outdated", errorScreen("Outdated"))
	second.Close()

	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+room, nil)
	presenter.WaitFor(t, shows("ended-countdown"))
	presenter.Click(t, by("ended-stay"))
	w.at(t, presenter, desk, "ended", shows("ended")+"&&"+hasNo("ended-countdown"))
	presenter.Close()
}

// keepSession lets a test see the session of a page.
const keepSession = `(fetch => window.fetch = async (...request) => {
	const answer = await fetch(...request);
	if (String(request[0]).endsWith('/session')) answer.clone().json().then(body => { if (body.session) window.opened = {...window.opened, ...body} });
	return answer;
})(window.fetch)`

// takePlaceOf comes in with the session of a page, as a copy of its tab would.
func (w *tour) takePlaceOf(t *testing.T, p *testkit.Page, room string) {
	t.Helper()
	session := testkit.Eval[string](t, p, "window.opened.session")
	status, e := w.a.session(map[string]any{"room": room, "name": "Ada", "session": session})
	if status != http.StatusOK {
		t.Fatalf("no session: %d %+v", status, e)
	}
	copied, err := peer.Join(t.Context(), e.Engine.URL, e.Engine.Token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(copied.Close)
}

func (w *tour) arabic(t *testing.T) {
	d := desk
	d.Language = "ar-EG,en"
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "arabic"})
	p := testkit.Browser(t).OpenOn(t, d, w.a.roomURL("arabic")+"?name="+url.QueryEscape("فاطمة الفهرية"))
	w.at(t, p, d, "arabic prejoin", `document.dir === 'rtl' && document.documentElement.lang === 'ar' && `+shows("prejoin"))
	p.Click(t, by("join-button"))
	p.WaitFor(t, inRoom)
	p.Click(t, by("chat-toggle"))
	p.Type(t, by("chat-input"), "مرحبًا! the link is https://example.com/خطة")
	p.Click(t, by("chat-send"))
	w.at(t, p, d, "arabic room", shows("chat-message"))
	p.Close()
}
