// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/peer"
)

// TestPastWeaknesses tries what has gone wrong in services of this kind, one by one.
func TestPastWeaknesses(t *testing.T) {
	testkit.Parallel(t, testkit.Browsers)
	w := newWorldOfOne(t, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Access = &v1alpha1.AccessSpec{Presenters: []string{"ada"}}
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{AllowedRedirectHosts: []string{"example.com", "*.example.org"}}
	})
	for _, weakness := range []struct {
		name string
		try  func(*testing.T, *world)
	}{
		{"parameter injection through the room", parameterInjection},
		{"URLs made of the Host header", hostHeader},
		{"password in a listing, a link or an object", passwordShown},
		{"lock bypassed over the media connection", lockBypassed},
		{"forged webhook", forgedWebhook},
		{"open redirect", openRedirect},
		{"XSS by name", xssByName},
		{"old token in a new meeting", oldToken},
		{"presenter by display name", presenterByName},
		{"limit raised in the page", limitRaised},
		{"one login for everybody behind an address", loginOfAnAddress},
	} {
		t.Run(weakness.name, func(t *testing.T) {
			on := *w
			on.a, on.b = w.a.on(t), w.b.on(t)
			weakness.try(t, &on)
		})
	}
}

// parameterInjection: a room's name is data, whatever it looks like, in the URLs handed out and in those taken.
func parameterInjection(t *testing.T, w *world) {
	for i, room := range []string{
		"x&presenter=true&token=forged", "x?name=Eve#", "x#fragment", "x%26hide%3Dtrue", "x;y=z", "a+b", "a b", `"><script>alert(1)</script>`,
		"%2e%2e", "...", "‮gnp.exe", "x\u2028y", "ᴂ/", `\\evil`, "..", "api", "session", //nolint:staticcheck // the character itself is what is tried
	} {
		room = strings.NewReplacer("/", "", `\`, "").Replace(room)
		if room == ".." {
			w.a.want(http.StatusBadRequest, "POST", "/api/v1/join", map[string]any{"room": room, "name": "n"})
			continue
		}
		name := fmt.Sprintf("n%d&audio=true&room=other", i)
		asked := room
		room = meeting.CleanRoom(room)
		link, err := url.Parse(w.a.link(map[string]any{"room": asked, "name": name}))
		if err != nil {
			t.Errorf("%q: %v", room, err)
			continue
		}
		query := link.Query()
		want := []string{"audio", "avatar", "chat", "duration", "hide", "name", "notify", "room", "screen", "token", "video"}
		names := []string{}
		for parameter, values := range query {
			names = append(names, parameter)
			if len(values) != 1 {
				t.Errorf("%q: parameter %s has the values %q", room, parameter, values)
			}
		}
		slices.Sort(names)
		if link.Path != "/join" || link.Fragment != "" || query.Get("room") != room || query.Get("name") != name || query.Get("audio") != "false" || !slices.Equal(names, want) {
			t.Errorf("%q: the link is %s", room, link)
		}
		if e := w.a.mustEnter(map[string]any{"ticket": query.Get("token")}); e.Meeting.Room != room || e.You.Name != name || e.You.Presenter || e.You.Hidden {
			t.Errorf("%q: they enter %q as %+v", room, e.Meeting.Room, e.You)
		}
		entry, err := url.Parse(w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": asked}).text("meeting"))
		if err != nil || entry.Path != "/join/"+room || entry.RawQuery != "" || entry.Fragment != "" {
			t.Errorf("%q: the room's link is %s (%v)", room, entry, err)
		}
		w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/"+url.PathEscape(asked), nil)
	}
}

// hostHeader: no URL is made of what a request says about where it was sent.
func hostHeader(t *testing.T, w *world) {
	for _, call := range []struct{ method, path, body string }{
		{"POST", "/api/v1/meeting", "{}"}, {"POST", "/api/v1/join", `{"room":"hosted","name":"n"}`}, {"GET", "/api/v1/meetings", ""},
		{"GET", "/api/v1/docs/openapi.json", ""}, {"GET", "/join/hosted", ""}, {"GET", "/", ""}, {"POST", "/session", `{"room":"hosted","name":"n"}`},
		{"GET", "/hosted", ""}, {"GET", "/nowhere/at/all", ""},
	} {
		request, err := http.NewRequestWithContext(t.Context(), call.method, w.a.baseURL+call.path, strings.NewReader(call.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = "evil.example.net"
		for name, value := range map[string]string{
			"Authorization": w.a.key, "X-Forwarded-Host": "evil.example.net", "Forwarded": "host=evil.example.net", "X-Original-Url": "/evil",
			"X-Forwarded-Proto": "javascript", "X-Forwarded-Prefix": "//evil.example.net",
		} {
			request.Header.Set(name, value)
		}
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		var raw bytes.Buffer
		_, _ = raw.ReadFrom(response.Body)
		_ = response.Body.Close()
		if strings.Contains(raw.String(), "evil") || strings.Contains(fmt.Sprint(response.Header), "evil") {
			t.Errorf("%s %s: %v %s", call.method, call.path, response.Header, raw.String())
		}
	}
}

// passwordShown: a room's password is in nothing that anybody can read.
func passwordShown(t *testing.T, w *world) {
	const password = "open-sesame-4711"
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "vault", "roomPassword": password})
	link := w.a.link(map[string]any{"room": "vault", "name": "Ada", "roomPassword": password})
	e := w.a.mustEnter(map[string]any{"room": "vault", "name": "Ada", "password": password})
	shown := map[string]string{
		"the link": link, "the listing": w.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil).raw, "the session": fmt.Sprintf("%+v", e),
		"the objects": w.Kubectl(t, "get", "meetings,conferenceconfigs,events,secrets", "-n", w.Namespace, "-o", "yaml"), "the manager's log": w.manager.Log(),
		"LiveKit's log": w.livekit.Log(),
	}
	for _, token := range []string{strings.SplitN(link, "&token=", 2)[1], e.Session, e.Engine.Token} {
		for i, part := range strings.Split(token, ".") {
			decoded, _ := base64.RawURLEncoding.DecodeString(part)
			shown[fmt.Sprintf("part %d of a token", i)] += string(decoded)
		}
	}
	for where, text := range shown {
		if strings.Contains(text, password) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(password))) {
			t.Errorf("%s has the password", where)
		}
	}
}

// lockBypassed: the way to the media asks for what the page was asked for.
func lockBypassed(t *testing.T, w *world) {
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "locked", "roomPassword": "sesame"})
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "open"})
	inside := w.a.mustEnter(map[string]any{"room": "locked", "name": "Ada", "password": "sesame"})
	inside.connect(t)
	w.a.refused("without the password", map[string]any{"room": "locked", "name": "Eve"}, "PasswordRequired")
	w.a.refused("with a lie", map[string]any{"room": "locked", "name": "Eve", "locked": false, "knowsPassword": true, "way": "ticket"}, "PasswordRequired")
	elsewhere := w.a.mustEnter(map[string]any{"room": "open", "name": "Eve"})
	w.a.refused("with another room's session", map[string]any{"room": "locked", "name": "Eve", "session": elsewhere.Session}, "PasswordRequired")

	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(elsewhere.Engine.Token, claims); err != nil {
		t.Fatal(err)
	}
	own := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(inside.Engine.Token, own); err != nil {
		t.Fatal(err)
	}
	claims["video"] = own["video"]
	unsigned, _ := jwt.NewWithClaims(jwt.SigningMethodNone, claims).SignedString(jwt.UnsafeAllowNoneSignatureType)
	guessed, _ := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte("secret"))
	for reason, token := range map[string]string{
		"no token": "", "a session": elsewhere.Session, "one without a signature": unsigned, "one signed with a guess": guessed,
		"the API's key": w.a.key, "a changed one": elsewhere.Engine.Token + "x",
	} {
		if getsIn(t, w.a.baseURL+"/media-server", token) {
			t.Errorf("%s gets in through the gateway", reason)
		}
		if getsIn(t, w.livekit.URL, token) {
			t.Errorf("%s gets in at LiveKit", reason)
		}
	}
	for _, path := range []string{
		"/media-server/twirp/livekit.RoomService/ListRooms", "/media-server/", "/media-server/rtc/../twirp/livekit.RoomService/ListRooms", "/media-server/rtc/%2e%2e/twirp/livekit.RoomService/ListRooms",
		"/media-server/agent", "/media-server/debug/pprof/",
	} {
		if r := w.a.call("POST", path, "{}"); r.status < 400 {
			t.Errorf("%s: %d %s", path, r.status, r.raw)
		}
		if r := w.a.call("GET", path+"?access_token="+inside.Engine.Token, nil); r.status < 400 {
			t.Errorf("GET %s: %d %s", path, r.status, r.raw)
		}
	}
}

// forgedWebhook: only LiveKit's own key makes an event, and even then nothing depends on what it says.
func forgedWebhook(t *testing.T, w *world) {
	p, e := w.a.enter(map[string]any{"room": "hooked", "name": "Ada"})
	config, err := w.uidOf("default")
	if err != nil {
		t.Fatal(err)
	}
	uid := w.meetingsOf(t, "hooked")[0].UID
	event := fmt.Sprintf(`{"event":"room_finished","room":{"name":"convene_%s_%s"},"id":"EV_x","createdAt":"1"}`, config, uid)
	for reason, authorization := range map[string]string{
		"nothing": "", "nonsense": "x", "an access token": e.Engine.Token, "a session": e.Session, "the API's key": w.a.key,
	} {
		if r := w.a.with(authorization).call("POST", "/media-server/webhook", event); r.status != http.StatusUnauthorized {
			t.Errorf("%s: %d %s", reason, r.status, r.raw)
		}
	}
	w.eventually(t, w.hasPeople("hooked", 1))
	select {
	case reason := <-p.Disconnected():
		t.Errorf("disconnected: %s", reason)
	default:
	}
	if state := w.a.as(e.Session, "GET", "/session", nil); state.text("state") != "live" {
		t.Errorf("the meeting: %s", state.raw)
	}
}

// openRedirect: nobody is sent where the operator has not allowed it, and no path of ours leads elsewhere.
func openRedirect(t *testing.T, w *world) {
	_, e := w.a.enter(map[string]any{"room": "leading", "name": "Ada", "token": w.a.presenterToken("ada")})
	for _, to := range []string{
		"https://evil.example.net/", "//evil.example.net", "javascript:alert(1)", "data:text/html,x", "https://example.com.evil.example.net/", "https://example.com@evil.example.net/",
		`https://example.com\@evil.example.net/`, "https://evil.example.net?.example.org", "https://evil.example.net#.example.org", " https://example.com/", "/bye", "https:///x",
	} {
		for _, call := range []struct{ method, path string }{{"POST", "/api/v1/meeting"}, {"DELETE", "/api/v1/meeting/leading"}} {
			w.a.want(http.StatusBadRequest, call.method, call.path, map[string]any{"redirect": to})
		}
		if r := w.a.as(e.Session, "POST", "/session/act", map[string]any{"action": "end", "redirect": to}); r.status != http.StatusBadRequest {
			t.Errorf("a presenter sends everybody to %q: %d %s", to, r.status, r.raw)
		}
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, path := range []string{
		"//evil.example.net", "///evil.example.net/", "/%2F%2Fevil.example.net", `/\evil.example.net`, "/%5Cevil.example.net", "/https://evil.example.net",
		"/https:%2F%2Fevil.example.net", "/..%2f..%2fevil", "/%0d%0aLocation:%20https://evil.example.net", "/join?redirect=https://evil.example.net", "/room?x=//evil.example.net",
	} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", w.a.baseURL, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.URL.Opaque = path
		response, err := client.Do(request)
		if err != nil {
			continue // Such a request cannot be sent.
		}
		_ = response.Body.Close()
		// A second slash, or a backslash that browsers take for one, would begin another host.
		if location := response.Header.Get("Location"); location != "" && !regexp.MustCompile(`^/([^/\\]|$)`).MatchString(location) {
			t.Errorf("%s leads to %s", path, location)
		}
	}
	if listed := w.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil); !strings.Contains(listed.raw, `"leading"`) {
		t.Errorf("the meeting is over: %s", listed.raw)
	}
}

