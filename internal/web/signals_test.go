// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// upstreamEngine answers the site's signalling, and keeps what arrived.
func (s *site) upstreamEngine(t *testing.T) *[]*http.Request {
	t.Helper()
	var arrived []*http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived = append(arrived, r)
		_, _ = w.Write([]byte("success"))
	}))
	t.Cleanup(server.Close)
	s.tenant.Media[0].Server.URL = server.URL + "/prefix"
	return &arrived
}

// connect asks for signalling as livekit-client does.
func (s *site) connect(t *testing.T, path string, query url.Values) answer {
	t.Helper()
	return s.do(t, newRequest(http.MethodGet, "/media-server/"+path+"?"+query.Encode(), ""))
}

func TestWhoGetsThroughToTheEngine(t *testing.T) {
	const ann = "origin-ann"
	inRoom := accessTo(t, meeting.EngineRoom(configUID, "uid-1"), ann)
	for _, c := range []struct {
		reason string
		given  func(*site, *meeting.View)
		path   string
		token  string
		status int
		want   string
	}{
		{reason: "a participant with a token", token: inRoom, status: http.StatusOK},
		{reason: "with one peer connection", token: inRoom, path: "rtc/v1", status: http.StatusNotFound, want: "NotFound"},
		{reason: "asking why not", token: inRoom, path: "rtc/validate", status: http.StatusOK},
		{reason: "asking why not with one peer connection", token: inRoom, path: "rtc/v1/validate", status: http.StatusNotFound, want: "NotFound"},
		{reason: "without a token", status: http.StatusForbidden, want: "NotAllowed"},
		{reason: "with a token of another participant", token: "forged", status: http.StatusForbidden, want: "NotAllowed"},
		{reason: "into a room of another tenant", token: accessTo(t, "convene_other_uid-1", ann), status: http.StatusForbidden, want: "NotAllowed"},
		{reason: "into a room that is not ours", token: accessTo(t, "lobby", ann), status: http.StatusForbidden, want: "NotAllowed"},
		{
			reason: "into a meeting that this replica does not know", token: inRoom, status: http.StatusServiceUnavailable, want: "Unavailable",
			given: func(s *site, v *meeting.View) { s.meetings.unknown[v.UID] = true },
		}, {
			reason: "into a meeting that has ended", token: inRoom, status: http.StatusGone, want: "Ended",
			given: func(_ *site, v *meeting.View) { v.Ended = true },
		}, {
			reason: "after being removed", token: inRoom, status: http.StatusForbidden, want: "NotAllowed",
			given: func(_ *site, v *meeting.View) { v.Decisions = removed(ann) },
		}, {
			reason: "after another device of theirs was removed", token: inRoom, status: http.StatusForbidden, want: "NotAllowed",
			given: func(_ *site, v *meeting.View) { v.Decisions = removed("origin-other") },
		}, {
			reason: "after another participant was removed", token: inRoom, status: http.StatusOK,
			given: func(_ *site, v *meeting.View) { v.Decisions = removed("other-ann") },
		}, {
			reason: "into a full meeting", token: inRoom, status: http.StatusConflict, want: "Full",
			given: func(s *site, _ *meeting.View) { s.fill(10) },
		}, {
			reason: "into a full meeting in which they are", token: inRoom, status: http.StatusOK,
			given: func(s *site, _ *meeting.View) { s.fill(9); s.engine.join(ann) },
		}, {
			reason: "with the engine away", token: inRoom, status: http.StatusServiceUnavailable, want: "Unavailable",
			given: func(s *site, _ *meeting.View) { s.engine.err = fault.Unavailable("away") },
		}, {
			reason: "with the engine's signalling away", token: inRoom, status: http.StatusServiceUnavailable, want: "Unavailable",
			given: func(s *site, _ *meeting.View) { s.tenant.Media[0].Server.URL = "http://127.0.0.1:1" },
		}, {
			reason: "without an engine", token: inRoom, status: http.StatusServiceUnavailable, want: "Unavailable",
			given: func(s *site, _ *meeting.View) { s.tenant.Media = nil },
		},
		{reason: "to the engine's API", token: inRoom, path: "twirp/livekit.RoomService/ListRooms", status: http.StatusNotFound, want: "NotFound"},
		{reason: "around a corner", token: inRoom, path: "rtc/../twirp", status: http.StatusNotFound},
		{reason: "to something below", token: inRoom, path: "rtc/v2", status: http.StatusNotFound, want: "NotFound"},
		{reason: "to nothing", token: inRoom, path: "/", status: http.StatusNotFound},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t)
			arrived := s.upstreamEngine(t)
			v := s.meetings.open("room", nil)
			if c.given != nil {
				c.given(s, v)
			}
			if c.path == "" {
				c.path = "rtc"
			}
			got := s.connect(t, c.path, url.Values{"access_token": {c.token}})
			if got.Code != c.status {
				t.Fatalf("status %d, want %d: %s", got.Code, c.status, got.Body)
			}
			if c.want != "" && got.refusal().Reason != c.want {
				t.Errorf("reason %s, want %s", got.refusal().Reason, c.want)
			}
			if through := len(*arrived) > 0; through != (c.status == http.StatusOK) {
				t.Errorf("got through: %t", through)
			}
			if n := s.admission.Connected(v.EngineRoom); n > 0 {
				t.Errorf("%d are still counted in", n)
			}
		})
	}
}

