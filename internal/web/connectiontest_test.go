// SPDX-License-Identifier: Apache-2.0

package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

func (s *site) askForTest(t *testing.T, b object) answer {
	t.Helper()
	return s.call(t, http.MethodPost, "/session/test", "", b)
}

func (a answer) test() testAnswer {
	a.t.Helper()
	if a.Code != http.StatusOK {
		a.t.Fatalf("status %d: %s", a.Code, a.Body)
	}
	var test testAnswer
	a.into(&test)
	return test
}

// testRoomOf is the room that an access token of a test is for.
func testRoomOf(t *testing.T, token string) meeting.TestRoom {
	t.Helper()
	bearer, err := newFakeEngine(engineServer).Inspect(token)
	if err != nil {
		t.Fatal(err)
	}
	room, ok := meeting.ParseTestRoom(bearer.Room)
	if !ok {
		t.Fatalf("%q is no room for a test", bearer.Room)
	}
	return room
}

// TestATestIsInARoomOfItsOwn: it has two tokens of one room, is there for two minutes, and nothing is written down.
func TestATestIsInARoomOfItsOwn(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", asking) // Those who would have to wait test as well.
	ann := object{"room": "room", "name": "Ann"}
	test := s.askForTest(t, ann).test()
	room := testRoomOf(t, test.Sender)
	if room != testRoomOf(t, test.Receiver) || test.Sender == test.Receiver || room.ConfigUID != configUID || !room.Ends.Equal(s.now.Add(meeting.TestDuration)) {
		t.Errorf("tokens %q and %q, at %s", test.Sender, test.Receiver, s.now)
	}
	if test.URL != "wss://"+host+"/media-server" {
		t.Errorf("it is at %s", test.URL)
	}
	for _, g := range s.engine.grants {
		want := engine.Grant{
			Room: room.Name(), Identity: g.Identity, Forbidden: engine.Microphone | engine.Screen | engine.Chat, Lifetime: meeting.TestDuration,
		}
		if diff := cmp.Diff(want, g); diff != "" {
			t.Errorf("granted (-want +got)\n%s", diff)
		}
	}
	if diff := cmp.Diff([]engine.RoomOptions{{MaxParticipants: 2, EmptyTimeout: 30 * time.Second}}, s.engine.options); diff != "" {
		t.Errorf("made rooms (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"preview"}, s.meetings.calls); diff != "" {
		t.Errorf("asked of the meetings (-want +got)\n%s", diff)
	}
	if other := s.askForTest(t, ann).test(); testRoomOf(t, other.Sender) == room {
		t.Error("the next test has the same room")
	}
}

func TestWhoMayTest(t *testing.T) {
	someone := object{"room": "room", "name": "Ann"}
	for _, c := range []struct {
		reason string
		tenant func(*tenant.Tenant)
		given  func(*site, *meeting.View)
		ask    object
		status int
		want   string
	}{
		{reason: "a guest with a link", ask: someone, status: http.StatusOK},
		{reason: "a meeting that is full", given: func(s *site, v *meeting.View) {
			v.MaxParticipants = 1
			s.engine.join("bob-1")
		}, ask: someone, status: http.StatusOK},
		{reason: "a room that is not there", ask: object{"room": "other", "name": "Ann"}, status: http.StatusNotFound, want: "NotFound"},
		{
			reason: "a room that one may open", tenant: func(t *tenant.Tenant) { t.Settings.AdHoc = v1alpha1.AdHocAnyone },
			ask: object{"room": "other", "name": "Ann"}, status: http.StatusOK,
		},
		{
			reason: "a room that one may open as a user", tenant: func(t *tenant.Tenant) { t.Settings.AdHoc = v1alpha1.AdHocUsers },
			ask: object{"room": "other", "name": "Ann"}, status: http.StatusUnauthorized, want: "LoginRequired",
		},
		{reason: "a meeting that has ended", given: func(_ *site, v *meeting.View) { v.Ended = true }, ask: someone, status: http.StatusGone, want: "Ended"},
		{reason: "a locked meeting", given: func(_ *site, v *meeting.View) { v.Locked = true }, ask: someone, status: http.StatusForbidden, want: "Locked"},
		{reason: "no password", given: withPassword, ask: someone, status: http.StatusUnauthorized, want: "PasswordRequired"},
		{reason: "the wrong password", given: withPassword, ask: someone.with(object{"password": "guess"}), status: http.StatusForbidden, want: "WrongPassword"},
		{reason: "the password", given: withPassword, ask: someone.with(object{"password": password}), status: http.StatusOK},
		{reason: "no login", tenant: protected, ask: someone, status: http.StatusUnauthorized, want: "LoginRequired"},
		{
			reason: "one who was banned", tenant: withUsers,
			given: func(_ *site, v *meeting.View) {
				v.Decisions = []v1alpha1.ParticipantDecision{{Identity: "user:bob", Removed: true}}
			},
			ask: someone.with(object{"username": "bob", "userPassword": "bob"}), status: http.StatusForbidden, want: "NotAllowed",
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t, func(t *tenant.Tenant) {
				if c.tenant != nil {
					c.tenant(t)
				}
			})
			v := s.meetings.open("room", nil)
			if c.given != nil {
				c.given(s, v)
			}
			got := s.askForTest(t, c.ask)
			if got.Code != c.status || c.want != "" && got.refusal().Reason != c.want {
				t.Errorf("%d %s", got.Code, got.Body)
			}
			if made := len(s.engine.options); (made == 1) != (c.status == http.StatusOK) {
				t.Errorf("%d rooms were made", made)
			}
			changes := func(call string) bool {
				return !slices.Contains([]string{"preview", "password mark", "check password"}, call)
			}
			if slices.ContainsFunc(s.meetings.calls, changes) {
				t.Errorf("asked of the meetings: %v", s.meetings.calls)
			}
		})
	}
}

