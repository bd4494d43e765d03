// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"

	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// statuses counts the answers to requests that are made one after the other.
func statuses(t *testing.T, n int, request func(i int) answer) map[int]int {
	t.Helper()
	count := map[int]int{}
	for i := range n {
		count[request(i).Code]++
	}
	return count
}

// TestRoomNamesAreNotTriedForEver: 404 tells that there is no such room, so that it counts like a wrong password.
func TestRoomNamesAreNotTriedForEver(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	try := func(from string) func(int) answer {
		return func(i int) answer { return s.enterFrom(t, from, fmt.Sprintf(`{"room":"guess %d","name":"Eve"}`, i)) }
	}
	got := statuses(t, 500, try("192.0.2.66:1"))
	if got[http.StatusNotFound] != limit.AddressRate.Burst || got[http.StatusTooManyRequests] != 500-limit.AddressRate.Burst {
		t.Errorf("one address: %v", got)
	}
	if got := s.enterFrom(t, "192.0.2.1:1", `{"room":"room","name":"Ann"}`); got.Code != http.StatusOK {
		t.Errorf("another address: %d", got.Code)
	}
	if got := s.enterFrom(t, "192.0.2.66:1", `{"ticket":"`+s.ticket(t, nil)+`"}`); got.Code != http.StatusOK {
		t.Errorf("with a ticket from the first address: %d", got.Code)
	}
}

// TestAddressesOfOneSiteGuessTogether: behind a proxy that is trusted, a client has as many addresses as its network.
func TestAddressesOfOneSiteGuessTogether(t *testing.T) {
	s := newSite(t)
	s.proxies = clientip.Proxies{netip.MustParsePrefix("10.0.0.0/8")}
	s.router = s.route(s.handler)
	s.meetings.open("room", nil)
	s.lock("room")
	got := statuses(t, 2000, func(i int) answer {
		r := newRequest(http.MethodPost, "/session", `{"room":"room","name":"Eve","password":"guess"}`)
		r.RemoteAddr = "10.0.0.1:1"
		r.Header.Set("X-Forwarded-For", fmt.Sprintf("2001:db8:1:%x::1", i))
		s.now = s.now.Add(time.Microsecond)
		return s.do(t, r)
	})
	if got[http.StatusForbidden] != limit.SiteRate.Burst {
		t.Errorf("2,000 networks of one site: %v", got)
	}
}

// TestWhatCannotBeRightCostsNothing: no user's password is empty or longer than bcrypt reads, and no tenant without users
// has any.
func TestWhatCannotBeRightCostsNothing(t *testing.T) {
	for reason, body := range map[string]string{
		"a tenant without users": `{"room":"room","name":"Eve","username":"eve","userPassword":"x"}`,
		"no password":            `{"room":"room","name":"Eve","username":"paula"}`,
		"a password of 73 bytes": `{"room":"room","name":"Eve","username":"paula","userPassword":"` + strings.Repeat("x", 73) + `"}`,
	} {
		var change []func(*tenant.Tenant)
		if reason != "a tenant without users" {
			change = append(change, withUsers)
		}
		s := newSite(t, change...)
		s.meetings.open("room", nil)
		if got := statuses(t, 500, func(int) answer { return s.enterFrom(t, "192.0.2.66:1", body) }); got[http.StatusForbidden] != 500 {
			t.Errorf("%s: %v", reason, got)
		}
	}
	s := newSite(t)
	s.meetings.open("room", nil)
	s.lock("room")
	long := `{"room":"room","name":"Eve","password":"` + strings.Repeat("x", 1025) + `"}`
	if got := statuses(t, 500, func(int) answer { return s.enterFrom(t, "192.0.2.66:1", long) }); got[http.StatusForbidden] != 500 {
		t.Errorf("a room's password of 1,025 bytes: %v", got)
	}
}

func TestConnectsAreLimited(t *testing.T) {
	s := newSite(t)
	s.upstreamEngine(t)
	v := s.meetings.open("room", nil)
	connect := func(from, who string) int {
		r := newRequest(http.MethodGet, "/media-server/rtc?"+url.Values{"access_token": {accessTo(t, v.EngineRoom, engine.Identity(who))}}.Encode(), "")
		r.RemoteAddr = from
		return s.do(t, r).Code
	}
	count := map[int]int{}
	for range 100 {
		count[connect("192.0.2.66:1", "eve-1")]++
	}
	if count[http.StatusOK] != identityConnects.Burst || count[http.StatusTooManyRequests] != 100-identityConnects.Burst {
		t.Errorf("one identity: %v", count)
	}
	for i := range siteConnects.Burst {
		connect("192.0.2.66:1", fmt.Sprintf("eve%d-1", i))
	}
	if got := connect("192.0.2.66:1", "fresh-1"); got != http.StatusTooManyRequests {
		t.Errorf("a fresh identity of that address: %d", got)
	}
	if got := connect("192.0.2.1:1", "ann-1"); got != http.StatusOK {
		t.Errorf("another address: %d", got)
	}
}