func TestWhatGetsThroughToTheEngine(t *testing.T) {
	s := newSite(t)
	arrived := s.upstreamEngine(t)
	v := s.meetings.open("room", nil)
	token := accessTo(t, v.EngineRoom, "origin-ann")
	query := url.Values{
		"access_token": {token, "another"}, "publish": {"screen", "more"}, "reconnect": {"1"}, "sid": {"PA_x"}, "attributes": {"e30"},
	}
	r := newRequest(http.MethodGet, "/media-server/rtc?x=1;y=2&"+query.Encode(), "")
	r.Header.Set("Authorization", "Bearer another")
	r.Header.Set("Cookie", "of=the tenant's host")
	r.Header.Set("X-Forwarded-For", "203.0.113.1")
	r.Header.Set("User-Agent", "Browser/1")
	r.RemoteAddr = "192.0.2.1:1234"
	got := s.do(t, r)
	if got.Code != http.StatusOK {
		t.Fatalf("status %d: %s", got.Code, got.Body)
	}
	out := (*arrived)[0]
	want := url.Values{"access_token": {token}, "reconnect": {"1"}, "sid": {"PA_x"}}
	if diff := cmp.Diff(want, out.URL.Query()); diff != "" {
		t.Errorf("query (-want +got)\n%s", diff)
	}
	if out.URL.Path != "/prefix/rtc" || out.Host == host {
		t.Errorf("path %s, host %s", out.URL.Path, out.Host)
	}
	for name, want := range map[string]string{
		"Authorization": "", "Cookie": "", "X-Forwarded-For": "192.0.2.1", "User-Agent": "Browser/1",
	} {
		if got := out.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	var counted dto.Metric
	if err := s.metrics.signals.WithLabelValues("ok").Write(&counted); err != nil {
		t.Fatal(err)
	}
	if n := counted.GetCounter().GetValue(); n != 1 {
		t.Errorf("%v connections counted", n)
	}
}

// TestWhatAnEngineAnswersStaysOut: whoever writes a MediaServer decides what answers a page's request, and with what. The page runs at the
// tenant's own origin.
func TestWhatAnEngineAnswersStaysOut(t *testing.T) {
	for status, want := range map[string]int{
		"200 OK": 200, "401 Unauthorized": 401, "404 Not Found": 404, "503 Service Unavailable": 503,
		"302 Found": 502, "204 No Content": 502, "304 Not Modified": 502, "101 Switching Protocols": 502, "600 Odd": 502, "000 None": 502,
	} {
		for _, upgrade := range []string{"", "websocket"} {
			s := newSite(t)
			at := answerRaw(t, "HTTP/1.1 "+status+"\r\nContent-Type: text/html\r\nSet-Cookie: a=b\r\nLocation: https://evil.example/\r\n"+
				"Clear-Site-Data: \"*\"\r\nAccess-Control-Allow-Origin: *\r\nContent-Security-Policy: script-src *\r\nUpgrade: other\r\nConnection: Upgrade\r\n"+
				"Content-Length: 24\r\n\r\n<script>secret</script>\n")
			s.tenant.Media[0].Server.URL = at
			v := s.meetings.open("room", nil)
			r := newRequest(http.MethodGet, "/media-server/rtc/validate?"+url.Values{"access_token": {accessTo(t, v.EngineRoom, "origin-ann")}}.Encode(), "")
			bare := s.do(t, newRequest(http.MethodGet, "/media-server", "")).Header()
			if upgrade != "" {
				r.Header.Set("Connection", "Upgrade")
				r.Header.Set("Upgrade", upgrade)
				if want == 502 && strings.HasPrefix(status, "101") {
					continue // It is connected: internal/signalling has what of that goes on.
				}
			}
			got := s.do(t, r)
			if got.Code != want || strings.Contains(got.Body.String(), "secret") {
				t.Errorf("%s, upgrade %q: status %d: %s", status, upgrade, got.Code, got.Body)
			}
			for name, values := range got.Header() {
				if !slices.Equal(values, bare[name]) && name != "Content-Type" && name != "X-Request-Id" {
					t.Errorf("%s, upgrade %q: %s: %s", status, upgrade, name, values)
				}
			}
			if kind := got.Header().Get("Content-Type"); kind != "text/plain; charset=utf-8" {
				t.Errorf("%s, upgrade %q: Content-Type: %s", status, upgrade, kind)
			}
		}
	}
}

// answerRaw answers every request with some bytes.
func answerRaw(t *testing.T, answer string) (at string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.WriteString(conn, answer)
			}
			_ = conn.Close()
		}
	}()
	return "http://" + listener.Addr().String()
}