func withPassword(s *site, v *meeting.View) {
	v.HasPassword = true
	s.meetings.passwords[v.UID] = password
}

func TestATestFromAnotherSiteIsRefused(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	r := newRequest(http.MethodPost, "/session/test", `{"room": "room", "name": "Ann"}`)
	r.Header.Set("Origin", "https://evil.example.com")
	if got := s.do(t, r); got.Code != http.StatusForbidden || len(s.engine.options) > 0 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// TestTheTokenOfATest opens its room until its time is over, with no more rights than a test needs, and only on its own service.
func TestTheTokenOfATest(t *testing.T) {
	s := newSite(t, func(t *tenant.Tenant) {
		second := *t.Media[0]
		t.Media[0].Name.Name, second.Name.Name = "first", "second"
		t.Media = append(t.Media, &second)
	})
	arrived := s.upstreamEngine(t)
	// Both media servers take the same key, so the token alone does not tell where the room is.
	s.tenant.Media[0], s.tenant.Media[1] = s.tenant.Media[1], s.tenant.Media[0]
	s.meetings.open("room", func(v *meeting.View) { v.MediaServer = types.NamespacedName{Name: "first"} })
	test := s.askForTest(t, object{"room": "room", "name": "Ann"}).test()
	if got := s.connect(t, "rtc", url.Values{"access_token": {test.Receiver}}); got.Code != http.StatusOK || len(*arrived) != 1 {
		t.Fatalf("connecting: %d %s", got.Code, got.Body)
	}
	if diff := cmp.Diff([]engine.Rights{admission.TestRights}, s.engine.limited); diff != "" {
		t.Errorf("rights (-want +got)\n%s", diff)
	}
	room := testRoomOf(t, test.Sender)
	room.ConfigUID = "other"
	if got := s.connect(t, "rtc", url.Values{"access_token": {accessTo(t, room.Name(), "ann")}}); got.Code != http.StatusForbidden {
		t.Errorf("a room of another service: %d %s", got.Code, got.Body)
	}
	s.now = s.now.Add(meeting.TestDuration)
	if got := s.connect(t, "rtc", url.Values{"access_token": {test.Sender}}); got.Code != http.StatusGone || len(*arrived) != 1 {
		t.Errorf("after its time: %d %s", got.Code, got.Body)
	}
}

// TestTestsAreLimited: for one site, and for a tenant with all sites.
func TestTestsAreLimited(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	ask := func(site string) int {
		r := newRequest(http.MethodPost, "/session/test", `{"room": "room", "name": "Ann"}`)
		r.RemoteAddr = site + ":1"
		return s.do(t, r).Code
	}
	for n := range siteTests.Burst {
		if got := ask("192.0.2.1"); got != http.StatusOK {
			t.Fatalf("test %d: %d", n+1, got)
		}
	}
	if got := ask("192.0.2.1"); got != http.StatusTooManyRequests {
		t.Errorf("one more of the site: %d", got)
	}
	for n := range tenantTests.Burst - siteTests.Burst {
		if got := ask(fmt.Sprintf("192.0.2.%d", 2+n)); got != http.StatusOK {
			t.Fatalf("another site: %d", got)
		}
	}
	if got := ask("192.0.2.99"); got != http.StatusTooManyRequests || len(s.engine.options) != tenantTests.Burst {
		t.Errorf("one more of the tenant: %d, after %d rooms", got, len(s.engine.options))
	}
}

// TestWebhooksOfTestsAreNoHints: nobody looks into a room in which a person tests.
func TestWebhooksOfTestsAreNoHints(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", nil)
	test := testRoomOf(t, s.askForTest(t, object{"room": "room", "name": "Ann"}).test().Sender)
	for _, room := range []engine.RoomName{test.Name(), v.EngineRoom} {
		if got := s.do(t, webhook(t, engineServer, room)); got.Code != http.StatusOK {
			t.Errorf("%d %s", got.Code, got.Body)
		}
	}
	if diff := cmp.Diff([]engine.RoomName{v.EngineRoom}, s.hints); diff != "" {
		t.Errorf("hints (-want +got)\n%s", diff)
	}
}