// xssByName: what people are called, and what they say, is text.
func xssByName(t *testing.T, w *world) {
	const bad = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`
	for _, avatar := range []string{"javascript:window.hacked=1", "data:text/html,x", `"><script>window.hacked=1</script>`} {
		w.a.want(http.StatusBadRequest, "POST", "/api/v1/join", map[string]any{"room": "r", "name": "n", "avatar": avatar})
	}
	room := `"'><b onmouseover="window.hacked=1">`
	room = strings.ReplaceAll(room, "/", "")
	_, eve := w.a.enter(map[string]any{"room": room, "name": bad, "notify": true, "avatar": "https://example.com/a.png?x=" + url.QueryEscape(bad) + "#'\"<"})
	page := testkit.Browser(t).Open(t, w.a.link(map[string]any{"room": room, "name": "Ada", "chat": true}))
	page.WaitFor(t, inRoom)
	page.WaitFor(t, "!!("+tileOf(bad)+")")
	page.Click(t, by("chat-toggle"))
	w.eventually(t, func() error {
		if r := w.a.as(eve.Session, "POST", "/session/chat", map[string]any{"text": bad + " javascript:window.hacked=1"}); r.status != http.StatusNoContent {
			return fmt.Errorf("%d %s", r.status, r.raw)
		}
		return nil
	})
	page.WaitForText(t, bad+" javascript:window.hacked=1")
	if hacked := testkit.Eval[bool](t, page, "'hacked' in window"); hacked {
		t.Error("a participant's script ran")
	}
	for _, selector := range []string{"img[onerror]", "b[onmouseover]", "a[href^='javascript']", "body script:not([src]):not([type])", "script:not([src]):not([type]) ~ script:not([src]):not([type])"} {
		if n := testkit.Eval[int](t, page, fmt.Sprintf("document.querySelectorAll(%q).length", selector)); n > 0 {
			t.Errorf("the page has %d of %s", n, selector)
		}
	}
	prejoin := testkit.Browser(t).Open(t, w.a.roomURL(room)+"?name="+url.QueryEscape(bad))
	prejoin.WaitFor(t, shows("prejoin-room"))
	if name := testkit.Eval[string](t, prejoin, `document.querySelector('[data-testid=name-input]').value`); name != bad {
		t.Errorf("the name in the form is %q", name)
	}
	if hacked := testkit.Eval[bool](t, prejoin, "'hacked' in window"); hacked {
		t.Error("a script in the link ran")
	}
}

