// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// eachOption returns each option set alone, and all options set.
func eachOption(t *testing.T) map[string]meeting.JoinOptions {
	var all meeting.JoinOptions
	options := map[string]meeting.JoinOptions{}
	fields := reflect.TypeFor[meeting.JoinOptions]()
	for i := range fields.NumField() {
		var one meeting.JoinOptions
		for _, o := range []*meeting.JoinOptions{&one, &all} {
			switch field := reflect.ValueOf(o).Elem().Field(i); field.Kind() {
			case reflect.Bool:
				field.SetBool(true)
			case reflect.String:
				field.SetString("a")
			default:
				t.Fatalf("this test has no value for %s", fields.Field(i).Name)
			}
		}
		options["only "+fields.Field(i).Name] = one
	}
	options["everything"] = all
	return options
}

func TestTicketKeepsEveryOption(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	users, _ := ParseUsers([]byte(adaLine))
	tickets := map[string]Ticket{
		"nothing but what is required": {Room: "r", Lineage: "l", JoinOptions: meeting.JoinOptions{Name: "n"}},
		"text": {
			Room: "Stand-up ☕", Lineage: "0b3c", PasswordMark: "7f1e", Username: "ada",
			JoinOptions: meeting.JoinOptions{Name: "Ada <b>", Avatar: "https://example.org/a.png?x=1&y=2"},
		},
	}
	for option, o := range eachOption(t) {
		tickets[option] = Ticket{Room: "r", Lineage: "l", JoinOptions: o}
	}
	for reason, want := range tickets {
		signed, err := s.IssueTicket(want, users, time.Hour, now)
		if err != nil {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		got, err := s.VerifyTicket(signed, users, now)
		if err != nil {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		if diff := cmp.Diff(want, got.Ticket); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
		if got.ID == "" || !got.Expires.Equal(now.Add(time.Hour)) {
			t.Errorf("%s: id %q, expires %s", reason, got.ID, got.Expires)
		}
	}
}

func TestTicketEnds(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	users, _ := ParseUsers([]byte(adaLine))
	changed, _ := ParseUsers([]byte(adaOtherLine))
	guest, err := s.IssueTicket(Ticket{Room: "r", JoinOptions: meeting.JoinOptions{Name: "n"}}, users, time.Hour, now)
	if err != nil {
		t.Fatal(err)
	}
	ada, err := s.IssueTicket(Ticket{Room: "r", JoinOptions: meeting.JoinOptions{Name: "n"}, Username: "ada"}, users, time.Hour, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		reason string
		ticket string
		users  *Users
		at     time.Time
		ok     bool
	}{
		{"a guest's does not depend on users", guest, changed, now, true},
		{"a user's ends with the password", ada, changed, now, false},
		{"a user's stands while the password does", ada, users, now, true},
		{"it stands until linkLifetime", guest, users, now.Add(time.Hour), true},
		{"it ends with linkLifetime and the leeway", guest, users, now.Add(time.Hour + leeway), false},
	} {
		_, err := s.VerifyTicket(tc.ticket, tc.users, tc.at)
		if (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.reason, err)
		}
		if err != nil && (!fault.Is(err, fault.KindDenied) || fault.As(err).Message != errTicket.Message) {
			t.Errorf("%s: got %v, want the one refusal", tc.reason, err)
		}
	}
	if _, err := s.IssueTicket(Ticket{Room: "r", JoinOptions: meeting.JoinOptions{Name: "n"}, Username: "eve"}, users, time.Hour, now); !fault.Is(err, fault.KindDenied) {
		t.Errorf("an unknown user: %v, want Denied", err)
	}
}

func TestTicketIsCompact(t *testing.T) {
	s := newSigner(t, map[string][]byte{"20261121t120000z-0a1b": master(1)})
	signed, err := s.IssueTicket(Ticket{Room: "standup", Lineage: "0123456789abcdef", JoinOptions: meeting.JoinOptions{Name: "Ada Lovelace", Audio: true, Chat: true}}, nil, time.Hour, now)
	if err != nil {
		t.Fatal(err)
	}
	if len(signed) > 480 {
		t.Errorf("a plain ticket takes %d bytes of the URL, want at most 480", len(signed))
	}
	// Every value as long as the API allows, four bytes a character: it must still be below what is parsed.
	wide := strings.Repeat("\U0001F600", 128)
	signed, err = s.IssueTicket(Ticket{Room: wide, Lineage: strings.Repeat("x", 64), JoinOptions: meeting.JoinOptions{Name: wide, Avatar: v1alpha1.URL("https://example.org/" + strings.Repeat("a", 2028))}, Username: strings.Repeat("u", 255)}, nil, time.Hour, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.VerifyTicket(signed, nil, now); err != nil {
		t.Errorf("the longest ticket, %d bytes: %v", len(signed), err)
	}
}

func TestNothingIsSignedThatIsNotAccepted(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	for _, tc := range []struct {
		reason, avatar string
		ok             bool
	}{
		{"a URL of parameters", "https://example.org/?" + strings.Repeat("a=<b>&", 337), true},
		{"two bytes a character", "https://example.org/" + strings.Repeat("é", 2028), true},
		{"four bytes a character", "https://example.org/" + strings.Repeat("\U0001F600", 2028), false},
	} {
		signed, err := s.IssueTicket(Ticket{Room: "r", Lineage: "l", JoinOptions: meeting.JoinOptions{Name: "n", Avatar: v1alpha1.URL(tc.avatar)}}, nil, time.Hour, now)
		if !tc.ok {
			if !fault.Is(err, fault.KindInvalid) {
				t.Errorf("%s: %v, want Invalid", tc.reason, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tc.reason, err)
			continue
		}
		if got, err := s.VerifyTicket(signed, nil, now); err != nil || string(got.Avatar) != tc.avatar {
			t.Errorf("%s, %d bytes: %v", tc.reason, len(signed), err)
		}
	}
}

func TestSession(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	full := Session{
		Identity: "p_1", Meeting: "uid", Ticket: Ticket{
			Lineage: "l", PasswordMark: "m", Room: "r", JoinOptions: meeting.JoinOptions{Name: "Ada", Avatar: "https://example.org/a.png", Presenter: true, Hide: true, Chat: true, Notify: true}, Username: "ada",
		},
	}
	users, _ := ParseUsers([]byte(adaLine))
	waiting, in := full, full
	waiting.Since, waiting.Message = now.Add(-time.Minute), "It is me"
	in.In, in.Decided = true, true
	sessions := map[string]Session{
		"a presenter": full, "one who waits": waiting, "one who is in": in,
		"a guest without rights": {Identity: "p_2", Meeting: "uid", Ticket: Ticket{Room: "r", JoinOptions: meeting.JoinOptions{Name: "n"}}},
	}
	for option, o := range eachOption(t) {
		sessions[option] = Session{Identity: "p_2", Meeting: "uid", Ticket: Ticket{Room: "r", JoinOptions: o}}
	}
	for reason, want := range sessions {
		signed, err := s.IssueSession(want, users, 0, now)
		if err != nil {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		got, err := s.VerifySession(signed, now.Add(DefaultSessionLifetime))
		if err != nil {
			t.Errorf("%s: %v", reason, err)
			continue
		}
		want.JoinOptions = want.Lasting()
		if diff := cmp.Diff(want, got.Session); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
		_, err = s.VerifySession(signed, now.Add(DefaultSessionLifetime+leeway))
		if !fault.Is(err, fault.KindDenied) || fault.As(err).Message != errSession.Message {
			t.Errorf("%s: after its time: %v, want the one refusal", reason, err)
		}
	}
}

func TestSessionOfAUserWhoIsChangedOrRemoved(t *testing.T) {
	s := newSigner(t, map[string][]byte{"1": master(1)})
	users, _ := ParseUsers([]byte(adaLine))
	changed, _ := ParseUsers([]byte(adaOtherLine))
	nobody, _ := ParseUsers(nil)
	session := func(username string, users *Users) string {
		signed, err := s.IssueSession(Session{Identity: "p_1", Meeting: "uid", Ticket: Ticket{Room: "r", JoinOptions: meeting.JoinOptions{Name: "n"}, Username: username}}, users, 0, now)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	for _, tc := range []struct {
		reason  string
		session string
		users   *Users
		welcome bool
	}{
		{"the user is as before", session("ada", users), users, true},
		{"the password was changed", session("ada", users), changed, false},
		{"the user was removed", session("ada", users), nobody, false},
		{"the tenant asks for no passwords any more", session("ada", users), nil, true},
		{"the session is from before the tenant asked for passwords", session("ada", nil), users, false},
		{"a guest is no user", session("", users), nobody, true},
	} {
		grant, err := s.VerifySession(tc.session, now)
		if err != nil {
			t.Errorf("%s: %v", tc.reason, err)
			continue
		}
		if got := grant.Welcome(tc.users); got != tc.welcome {
			t.Errorf("%s: welcome %v", tc.reason, got)
		}
	}
	_, err := s.IssueSession(Session{Identity: "p_1", Ticket: Ticket{Username: "eve"}}, users, 0, now)
	if !fault.Is(err, fault.KindDenied) {
		t.Errorf("an unknown user: %v, want Denied", err)
	}
}

func BenchmarkIssueTicket(b *testing.B) {
	s := newSigner(b, map[string][]byte{"20261121t120000z-0a1b": master(1)})
	ticket := Ticket{Room: "standup", Lineage: "0123456789abcdef", JoinOptions: meeting.JoinOptions{Name: "Ada Lovelace", Audio: true, Chat: true}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.IssueTicket(ticket, nil, time.Hour, now); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifyTicket(b *testing.B) {
	s := newSigner(b, map[string][]byte{"20261121t120000z-0a1b": master(1)})
	signed, err := s.IssueTicket(Ticket{Room: "standup", Lineage: "0123456789abcdef", JoinOptions: meeting.JoinOptions{Name: "Ada Lovelace"}}, nil, time.Hour, now)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.VerifyTicket(signed, nil, now); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifySession(b *testing.B) {
	s := newSigner(b, map[string][]byte{"20261121t120000z-0a1b": master(1)})
	signed, err := s.IssueSession(Session{Identity: "p_1", Meeting: "uid", Ticket: Ticket{Room: "r", JoinOptions: meeting.JoinOptions{Name: "n", Chat: true}}}, nil, 0, now)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.VerifySession(signed, now); err != nil {
			b.Fatal(err)
		}
	}
}
