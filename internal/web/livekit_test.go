// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/livekit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit"
	lkpeer "convene.dev/convene/internal/testkit/peer"
)

// patience is for what must happen; nothing is measured by it.
const patience = 30 * time.Second

// liveSite is a site on a real socket, before a real LiveKit.
type liveSite struct {
	*site
	server  *httptest.Server
	livekit *testkit.LiveKitServer
	view    *meeting.View
	hinted  chan engine.RoomName
}

func newLiveSite(t *testing.T) *liveSite {
	t.Helper()
	l := &liveSite{hinted: make(chan engine.RoomName, 1024)}
	var serving http.Handler
	l.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serving.ServeHTTP(w, r) }))
	t.Cleanup(l.server.Close)
	l.livekit = testkit.LiveKit(t, testkit.LiveKitOptions{WebhookURLs: []string{l.server.URL + "/media-server/webhook"}})
	l.site = newSite(t, func(t *tenant.Tenant) {
		t.BaseURL = l.server.URL
		t.Hosts = []string{strings.TrimPrefix(l.server.URL, "http://")}
	})
	at := engine.Server{URL: l.livekit.URL, Key: l.livekit.Key, Secret: l.livekit.Secret}
	e, err := livekit.New("media", at)
	if err != nil {
		t.Fatal(err)
	}
	l.tenant.Media = []*tenant.Media{{Server: at, Engine: e}}
	l.now = time.Now()
	l.handler = mustHandler(t, l.site, Options{
		Tenants: fakeTenants{l.tenant},
		Hint:    func(room engine.RoomName) { l.hinted <- room },
	})
	l.router = l.route(l.handler)
	serving = l.router
	l.view = l.meetings.open("room", nil)
	return l
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// post calls a session endpoint over the socket.
func (l *liveSite) post(t *testing.T, path, session string, b object) (status int, answer []byte) {
	t.Helper()
	raw, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(within(t), http.MethodPost, l.server.URL+path, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0")
	if session != "" {
		r.Header.Set(sessionHeader, session)
	}
	response, err := l.server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

func (l *liveSite) open(t *testing.T, b object) sessionAnswer {
	t.Helper()
	status, raw := l.post(t, "/session", "", b)
	var s sessionAnswer
	if err := json.Unmarshal(raw, &s); err != nil || status != http.StatusOK {
		t.Fatalf("status %d: %s", status, raw)
	}
	return s
}

// come opens a session and joins through the proxy, as a page does.
func (l *liveSite) come(t *testing.T, b object) (sessionAnswer, *lkpeer.Peer) {
	t.Helper()
	s := l.open(t, b)
	return s, l.join(t, s)
}

func (l *liveSite) join(t *testing.T, s sessionAnswer) *lkpeer.Peer {
	t.Helper()
	p, err := lkpeer.Join(within(t), s.Engine.URL, s.Engine.Token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func (l *liveSite) people(t *testing.T) []engine.Participant {
	t.Helper()
	people, err := l.tenant.Media[0].Engine.Participants(within(t), l.view.EngineRoom)
	if err != nil {
		t.Fatal(err)
	}
	return people
}

func identities(people []engine.Participant) []engine.Identity {
	out := make([]engine.Identity, 0, len(people))
	for _, p := range people {
		out = append(out, p.Identity)
	}
	slices.Sort(out)
	return out
}

// wantRefused joins and expects the gateway's refusal.
func wantRefused(t *testing.T, s sessionAnswer, status int) {
	t.Helper()
	p, err := lkpeer.Join(within(t), s.Engine.URL, s.Engine.Token)
	if err == nil {
		p.Close()
		t.Fatalf("let in, want status %d", status)
	}
	if refused := (*lkpeer.RefusedError)(nil); !errors.As(err, &refused) || refused.Status != status {
		t.Errorf("got %v, want status %d", err, status)
	}
}

func TestAPeerGetsInThroughTheGateway(t *testing.T) {
	l := newLiveSite(t)
	s, _ := l.come(t, object{"ticket": l.ticket(t, func(k *credential.Ticket) {
		k.Presenter, k.Notify, k.Avatar = true, true, "https://a.example/1.png"
	})})
	people := l.people(t)
	if len(people) != 1 {
		t.Fatalf("%d people are in", len(people))
	}
	people[0].JoinedAt = time.Time{}
	want := engine.Participant{Identity: s.You.Identity, Name: "Tina", Traits: engine.Traits{
		Presenter: true, Granted: true, Chat: true, Notify: true, Avatar: "https://a.example/1.png", OS: "Linux", Browser: "Firefox 127",
	}}
	if diff := cmp.Diff(want, people[0]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	ctx := within(t)
	for {
		select {
		case room := <-l.hinted:
			if room == l.view.EngineRoom {
				return
			}
		case <-ctx.Done():
			t.Fatal("no webhook of LiveKit became a hint")
		}
	}
}

func TestLiveKitValidatesThroughTheGateway(t *testing.T) {
	l := newLiveSite(t)
	s := l.open(t, object{"room": "room", "name": "Ann"})
	for token, want := range map[string]int{s.Engine.Token: http.StatusOK, s.Engine.Token + "x": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(within(t), http.MethodGet,
			l.server.URL+"/media-server/rtc/validate?"+url.Values{"access_token": {token}}.Encode(), nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := l.server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("status %d, want %d", response.StatusCode, want)
		}
	}
}

func TestPublishMakesNoSecondIdentity(t *testing.T) {
	l := newLiveSite(t)
	s := l.open(t, object{"room": "room", "name": "Ann"})
	query := url.Values{"access_token": {s.Engine.Token}, "protocol": {"16"}, "auto_subscribe": {"1"}, "publish": {"second"}}

	// LiveKit itself takes the parameter, or this test would show nothing.
	direct := strings.Replace(l.livekit.URL, "http", "ws", 1) + "/rtc?" + query.Encode()
	dialAndHold(t, direct)
	testkit.Eventually(t, patience, func() error {
		return wantIdentities(l.people(t), s.You.Identity+"#second")
	})
	dialAndHold(t, s.Engine.URL+"/rtc?"+query.Encode())
	testkit.Eventually(t, patience, func() error {
		return wantIdentities(l.people(t), s.You.Identity, s.You.Identity+"#second")
	})
}

func dialAndHold(t *testing.T, at string) {
	t.Helper()
	conn, _, err := websocket.Dial(within(t), at, nil) //nolint:bodyclose // the library closes it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
}

func wantIdentities(people []engine.Participant, want ...engine.Identity) error {
	slices.Sort(want)
	if got := identities(people); !slices.Equal(got, want) {
		return fmt.Errorf("in are %v, want %v", got, want)
	}
	return nil
}

func TestChatGoesToThoseWhoHaveIt(t *testing.T) {
	l := newLiveSite(t)
	ann, annPeer := l.come(t, object{"room": "room", "name": "Ann"})
	_, mutePeer := l.come(t, object{"room": "room", "name": "Mute", "chat": false})
	_, bobPeer := l.come(t, object{"room": "room", "name": "Bob"})

	longest := strings.Repeat("😀", 4000)
	if status, raw := l.post(t, "/session/chat", ann.Session, object{"text": longest}); status != http.StatusNoContent {
		t.Fatalf("status %d: %s", status, raw)
	}
	for _, p := range []*lkpeer.Peer{annPeer, bobPeer} {
		select {
		case d := <-p.Data():
			var m chatMessage
			if err := json.Unmarshal(d.Payload, &m); err != nil {
				t.Fatal(err)
			}
			if d.Topic != "convene.chat" || d.From != "" || m.Text != longest || m.Name != "Ann" || m.From != ann.You.Identity {
				t.Errorf("heard on %s from %q: %.200v", d.Topic, d.From, m)
			}
		case <-within(t).Done():
			t.Fatal("a participant with chat heard nothing")
		}
	}
	if n := len(mutePeer.Data()); n > 0 {
		t.Errorf("a participant without chat heard %d messages", n)
	}
}

func TestWhoIsRemovedStaysOut(t *testing.T) {
	l := newLiveSite(t)
	presenter, _ := l.come(t, object{"ticket": l.ticket(t, presenting)})
	ticket := object{"ticket": l.ticket(t, nil)}
	bob, bobPeer := l.come(t, ticket)
	secondToken := l.open(t, ticket)

	status, raw := l.post(t, "/session/act", presenter.Session, object{"action": "remove", "identity": bob.You.Identity})
	if status != http.StatusNoContent {
		t.Fatalf("status %d: %s", status, raw)
	}
	select {
	case reason := <-bobPeer.Disconnected():
		if reason != "PARTICIPANT_REMOVED" {
			t.Errorf("disconnected: %s", reason)
		}
	case <-within(t).Done():
		t.Fatal("still in")
	}
	wantRefused(t, bob, http.StatusForbidden)
	wantRefused(t, secondToken, http.StatusForbidden)
	if status, raw := l.post(t, "/session", "", ticket.with(object{"session": bob.Session})); status != http.StatusForbidden {
		t.Errorf("status %d: %s", status, raw)
	}
	if err := wantIdentities(l.people(t), presenter.You.Identity); err != nil {
		t.Error(err)
	}
}

func TestAMeetingThatHasEndedLetsNobodyIn(t *testing.T) {
	l := newLiveSite(t)
	s := l.open(t, object{"room": "room", "name": "Ann"})
	l.meetings.change(l.view, func(v *meeting.View) { v.Ended = true })
	wantRefused(t, s, http.StatusGone)
}

func TestTheLastPlaceIsTakenOnce(t *testing.T) {
	l := newLiveSite(t)
	l.view.MaxParticipants = 2
	const coming = 6
	sessions := make([]sessionAnswer, 0, coming)
	for range coming {
		// Nobody is in yet, so that everybody gets a session.
		sessions = append(sessions, l.open(t, object{"room": "room", "name": "Ann"}))
	}
	var all sync.WaitGroup
	results := make(chan error, coming)
	ctx := within(t)
	for _, s := range sessions {
		all.Go(func() {
			p, err := lkpeer.Join(ctx, s.Engine.URL, s.Engine.Token)
			if err == nil {
				t.Cleanup(p.Close)
			}
			results <- err
		})
	}
	all.Wait()
	close(results)
	in := 0
	for err := range results {
		refused := (*lkpeer.RefusedError)(nil)
		switch {
		case err == nil:
			in++
		case !errors.As(err, &refused) || refused.Status != http.StatusConflict:
			t.Errorf("refused with %v", err)
		}
	}
	if in != 2 || len(l.people(t)) != 2 {
		t.Errorf("%d got in, LiveKit has %d, of a greatest 2", in, len(l.people(t)))
	}
}

func TestWhoComesBackReplacesThemselves(t *testing.T) {
	l := newLiveSite(t)
	l.view.MaxParticipants = 1
	ann := object{"room": "room", "name": "Ann"}
	first, firstPeer := l.come(t, ann)
	second, _ := l.come(t, ann.with(object{"session": first.Session}))
	if second.You.Identity != first.You.Identity {
		t.Errorf("%s came back as %s", first.You.Identity, second.You.Identity)
	}
	select {
	case reason := <-firstPeer.Disconnected():
		if reason != "DUPLICATE_IDENTITY" {
			t.Errorf("disconnected: %s", reason)
		}
	case <-within(t).Done():
		t.Fatal("both are in")
	}
	testkit.Eventually(t, patience, func() error { return wantIdentities(l.people(t), first.You.Identity) })
}

func TestAnEngineThatComesBackIsEnteredAgain(t *testing.T) {
	l := newLiveSite(t)
	ann := object{"room": "room", "name": "Ann"}
	first, _ := l.come(t, ann)
	l.livekit.Kill()
	if status, raw := l.post(t, "/session", "", ann.with(object{"session": first.Session})); status != http.StatusServiceUnavailable {
		t.Fatalf("status %d: %s", status, raw)
	}
	l.livekit.Start(t)
	second, _ := l.come(t, ann.with(object{"session": first.Session}))
	if err := wantIdentities(l.people(t), first.You.Identity); err != nil || second.You.Identity != first.You.Identity {
		t.Error(err)
	}
}