// oldToken: what opened a meeting is worth nothing in the next of its name.
func oldToken(t *testing.T, w *world) {
	ticket := w.a.ticket(map[string]any{"room": "weekly", "name": "Eve"})
	e := w.a.mustEnter(map[string]any{"ticket": ticket})
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/weekly", nil)
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "weekly"})
	w.a.refused("the ticket", map[string]any{"ticket": ticket}, "Ended")
	w.a.refused("the session", map[string]any{"ticket": ticket, "session": e.Session}, "Ended")
	if status := w.a.door(e.Engine.Token); status != http.StatusGone {
		t.Errorf("the access token: %d", status)
	}
}

// presenterByName: a presenter's name, even a listed user's, gives no rights.
func presenterByName(t *testing.T, w *world) {
	_, other := w.a.enter(map[string]any{"room": "led", "name": "Bob"})
	link, err := url.Parse(w.a.link(map[string]any{"room": "led", "name": "ada"}))
	if err != nil {
		t.Fatal(err)
	}
	w.a.want(http.StatusForbidden, "POST", "/api/v1/join", map[string]any{"room": "led", "name": "ada", "presenter": true})
	for reason, body := range map[string]map[string]any{
		"by the name in a ticket": {"ticket": link.Query().Get("token")},
		"by the name at the door": {"room": "led", "name": "ada"},
		"by asking for it":        {"room": "led", "name": "ada", "presenter": true, "granted": true, "Presenter": "true"},
	} {
		e := w.a.mustEnter(body)
		if e.You.Presenter {
			t.Errorf("%s: %+v", reason, e.You)
		}
		p := e.connect(t)
		if p.Attributes()["presenter"] != "" {
			t.Errorf("%s: the others see a presenter: %v", reason, p.Attributes())
		}
		for _, action := range []string{"end", "remove", "mute"} {
			if r := w.a.as(e.Session, "POST", "/session/act", map[string]any{"action": action, "identity": other.You.Identity}); r.status != http.StatusForbidden {
				t.Errorf("%s, %s: %d %s", reason, action, r.status, r.raw)
			}
		}
	}
	w.a.refused("as the user, without a password", map[string]any{"room": "led", "name": "n", "username": "ada"}, "WrongLogin")
	if e := w.a.mustEnter(map[string]any{"room": "led", "name": "Sam", "token": w.a.want(http.StatusOK, "POST", "/api/v1/token", map[string]any{
		"username": "ada", "password": "x",
	}).text("token")}); !e.You.Presenter {
		t.Error("the listed user, verified by a token, is no presenter")
	}
}

