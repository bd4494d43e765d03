// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// joined is a join URL taken apart.
type joined struct {
	url    string
	query  url.Values
	ticket credential.TicketGrant
}

func (w *world) joined(t *tenant.Tenant, got response) joined {
	w.t.Helper()
	if got.status != http.StatusOK {
		w.t.Fatalf("%d %s", got.status, got.body)
	}
	link := got.text(w.t, "join")
	u, err := url.Parse(link)
	if err != nil {
		w.t.Fatal(err)
	}
	ticket, err := t.Signer.VerifyTicket(u.Query().Get("token"), t.Users, w.now())
	if err != nil {
		w.t.Fatalf("%s: %v", link, err)
	}
	return joined{link, u.Query(), ticket}
}

func TestJoinURL(t *testing.T) {
	const all = `{"room":"Stand-up & more ☕","name":"Ada <Lovelace>","avatar":"https://example.com/a b.png?x=1&y=ü+",
		"audio":true,"video":"true","screen":1,"chat":"0","hide":0,"notify":"1","duration":"01:30:00"}`
	for _, tc := range []struct {
		reason, body, begins string
		ticket               credential.Ticket
		command              conference.JoinCommand
	}{
		{
			"the defaults", `{"room":"stand-up","name":"Ada"}`,
			baseURL + "/join?room=stand-up&name=Ada&avatar=false&audio=false&video=false&screen=false&chat=true&hide=false&notify=false&duration=unlimited&token=",
			credential.Ticket{Room: "stand-up", JoinOptions: meeting.JoinOptions{Name: "Ada", Chat: true}, Lineage: "lineage-stand-up"},
			conference.JoinCommand{Room: "stand-up", NeedsPassword: true},
		},
		{
			"every option", strings.Replace(all, `"a b.png`, `"a%20b.png`, 1),
			baseURL + "/join?room=Stand-up%20%26%20more%20%E2%98%95&name=Ada%20%3CLovelace%3E&avatar=https%3A%2F%2Fexample.com%2Fa%20b.png%3Fx%3D1%26y%3D%C3%BC%2B" +
				"&audio=true&video=true&screen=true&chat=false&hide=false&notify=true&duration=01%3A30%3A00&token=",
			credential.Ticket{
				Room: "Stand-up & more ☕", JoinOptions: meeting.JoinOptions{Name: "Ada <Lovelace>", Avatar: "https://example.com/a b.png?x=1&y=ü+", Audio: true, Video: true, Screen: true, Notify: true}, Lineage: "lineage-Stand-up & more ☕",
			},
			conference.JoinCommand{Room: "Stand-up & more ☕", Duration: "1h30m", NeedsPassword: true},
		},
		{
			"everything null, false or empty", `{"room":"r","name":"n","avatar":false,"roomPassword":"false","audio":null,"video":null,"chat":null,
				"hide":null,"duration":null,"token":null,"unknown":{"x":[1]},"presenter":"false"}`,
			baseURL + "/join?room=r&name=n&avatar=false&audio=false&video=false&screen=false&chat=true&hide=false&notify=false&duration=unlimited&token=",
			credential.Ticket{Room: "r", JoinOptions: meeting.JoinOptions{Name: "n", Chat: true}, Lineage: "lineage-r"},
			conference.JoinCommand{Room: "r", Password: new(""), NeedsPassword: true},
		},
		{
			"an avatar without a scheme", `{"room":"r","name":"n","avatar":"//www.example.com/avatar/1?d=mp"}`,
			baseURL + "/join?room=r&name=n&avatar=https%3A%2F%2Fwww.example.com%2Favatar%2F1%3Fd%3Dmp&audio=false",
			credential.Ticket{Room: "r", JoinOptions: meeting.JoinOptions{Name: "n", Avatar: "https://www.example.com/avatar/1?d=mp", Chat: true}, Lineage: "lineage-r"},
			conference.JoinCommand{Room: "r", NeedsPassword: true},
		},
		{
			"names doubled, the last ones count", `{"room":"x","name":"x","room":"r","name":"n","audio":"x","audio":true}`,
			baseURL + "/join?room=r&name=n&avatar=false&audio=true&video=false&screen=false&chat=true&hide=false&notify=false&duration=unlimited&token=",
			credential.Ticket{Room: "r", JoinOptions: meeting.JoinOptions{Name: "n", Chat: true, Audio: true}, Lineage: "lineage-r"},
			conference.JoinCommand{Room: "r", NeedsPassword: true},
		},
	} {
		one := testTenant(v1alpha1.VariantA)
		w := newWorld(t, one).serve()
		got := w.joined(one, w.do(http.MethodPost, "join", tc.body))
		if !strings.HasPrefix(got.url, tc.begins) {
			t.Errorf("%s:\ngot  %s\nwant %s…", tc.reason, got.url, tc.begins)
		}
		if diff := cmp.Diff(tc.ticket, got.ticket.Ticket); diff != "" {
			t.Errorf("%s, ticket (-want +got):\n%s", tc.reason, diff)
		}
		if !got.ticket.Expires.Equal(start.Add(24 * time.Hour)) {
			t.Errorf("%s: the ticket ends at %s", tc.reason, got.ticket.Expires)
		}
		if diff := cmp.Diff([]any{tc.command}, w.meetings.took()); diff != "" {
			t.Errorf("%s, command (-want +got):\n%s", tc.reason, diff)
		}
		for i := range 0x21 {
			if strings.ContainsRune(got.url, rune(i)) {
				t.Errorf("%s: the URL holds %#x", tc.reason, i)
			}
		}
	}
}