// TestATokenIsTriedWithItsKeyAlone: a stranger's token or webhook costs the same however many media servers there are.
// TestPathsOfBefore: a page that was opened before an update, and a LiveKit that has not been restarted, use the second name.
func TestPathsOfBefore(t *testing.T) {
	for _, path := range []string{"/media-server", "/engine"} {
		s := newSite(t)
		arrived := s.upstreamEngine(t)
		room := s.meetings.open("room", nil).EngineRoom
		query := url.Values{"access_token": {accessTo(t, room, "origin-ann")}}
		if got := s.do(t, newRequest(http.MethodGet, path+"/rtc?"+query.Encode(), "")); got.Code != http.StatusOK || len(*arrived) != 1 {
			t.Errorf("signalling at %s: status %d, %d arrived", path, got.Code, len(*arrived))
		}
		r := webhook(t, engineServer, room)
		r.URL.Path = path + "/webhook"
		if got := s.do(t, r); got.Code != http.StatusOK || len(s.hints) != 1 {
			t.Errorf("a webhook at %s: status %d, %d hints", path, got.Code, len(s.hints))
		}
	}
}

func TestATokenIsTriedWithItsKeyAlone(t *testing.T) {
	s := newSite(t)
	others := &countingEngine{fakeEngine: s.engine}
	for i := range 320 {
		s.tenant.Media = append(s.tenant.Media, &tenant.Media{
			Server: engine.Server{URL: "http://other:7880", Key: "other-" + strconv.Itoa(i)}, Engine: others,
		})
	}
	r := newRequest(http.MethodPost, "/media-server/webhook", "")
	r.Header.Set("Authorization", "forged")
	if got := s.do(t, r); got.Code != http.StatusUnauthorized {
		t.Errorf("a webhook: status %d", got.Code)
	}
	if got := s.connect(t, "rtc", url.Values{"access_token": {"forged"}}); got.Code != http.StatusForbidden {
		t.Errorf("an access token: status %d", got.Code)
	}
	if others.tried > 0 {
		t.Errorf("tried with %d other keys", others.tried)
	}
}

// countingEngine counts what it is asked to verify.
type countingEngine struct {
	*fakeEngine
	tried int
}

func (c *countingEngine) Signed(authorization string) bool {
	c.tried++
	return c.fakeEngine.Signed(authorization)
}

func (c *countingEngine) Inspect(token string) (engine.Bearer, error) {
	c.tried++
	return c.fakeEngine.Inspect(token)
}

func TestAnEngineWithAnAddressThatIsNone(t *testing.T) {
	s := newSite(t, func(t *tenant.Tenant) { t.Media[0].Server.URL = "http://%zz" })
	v := s.meetings.open("room", nil)
	got := s.connect(t, "rtc", url.Values{"access_token": {accessTo(t, v.EngineRoom, "origin-ann")}})
	if got.Code != http.StatusInternalServerError || strings.Contains(got.Body.String(), "%zz") {
		t.Errorf("status %d: %s", got.Code, got.Body)
	}
}