func TestSessionsOfOneSiteAreLimited(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	const guest = `{"room":"room","name":"Eve"}`
	got := statuses(t, entryRate.Burst+100, func(int) answer { return s.enterFrom(t, "192.0.2.66:1", guest) })
	if got[http.StatusOK] != entryRate.Burst || got[http.StatusTooManyRequests] != 100 {
		t.Errorf("one address: %v", got)
	}
	if got := s.enterFrom(t, "192.0.2.1:1", guest); got.Code != http.StatusOK {
		t.Errorf("another address: %d", got.Code)
	}
}

// TestRefusalsDoNotFillTheLog: of one address, so many lines a minute, and one with the count of the others.
func TestRefusalsDoNotFillTheLog(t *testing.T) {
	var log bytes.Buffer
	s := newSite(t)
	s.log = funcr.New(func(_, args string) { _, _ = fmt.Fprintln(&log, args) }, funcr.Options{})
	s.router = s.route(s.handler)
	for range 5000 {
		s.enterFrom(t, "192.0.2.66:1", `{"room":"guess","name":"Eve"}`)
	}
	for range 5000 {
		r := newRequest(http.MethodPost, "/media-server/webhook", "{}")
		r.RemoteAddr = "192.0.2.66:1"
		s.do(t, r)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 100 {
		t.Errorf("10,000 refusals are %d lines", lines)
	}
	s.enterFrom(t, "192.0.2.1:1", `{"room":"guess","name":"Ann"}`)
	if lines := strings.Count(log.String(), "\n"); lines != 101 {
		t.Errorf("a refusal of another address is not logged: %d lines", lines)
	}
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body is read")
	return 0, fmt.Errorf("unread")
}

func TestAnUnsignedWebhookIsNotRead(t *testing.T) {
	s := newSite(t)
	for _, authorization := range []string{"", "forged"} {
		r := newRequest(http.MethodPost, "/media-server/webhook", "")
		r.Body, r.ContentLength = http.NoBody, 1<<20
		r.Body = struct {
			unread
			closer
		}{unread: unread{t}}
		r.Header.Set("Authorization", authorization)
		if got := s.do(t, r); got.Code != http.StatusUnauthorized || got.Header().Get("Connection") != "close" {
			t.Errorf("%q: %d %v", authorization, got.Code, got.Header())
		}
	}
}

type closer struct{}

func (closer) Close() error { return nil }

func TestALongEntryIsRefused(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	for length, want := range map[int]int{maxEntryBody: http.StatusOK, maxEntryBody + 1: http.StatusRequestEntityTooLarge} {
		body := `{"room":"room","name":"Ann","x":"`
		body += strings.Repeat("x", length-len(body)-2) + `"}`
		if got := s.enterFrom(t, "192.0.2.1:1", body); got.Code != want {
			t.Errorf("%d bytes: %d, want %d", length, got.Code, want)
		}
		r := newRequest(http.MethodPost, "/session", body)
		r.ContentLength = -1
		if got := s.do(t, r); got.Code != want {
			t.Errorf("%d bytes in chunks: %d, want %d", length, got.Code, want)
		}
	}
}

func TestNamesOfAnEntryCountAsTheyAreWritten(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	for body, want := range map[string]int{
		`{"room":"room","name":"Ann"}`:                   http.StatusOK,
		`{"ROOM":"room","name":"Ann"}`:                   http.StatusBadRequest,
		`{"room":"other","room":"room","name":"Ann"}`:    http.StatusBadRequest,
		`{"room":"room","name":"Ann","NAME":"Eve"}`:      http.StatusOK,
		`{"room":"room","name":"\ud800"}`:                http.StatusBadRequest,
		"{\"room\":\"room\",\"name\":\"\xff\"}":          http.StatusBadRequest,
		`{"room":"room","name":"\u202e\u200b\u2066"}`:    http.StatusBadRequest,
		`{"room":"room","name":"\u3164"}`:                http.StatusBadRequest,
		`{"room":"room","name":"Ann","unknown":[1,2,3]}`: http.StatusOK,
	} {
		if got := s.enterFrom(t, "192.0.2.1:1", body); got.Code != want {
			t.Errorf("%s: %d, want %d: %s", body, got.Code, want, got.Body)
		}
	}
}

func TestAGuestIsNotTakenForAnother(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	s.tenant.Web.AvatarHosts = []string{"img.example", "*.gravatar.example"}
	paula := s.inside(t, presenting)
	s.engine.people[0].Name = "Paula"
	for _, tc := range []struct{ name, avatar, wantName, wantAvatar string }{
		{"Ann", "https://img.example/a.png", "Ann", "https://img.example/a.png"},
		{"Ann", "https://www.gravatar.example/a.png", "Ann", "https://www.gravatar.example/a.png"},
		{"Ann", "//www.gravatar.example/a.png", "Ann", "https://www.gravatar.example/a.png"},
		{"Ann", "//img.evil.example/a.png", "Ann", ""},
		{"Ann", "http://192.168.1.1/reboot", "Ann", ""},
		{"Ann", "https://img.example.evil.example/a.png", "Ann", ""},
		{"Paula", "", "Paula (2)", ""},
		{"\u202epaula\u200b", "", "paula (2)", ""},
	} {
		got := s.enterWith(t, object{"room": "room", "name": tc.name, "avatar": tc.avatar}).session()
		if got.You.Name != tc.wantName || string(got.You.Avatar) != tc.wantAvatar {
			t.Errorf("%q with %s enters as %q with %q", tc.name, tc.avatar, got.You.Name, got.You.Avatar)
		}
	}
	if back := s.enterWith(t, object{"room": "room", "name": "Paula", "session": paula.Session}).session(); back.You.Name != paula.You.Name {
		t.Errorf("a participant who comes back is called %q", back.You.Name)
	}
	s.engine.people[0].Hidden = true
	if got := s.enterWith(t, object{"room": "room", "name": "Paula"}).session(); got.You.Name != "Paula" {
		t.Errorf("a name gives away a hidden participant: %q", got.You.Name)
	}
}

// TestATicketOrSessionProvesThePasswordThatItKnew: of the meeting that has it now, whoever has changed it.
func TestATicketOrSessionProvesThePasswordThatItKnew(t *testing.T) {
	s := newSite(t)
	first := s.meetings.open("room", nil)
	early := s.enterWith(t, object{"room": "room", "name": "Ann"}).session()
	earlyTicket := s.ticket(t, nil)
	s.lock("room")
	for how, request := range map[string]object{
		"ticket": {"ticket": earlyTicket}, "session": {"room": "room", "name": "Ann", "session": early.Session},
	} {
		if got := s.enterWith(t, request); got.Code != http.StatusUnauthorized {
			t.Errorf("a %s of before there was a password: %d %s", how, got.Code, got.Body)
		}
	}
	guest := s.enterWith(t, object{"room": "room", "name": "Ann", "password": password}).session()
	ticket := object{"ticket": s.ticket(t, nil)}
	presenter := s.enterWith(t, object{"ticket": s.ticket(t, presenting)}).session()
	for _, tc := range []struct {
		reason  string
		opens   bool
		another string
		status  int
	}{
		{"a meeting with another password", false, "another", http.StatusUnauthorized},
		{"the next meeting with the same password", true, password, http.StatusOK},
		{"the next meeting with another password", true, "another", http.StatusUnauthorized},
	} {
		if tc.opens {
			first.Ended = true
			s.meetings.open("room", func(v *meeting.View) { v.Lineage = first.Lineage })
			s.lock("room")
		}
		s.meetings.passwords[s.meetings.byRoom["room"].UID] = tc.another
		for how, request := range map[string]object{
			"ticket": ticket, "session": {"room": "room", "name": "Ann", "session": guest.Session},
			"presenter's session": {"room": "room", "name": "Tina", "session": presenter.Session},
		} {
			got := s.enterWith(t, request)
			if got.Code != tc.status {
				t.Errorf("%s into %s: %d %s", how, tc.reason, got.Code, got.Body)
			}
			if got.Code == http.StatusOK && got.session().You.Presenter {
				t.Errorf("%s into %s makes a presenter", how, tc.reason)
			}
		}
	}
}