// TestTheLongestLinkOpensTheDoor: an avatar's URL may be full of characters that JSON writers like to escape.
func TestTheLongestLinkOpensTheDoor(t *testing.T) {
	one := testTenant(v1alpha1.VariantA)
	w := newWorld(t, one).serve()
	const beginning = "https://example.com/"
	for _, tc := range []struct {
		reason, avatar string
		status         int
	}{
		{"a URL of parameters", beginning + "?" + strings.Repeat("a=1&", 506), 200},
		{"the longest in ASCII", beginning + strings.Repeat("&", 2048-len(beginning)), 200},
		{"the longest of two bytes a character", beginning + strings.Repeat("é", 2048-len(beginning)), 200},
		{"four bytes a character", beginning + strings.Repeat("\U0001F600", 2048-len(beginning)), 400},
		{"a character too long", beginning + strings.Repeat("a", 2049-len(beginning)), 400},
	} {
		wide := strings.Repeat("\U0001F600", 128)
		body, err := json.Marshal(map[string]any{"room": wide, "name": wide, "avatar": tc.avatar, "token": map[string]any{"username": strings.Repeat("u", 255)}})
		if err != nil {
			t.Fatal(err)
		}
		got := w.do(http.MethodPost, "join", string(body))
		if got.status != tc.status {
			t.Errorf("%s: %d %s", tc.reason, got.status, got.body)
			continue
		}
		if tc.status == 200 {
			if link := w.joined(one, got); string(link.ticket.Avatar) != tc.avatar || len(link.url) > 32<<10 {
				t.Errorf("%s: a link of %d bytes for the avatar %.60s…", tc.reason, len(link.url), link.ticket.Avatar)
			}
		}
	}
}

func TestJoinShowsDurationInForce(t *testing.T) {
	one := testTenant(v1alpha1.VariantA, limited)
	w := newWorld(t, one).serve()
	for _, tc := range []struct{ reason, room, duration, shown string }{
		{"the first names it", "a", `"02:00:00"`, "02:00:00"},
		{"another one changes nothing", "a", `"03:00:00"`, "02:00:00"},
		{"unlimited is the greatest", "b", `"unlimited"`, "08:00:00"},
	} {
		got := w.joined(one, w.do(http.MethodPost, "join", `{"room":"`+tc.room+`","name":"n","duration":`+tc.duration+`}`))
		if shown := got.query.Get("duration"); shown != tc.shown {
			t.Errorf("%s: %s, want %s", tc.reason, shown, tc.shown)
		}
	}
}