// limitRaised: a changed page gains nothing: not a place, not chat, not the eyes of others, not another name.
func limitRaised(t *testing.T, w *world) {
	w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "small", "maxParticipants": 2})
	link, err := url.Parse(w.a.link(map[string]any{"room": "small", "name": "Eve", "chat": false, "hide": true}))
	if err != nil {
		t.Fatal(err)
	}
	ticket := link.Query().Get("token")
	e := w.a.mustEnter(map[string]any{
		"ticket": ticket, "name": "Mallory", "chat": true, "hide": false, "presenter": true, "maxParticipants": 1000, "audio": true, "video": true, "room": "other",
	})
	if e.You.Name != "Eve" || e.You.Chat || !e.You.Hidden || e.You.Presenter || e.You.Audio || e.Meeting.Room != "small" {
		t.Errorf("the page's word counts: %+v in %s", e.You, e.Meeting.Room)
	}
	eve := e.connect(t)
	for _, source := range []peer.Source{peer.Microphone, peer.Camera, peer.Screen} {
		if _, err := eve.Publish(t.Context(), source); err == nil {
			t.Errorf("a hidden one publishes source %d", source)
		}
	}
	if r := w.a.as(e.Session, "POST", "/session/chat", `{"text":"hello"}`); r.status != http.StatusForbidden {
		t.Errorf("chat: %d %s", r.status, r.raw)
	}
	bob, second := w.a.enter(map[string]any{"room": "small", "name": "Bob"})
	if others := bob.Others(); len(others) > 0 {
		t.Errorf("a hidden one is seen: %v", others)
	}
	w.a.refused("the third of two", map[string]any{"room": "small", "name": "Third", "maxParticipants": 3}, "Full")
	// Another connection beside the first, as `publish=` makes one at LiveKit itself.
	response, err := http.Get(w.a.baseURL + "/media-server/rtc/validate?publish=extra&access_token=" + url.QueryEscape(second.Engine.Token))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	rooms, err := w.engine(t).Rooms(t.Context(), w.engineRoom(t, "small"))
	if err != nil || len(rooms) != 1 || rooms[0].Participants > 2 {
		t.Errorf("people in %+v, %v", rooms, err)
	}
}