func TestRoomPassword(t *testing.T) {
	for _, tc := range []struct {
		reason    string
		variant   v1alpha1.Variant
		body      string
		status    int
		forwarded *string
	}{
		{"the right one", v1alpha1.VariantA, `,"roomPassword":"sesame"`, 200, new("sesame")},
		{"a wrong one", v1alpha1.VariantA, `,"roomPassword":"open"`, 403, new("open")},
		{"none that is named", v1alpha1.VariantA, ``, 403, nil},
		{"false for none", v1alpha1.VariantA, `,"roomPassword":false`, 403, new("")},
		{"0 for none", v1alpha1.VariantA, `,"roomPassword":0`, 403, new("")},
		{"variant B reads none", v1alpha1.VariantB, `,"roomPassword":"open"`, 200, nil},
		{"variant B does not even look", v1alpha1.VariantB, `,"roomPassword":[]`, 200, nil},
	} {
		w := newWorld(t, testTenant(tc.variant)).serve()
		w.meetings.reset("r")
		w.meetings.live[0].HasPassword, w.meetings.secrets = true, map[string]string{"r": "sesame"}
		got := w.do(http.MethodPost, "join", `{"room":"r","name":"n"`+tc.body+`}`)
		if got.status != tc.status || strings.Contains(got.body, "sesame") {
			t.Errorf("%s: %d %s, want %d", tc.reason, got.status, got.body, tc.status)
		}
		if diff := cmp.Diff([]any{conference.JoinCommand{Room: "r", Password: tc.forwarded, NeedsPassword: tc.variant == v1alpha1.VariantA}}, w.meetings.took()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
		if tc.status != http.StatusOK {
			continue
		}
		if link := w.joined(w.hosts[host], got); link.ticket.PasswordMark != "lineage-r sesame" {
			t.Errorf("%s: the link stands for %q", tc.reason, link.ticket.PasswordMark)
		}
		w.meetings.markErr = fault.Unavailable("the Secret cannot be read")
		if got := w.do(http.MethodPost, "join", `{"room":"r","name":"n"`+tc.body+`}`); got.status != http.StatusServiceUnavailable {
			t.Errorf("%s: a link of a room whose password is not known: %d %s", tc.reason, got.status, got.body)
		}
	}
}

func TestJoinWithToken(t *testing.T) {
	protected := func(t *tenant.Tenant) { t.Protected = true }
	presenters := func(t *tenant.Tenant) { t.Presenters = map[string]bool{"ada": true} }
	const signed = `"SIGNED"`
	for _, tc := range []struct {
		reason    string
		change    []func(*tenant.Tenant)
		token     string
		status    int
		username  string
		presenter bool
	}{
		{"no token, open host", nil, "null", 200, "", false},
		{"an empty token, open host", nil, `""`, 200, "", false},
		{"true means no token, open host", nil, `true`, 200, "", false},
		{"false means no token, open host", nil, `false`, 200, "", false},
		{"true means no token, protected host", []func(*tenant.Tenant){protected}, `true`, 403, "", false},
		{"true in quotes means no token, protected host", []func(*tenant.Tenant){protected}, `"true"`, 403, "", false},
		{"no token, protected host", []func(*tenant.Tenant){protected}, "null", 403, "", false},
		{"an empty token, protected host", []func(*tenant.Tenant){protected}, `""`, 403, "", false},
		{"an object, protected host", []func(*tenant.Tenant){protected}, `{"username":"ada"}`, 200, "ada", false},
		{"a string, protected host", []func(*tenant.Tenant){protected}, signed, 200, "ada", false},
		{"a presenter by object", nil, `{"username":"bob","presenter":"true"}`, 200, "bob", true},
		{"a presenter by string", nil, `"PRESENTER"`, 200, "ada", true},
		{"the list of presenters is looked at when they enter", []func(*tenant.Tenant){presenters}, `{"username":"ada"}`, 200, "ada", false},
		{"the right password", []func(*tenant.Tenant){withUsers}, `{"username":"ada","password":"correct-horse"}`, 200, "ada", false},
		{"a wrong password", []func(*tenant.Tenant){withUsers}, `{"username":"ada","password":"battery"}`, 403, "", false},
		{"an unknown user", []func(*tenant.Tenant){withUsers}, `{"username":"eve","password":"correct-horse"}`, 403, "", false},
		{"no password", []func(*tenant.Tenant){withUsers}, `{"username":"ada"}`, 400, "", false},
		{"a string that is no token", nil, `"nonsense"`, 403, "", false},
		{"a token of another tenant", nil, `"FOREIGN"`, 403, "", false},
		{"a token that is over", nil, `"OLD"`, 403, "", false},
		{"a ticket in place of a token", nil, `"TICKET"`, 403, "", false},
	} {
		one := testTenant(v1alpha1.VariantA, tc.change...)
		w := newWorld(t, one).serve()
		got := w.do(http.MethodPost, "join", `{"room":"r","name":"n","token":`+replaceTokens(t, one, tc.token)+`}`)
		if got.status != tc.status {
			t.Errorf("%s: %d %s, want %d", tc.reason, got.status, got.body, tc.status)
			continue
		}
		if tc.status != http.StatusOK {
			if commands := w.meetings.took(); len(commands) > 0 {
				t.Errorf("%s: refused, and %v", tc.reason, commands)
			}
			continue
		}
		ticket := w.joined(one, got).ticket
		if ticket.Username != tc.username || ticket.Presenter != tc.presenter {
			t.Errorf("%s: user %q, presenter %v", tc.reason, ticket.Username, ticket.Presenter)
		}
	}
}

// replaceTokens puts tokens in the place of their names.
func replaceTokens(t *testing.T, of *tenant.Tenant, text string) string {
	t.Helper()
	issue := func(by *credential.Signer, r credential.TokenRequest, at time.Time) string {
		r.Username, r.Users = "ada", of.Users
		signed, err := by.IssueToken(r, at)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	foreign, _ := credential.NewSigner("convene/ns/other", map[string][]byte{"1": []byte(strings.Repeat("k", 32))})
	ticket, err := of.Signer.IssueTicket(credential.Ticket{Room: "r", JoinOptions: meeting.JoinOptions{Name: "n"}}, nil, time.Hour, start)
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(
		"SIGNED", issue(of.Signer, credential.TokenRequest{Lifetime: time.Hour}, start),
		"PRESENTER", issue(of.Signer, credential.TokenRequest{Lifetime: time.Hour, Presenter: true}, start),
		"FOREIGN", issue(foreign, credential.TokenRequest{Lifetime: time.Hour}, start),
		"OLD", issue(of.Signer, credential.TokenRequest{Lifetime: time.Hour}, start.Add(-2*time.Hour)),
		"TICKET", ticket,
	).Replace(text)
}

func TestPresenterNeedsToken(t *testing.T) {
	one := testTenant(v1alpha1.VariantA)
	w := newWorld(t, one).serve()
	if got := w.do(http.MethodPost, "join", `{"room":"r","name":"n","presenter":true}`); got.status != http.StatusForbidden {
		t.Errorf("without a token: %d %s", got.status, got.body)
	}
	got := w.joined(one, w.do(http.MethodPost, "join", `{"room":"r","name":"n","presenter":true,"token":{"username":"u"}}`))
	if got.ticket.Presenter {
		t.Error("the token's flag counts, not the body's")
	}
}

func TestTicketEndsWithItsToken(t *testing.T) {
	one := testTenant(v1alpha1.VariantA)
	for _, tc := range []struct {
		reason, token string
		lifetime      time.Duration
	}{
		{"no token", "null", 24 * time.Hour},
		{"an object that names no lifetime", `{"username":"u"}`, 24 * time.Hour},
		{"an object that names a shorter one", `{"username":"u","expire":"2h"}`, 2 * time.Hour},
		{"an object that names a longer one", `{"username":"u","expire":"1w"}`, 24 * time.Hour},
		{"a string", `"SIGNED"`, time.Hour},
	} {
		w := newWorld(t, one).serve()
		got := w.joined(one, w.do(http.MethodPost, "join", `{"room":"r","name":"n","token":`+replaceTokens(t, one, tc.token)+`}`))
		if !got.ticket.Expires.Equal(start.Add(tc.lifetime)) {
			t.Errorf("%s: ends at %s, want after %s", tc.reason, got.ticket.Expires, tc.lifetime)
		}
	}
}

func TestURLsIgnoreTheRequestsHost(t *testing.T) {
	one := testTenant(v1alpha1.VariantA)
	w := newWorld(t, one).serve()
	w.hosts["*"] = one
	elsewhere := func(r *http.Request) {
		r.Host = "evil.example.org"
		r.Header.Set("X-Forwarded-Host", "evil.example.org")
		r.Header.Set("X-Forwarded-Proto", "gopher")
	}
	for _, got := range []response{
		w.do(http.MethodPost, "join", `{"room":"r","name":"n"}`, elsewhere),
		w.do(http.MethodPost, "meeting", "", elsewhere),
		w.do(http.MethodGet, "meetings", "", elsewhere),
		w.do(http.MethodGet, "docs/openapi.json", "", elsewhere),
	} {
		if strings.Contains(got.body, "evil") || !strings.Contains(got.body, baseURL) {
			t.Errorf("%s", got.body)
		}
	}
}

// TestWhatATicketCarries: where tickets open rooms, they keep what differs from the tenant's settings; elsewhere nothing.
func TestWhatATicketCarries(t *testing.T) {
	view := meeting.View{Length: meeting.Length(90 * time.Minute), MaxParticipants: 7, Redirect: "https://example.com/bye", HasPassword: true}
	plain := meeting.View{Length: meeting.Length(time.Hour), MaxParticipants: 300}
	for _, tc := range []struct {
		reason string
		mode   v1alpha1.AdHoc
		view   meeting.View
		want   credential.CarriedMeeting
	}{
		{"tickets open nothing", v1alpha1.AdHocNever, view, credential.CarriedMeeting{}},
		{"everything differs", v1alpha1.AdHocTickets, view, credential.CarriedMeeting{Length: 5400, MaxParticipants: 7, Redirect: view.Redirect, HasPassword: true}},
		{"nothing differs", v1alpha1.AdHocAnyone, plain, credential.CarriedMeeting{}},
		{"no limit", v1alpha1.AdHocUsers, meeting.View{MaxParticipants: 300}, credential.CarriedMeeting{Length: credential.Unlimited}},
		{"a redirect that is too long", v1alpha1.AdHocUsers, meeting.View{Length: plain.Length, MaxParticipants: 300, Redirect: "https://example.com/" + strings.Repeat("a", 512)},
			credential.CarriedMeeting{}},
	} {
		s := meeting.DefaultSettings()
		s.DefaultLength, s.AdHoc = plain.Length, tc.mode
		if diff := cmp.Diff(tc.want, carried(s, tc.view)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// TestHowLongTicketsLive: as long as the tenant says, and as the token says that they are made with.
func TestHowLongTicketsLive(t *testing.T) {
	one := testTenant(v1alpha1.VariantA, func(t *tenant.Tenant) {
		t.Settings.AdHoc, t.Settings.TicketLifetime = v1alpha1.AdHocTickets, 30*24*time.Hour
	})
	w := newWorld(t, one).serve()
	for token, lasts := range map[string]time.Duration{"null": 30 * 24 * time.Hour, `{"username":"u","expire":"2h"}`: 2 * time.Hour} {
		got := w.joined(one, w.do(http.MethodPost, "join", `{"room":"r","name":"n","token":`+token+`}`))
		if !got.ticket.Expires.Equal(start.Add(lasts)) {
			t.Errorf("%s: ends at %s, want after %s", token, got.ticket.Expires, lasts)
		}
		if got.ticket.Meeting.MaxParticipants != 0 || got.ticket.Meeting.HasPassword {
			t.Errorf("%s: carries %+v", token, got.ticket.Meeting)
		}
	}
}