// loginOfAnAddress: being let in is a matter of the session that was given, not of where it was given.
func loginOfAnAddress(t *testing.T, w *world) {
	w.Kubectl(t, "patch", "confcfg", "default", "--type=merge", "-p", `{"spec":{"access":{"protected":true}}}`)
	token := w.a.presenterToken("ada")
	w.eventually(t, func() error {
		if status, e := w.a.session(map[string]any{"room": "guarded", "name": "Eve"}); status != http.StatusUnauthorized || e.Reason != "LoginRequired" {
			return fmt.Errorf("%d %s", status, e.Reason)
		}
		return nil
	})
	w.a.want(http.StatusForbidden, "POST", "/api/v1/join", map[string]any{"room": "guarded", "name": "Eve"})
	ticket := w.a.ticket(map[string]any{"room": "guarded", "name": "Ada", "token": token})
	w.a.mustEnter(map[string]any{"ticket": ticket})
	w.a.mustEnter(map[string]any{"room": "guarded", "name": "Ada", "token": token})
	for reason, body := range map[string]map[string]any{
		"from the same address":         {"room": "guarded", "name": "Eve"},
		"under the same name":           {"room": "guarded", "name": "Ada"},
		"with an empty login":           {"room": "guarded", "name": "Ada", "username": "", "userPassword": ""},
		"with a token that is not one":  {"room": "guarded", "name": "Ada", "token": token + "x"},
		"with a session that is not":    {"room": "guarded", "name": "Ada", "session": "x.y.z"},
		"with a ticket for a token":     {"room": "guarded", "name": "Ada", "token": ticket},
		"with the key of the API":       {"room": "guarded", "name": "Ada", "token": w.a.key},
		"with a token of another host":  {"room": "guarded", "name": "Ada", "token": w.b.presenterToken("ada")},
		"with a token for a ticket":     {"ticket": token},
		"with a login of no known user": {"room": "guarded", "name": "Ada", "username": "ada", "userPassword": "x"},
	} {
		w.a.refused(reason, body, "LoginRequired", "WrongLogin", "LinkExpired")
	}
}
