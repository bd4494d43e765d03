// SPDX-License-Identifier: Apache-2.0

package web

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// decision is what is compared of an answer to POST session.
type decision struct {
	Status   int
	Reason   string
	You      youAnswer
	Redirect string
}

func refusedWith(status int, reason string) decision { return decision{Status: status, Reason: reason} }

// letIn is also what a tenant decides that shows what was written before: participants who read the chat and are seen may ask for it.
func letIn(you youAnswer) decision {
	you.History = you.Chat && !you.Hidden
	return decision{Status: http.StatusOK, You: you}
}

func (a answer) decision() decision {
	a.t.Helper()
	d := decision{Status: a.Code}
	if a.Code == http.StatusOK {
		d.You = a.session().You
		d.You.Identity = ""
		return d
	}
	e := a.refusal()
	if e.Error == "" || e.Home == "" {
		a.t.Errorf("an error without a sentence or without a home: %s", a.Body)
	}
	d.Reason, d.Redirect = e.Reason, e.Redirect
	return d
}

func TestWhoMayEnter(t *testing.T) {
	guest := youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}}
	presenter := youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true, Presenter: true}}
	ann := object{"room": "room", "name": "Ann"}
	withPassword := func(s *site) { s.lock("room") }

	for _, c := range []struct {
		reason string
		tenant []func(*tenant.Tenant)
		given  func(*site)
		// ask makes the request of the site.
		ask  func(*testing.T, *site) object
		want decision
	}{
		{
			reason: "a room link and a name are enough",
			ask:    plain(ann),
			want:   letIn(guest),
		}, {
			reason: "wishes of a room link are granted",
			ask: plain(ann.with(object{
				"audio": true, "video": true, "screen": true, "chat": false, "notify": true, "avatar": "https://a.example/1.png"})),
			tenant: []func(*tenant.Tenant){func(t *tenant.Tenant) { t.Web.AvatarHosts = []string{"*.example"} }},
			want:   letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Audio: true, Video: true, Screen: true, Notify: true, Avatar: "https://a.example/1.png"}}),
		}, {
			reason: "blanks around a name are not part of it",
			ask:    plain(object{"room": "room", "name": "  Ann "}),
			want:   letIn(guest),
		}, {
			reason: "a hand-written wish to be hidden is not one",
			ask:    plain(ann.with(object{"hide": true, "hidden": true})),
			want:   letIn(guest),
		}, {
			reason: "a hand-written wish to present is not one",
			ask:    plain(ann.with(object{"presenter": true})),
			want:   letIn(guest),
		}, {
			reason: "a name is required",
			ask:    plain(object{"room": "room"}),
			want:   refusedWith(http.StatusBadRequest, "NameRequired"),
		}, {
			reason: "blanks are no name",
			ask:    plain(object{"room": "room", "name": "   "}),
			want:   refusedWith(http.StatusBadRequest, "NameRequired"),
		}, {
			reason: "a name has at most 128 characters",
			ask:    plain(object{"room": "room", "name": strings.Repeat("é", 129)}),
			want:   refusedWith(http.StatusBadRequest, "Invalid"),
		}, {
			reason: "control characters in a name are spaces",
			ask:    plain(object{"room": "room", "name": "\x00Ann\n"}),
			want:   letIn(guest),
		}, {
			reason: "a name in a ticket is cleaned as a guest's is",
			ask: func(t *testing.T, s *site) object {
				return object{"ticket": s.ticket(t, func(c *credential.Ticket) { c.Name = "A\u202enn\u200b " })}
			},
			want: letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}, History: true}),
		}, {
			reason: "a room is required",
			ask:    plain(object{"name": "Ann"}),
			want:   refusedWith(http.StatusBadRequest, "Invalid"),
		}, {
			reason: "a room's name has no slash",
			ask:    plain(object{"room": "a/b", "name": "Ann"}),
			want:   refusedWith(http.StatusBadRequest, "Invalid"),
		}, {
			reason: "an avatar is a web address",
			ask:    plain(ann.with(object{"avatar": "javascript:alert(1)"})),
			want:   refusedWith(http.StatusBadRequest, "Invalid"),
		}, {
			reason: "a room that does not exist",
			ask:    plain(object{"room": "other", "name": "Ann"}),
			want:   refusedWith(http.StatusNotFound, "NotFound"),
		}, {
			reason: "a meeting that has ended tells where its people went",
			given:  func(s *site) { v := s.meetings.byRoom["room"]; v.Ended, v.Redirect = true, "https://bye.example/" },
			ask:    plain(ann),
			want:   decision{Status: http.StatusGone, Reason: "Ended", Redirect: "https://bye.example/"},
		}, {
			reason: "a meeting that waits",
			given:  func(s *site) { s.meetings.byRoom["room"].Pending = "the room is taken" },
			ask:    plain(ann),
			want:   refusedWith(http.StatusServiceUnavailable, "Unavailable"),
		}, {
			reason: "a password is asked for",
			given:  withPassword,
			ask:    plain(ann),
			want:   refusedWith(http.StatusUnauthorized, "PasswordRequired"),
		}, {
			reason: "a wrong password",
			given:  withPassword,
			ask:    plain(ann.with(object{"password": "battery staple"})),
			want:   refusedWith(http.StatusForbidden, "WrongPassword"),
		}, {
			reason: "the right password",
			given:  withPassword,
			ask:    plain(ann.with(object{"password": password})),
			want:   letIn(guest),
		}, {
			reason: "a password that the room does not have does no harm",
			ask:    plain(ann.with(object{"password": "battery staple"})),
			want:   letIn(guest),
		}, {
			reason: "an API token does not stand for the room's password",
			given:  withPassword,
			ask: func(t *testing.T, s *site) object {
				return ann.with(object{"token": s.token(t, "ann", true)})
			},
			want: refusedWith(http.StatusUnauthorized, "PasswordRequired"),
		}, {
			reason: "a ticket stands for the room's password: the backend gave it",
			given:  withPassword,
			ask:    func(t *testing.T, s *site) object { return object{"ticket": s.ticket(t, nil)} },
			want:   letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Tina", Chat: true}}),
		}, {
			reason: "a ticket wins over everything that is written beside it",
			ask: func(t *testing.T, s *site) object {
				return object{"room": "other", "name": "Eve", "audio": true, "chat": true, "notify": true,
					"ticket": s.ticket(t, func(k *credential.Ticket) { k.Chat, k.Video = false, true })}
			},
			want: letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Tina", Video: true}}),
		}, {
			reason: "a ticket carries all options",
			ask: func(t *testing.T, s *site) object {
				return object{"ticket": s.ticket(t, func(k *credential.Ticket) {
					k.Audio, k.Video, k.Screen, k.Notify, k.Presenter = true, true, true, true, true
					k.Avatar = "https://a.example/2.png"
				})}
			},
			want: letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Tina", Audio: true, Video: true, Screen: true, Chat: true, Notify: true, Presenter: true, Avatar: "https://a.example/2.png"}}),
		}, {
			reason: "hidden wins over sending and announcing",
			ask: func(t *testing.T, s *site) object {
				return object{"ticket": s.ticket(t, func(k *credential.Ticket) {
					k.Hide, k.Audio, k.Video, k.Screen, k.Notify = true, true, true, true, true
				})}
			},
			want: letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Tina", Chat: true, Hide: true}, Hidden: true}),
		}, {
			reason: "a ticket that has expired",
			ask: func(t *testing.T, s *site) object {
				ticket := s.ticket(t, nil)
				s.now = s.now.Add(2 * time.Hour)
				return object{"ticket": ticket}
			},
			want: refusedWith(http.StatusForbidden, "LinkExpired"),
		}, {
			reason: "a forged ticket",
			ask:    plain(object{"ticket": "eyJhbGciOiJub25lIn0.eyJyIjoicm9vbSJ9."}),
			want:   refusedWith(http.StatusForbidden, "LinkExpired"),
		}, {
			reason: "an API token is no ticket",
			ask:    func(t *testing.T, s *site) object { return object{"ticket": s.token(t, "ann", true)} },
			want:   refusedWith(http.StatusForbidden, "LinkExpired"),
		}, {
			reason: "a ticket is no API token",
			ask: func(t *testing.T, s *site) object {
				return ann.with(object{"token": s.ticket(t, func(k *credential.Ticket) { k.Presenter = true })})
			},
			want: refusedWith(http.StatusForbidden, "WrongLogin"),
		}, {
			reason: "a ticket of another tenant",
			ask: func(t *testing.T, s *site) object {
				other, _ := credential.NewSigner("convene/ns/other", map[string][]byte{"1": []byte(strings.Repeat("k", 64))})
				signed, err := other.IssueTicket(credential.Ticket{Room: "room", Lineage: "lineage-1", JoinOptions: meeting.JoinOptions{Name: "Eve"}}, nil, time.Hour, s.now)
				if err != nil {
					t.Fatal(err)
				}
				return object{"ticket": signed}
			},
			want: refusedWith(http.StatusForbidden, "LinkExpired"),
		}, {
			reason: "a ticket of an older meeting of the room",
			ask: func(t *testing.T, s *site) object {
				return object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Lineage = "lineage-0" })}
			},
			want: refusedWith(http.StatusGone, "Ended"),
		}, {
			reason: "an API token's presenter flag makes a presenter",
			ask:    func(t *testing.T, s *site) object { return ann.with(object{"token": s.token(t, "ann", true)}) },
			want:   letIn(presenter),
		}, {
			reason: "an API token without the flag does not",
			ask:    func(t *testing.T, s *site) object { return ann.with(object{"token": s.token(t, "ann", false)}) },
			want:   letIn(guest),
		}, {
			reason: "an API token of a user whom the config makes a presenter",
			ask:    func(t *testing.T, s *site) object { return ann.with(object{"token": s.token(t, "paula", false)}) },
			want:   letIn(presenter),
		}, {
			reason: "an API token that has expired",
			ask: func(t *testing.T, s *site) object {
				token := s.token(t, "ann", true)
				s.now = s.now.Add(2 * time.Hour)
				return ann.with(object{"token": token})
			},
			want: refusedWith(http.StatusForbidden, "WrongLogin"),
		}, {
			reason: "an API token of a user whose password has changed",
			tenant: []func(*tenant.Tenant){withUsers},
			ask: func(t *testing.T, s *site) object {
				token := s.token(t, "paula", true)
				s.tenant.Users = users("paula", "bob")
				return ann.with(object{"token": token})
			},
			want: refusedWith(http.StatusForbidden, "WrongLogin"),
		}, {
			reason: "a protected host asks for a login",
			tenant: []func(*tenant.Tenant){protected, withUsers},
			ask:    plain(ann),
			want:   refusedWith(http.StatusUnauthorized, "LoginRequired"),
		}, {
			reason: "a protected host does not tell strangers which rooms there are",
			tenant: []func(*tenant.Tenant){protected, withUsers},
			ask:    plain(object{"room": "other", "name": "Ann"}),
			want:   refusedWith(http.StatusUnauthorized, "LoginRequired"),
		}, {
			reason: "a protected host lets a token in",
			tenant: []func(*tenant.Tenant){protected},
			ask:    func(t *testing.T, s *site) object { return ann.with(object{"token": s.token(t, "ann", false)}) },
			want:   letIn(guest),
		}, {
			reason: "a protected host lets a login in",
			tenant: []func(*tenant.Tenant){protected, withUsers},
			ask:    plain(ann.with(object{"username": "bob", "userPassword": "bob"})),
			want:   letIn(guest),
		}, {
			reason: "a login of a presenter",
			tenant: []func(*tenant.Tenant){protected, withUsers},
			ask:    plain(ann.with(object{"username": "paula", "userPassword": "paula"})),
			want:   letIn(presenter),
		}, {
			reason: "a presenter's name alone is nothing",
			tenant: []func(*tenant.Tenant){withUsers},
			ask:    plain(object{"room": "room", "name": "paula"}),
			want:   letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "paula", Chat: true}}),
		}, {
			reason: "a wrong login",
			tenant: []func(*tenant.Tenant){protected, withUsers},
			ask:    plain(ann.with(object{"username": "paula", "userPassword": "bob"})),
			want:   refusedWith(http.StatusForbidden, "WrongLogin"),
		}, {
			reason: "a wrong login is refused where none is needed too",
			tenant: []func(*tenant.Tenant){withUsers},
			ask:    plain(ann.with(object{"username": "nobody", "userPassword": "bob"})),
			want:   refusedWith(http.StatusForbidden, "WrongLogin"),
		}, {
			reason: "a username without its password",
			tenant: []func(*tenant.Tenant){withUsers},
			ask:    plain(ann.with(object{"username": "paula"})),
			want:   refusedWith(http.StatusForbidden, "WrongLogin"),
		}, {
			reason: "a login where there are no users",
			ask:    plain(ann.with(object{"username": "paula", "userPassword": "paula"})),
			want:   refusedWith(http.StatusForbidden, "WrongLogin"),
		}, {
			reason: "a protected host lets a ticket of a user in",
			tenant: []func(*tenant.Tenant){protected, withUsers},
			ask: func(t *testing.T, s *site) object {
				return object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Username = "bob" })}
			},
			want: letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Tina", Chat: true}}),
		}, {
			reason: "a guest's ticket from before the host was protected",
			tenant: []func(*tenant.Tenant){protected, withUsers},
			ask:    func(t *testing.T, s *site) object { return object{"ticket": s.ticket(t, nil)} },
			want:   refusedWith(http.StatusForbidden, "LinkExpired"),
		}, {
			reason: "a ticket of a user whose password has changed",
			tenant: []func(*tenant.Tenant){withUsers},
			ask: func(t *testing.T, s *site) object {
				ticket := s.ticket(t, func(k *credential.Ticket) { k.Username = "bob" })
				s.tenant.Users = users("paula", "bob")
				return object{"ticket": ticket}
			},
			want: refusedWith(http.StatusForbidden, "LinkExpired"),
		}, {
			reason: "the last place is free",
			given:  func(s *site) { s.fill(9) },
			ask:    plain(ann),
			want:   letIn(guest),
		}, {
			reason: "the meeting is full",
			given:  func(s *site) { s.fill(10) },
			ask:    plain(ann),
			want:   refusedWith(http.StatusConflict, "Full"),
		}, {
			reason: "who is listed and not there takes no place",
			given:  func(s *site) { s.fill(10); s.engine.ghosts = append(s.engine.ghosts, s.engine.people[3].Identity) },
			ask:    plain(ann),
			want:   letIn(guest),
		}, {
			reason: "whom the controllers see is there",
			given: func(s *site) {
				s.fill(10)
				s.engine.ghosts = append(s.engine.ghosts, s.engine.people[3].Identity)
				s.meetings.byRoom["room"].Status = &v1alpha1.MeetingStatus{ParticipantCount: 10}
			},
			ask:  plain(ann),
			want: refusedWith(http.StatusConflict, "Full"),
		}, {
			reason: "no ticket makes a place in a full meeting",
			given:  func(s *site) { s.fill(10) },
			ask: func(t *testing.T, s *site) object {
				return object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Hide, k.Presenter = true, true })}
			},
			want: refusedWith(http.StatusConflict, "Full"),
		}, {
			reason: "a meeting without its own limit has the tenant's",
			tenant: []func(*tenant.Tenant){func(t *tenant.Tenant) { t.Settings.MaxParticipants = 3 }},
			given:  func(s *site) { s.meetings.byRoom["room"].MaxParticipants = 0; s.fill(3) },
			ask:    plain(ann),
			want:   refusedWith(http.StatusConflict, "Full"),
		}, {
			reason: "no media server",
			tenant: []func(*tenant.Tenant){func(t *tenant.Tenant) { t.Media = nil }},
			ask:    plain(ann),
			want:   refusedWith(http.StatusServiceUnavailable, "Unavailable"),
		}, {
			reason: "a media server that is out of reach",
			given:  func(s *site) { s.engine.err = fault.Unavailable("The media server cannot be reached") },
			ask:    plain(ann),
			want:   refusedWith(http.StatusServiceUnavailable, "Unavailable"),
		}, {
			reason: "a media server that refuses our key is no business of the page",
			given: func(s *site) {
				s.engine.err = fault.Unavailable("It refuses our key").WithReason("Unauthorized")
			},
			ask:  plain(ann),
			want: refusedWith(http.StatusServiceUnavailable, "Unavailable"),
		}, {
			reason: "a cluster that is out of reach when the meeting must be written to",
			given:  func(s *site) { s.meetings.err = fault.Unavailable("The Kubernetes API server cannot be reached") },
			ask:    plain(ann),
			want:   refusedWith(http.StatusServiceUnavailable, "Unavailable"),
		}, {
			reason: "an error of ours",
			given:  func(s *site) { s.meetings.err = errors.New("secret detail") },
			ask:    plain(ann),
			want:   refusedWith(http.StatusInternalServerError, "Unavailable"),
		}, {
			reason: "no signing key yet",
			tenant: []func(*tenant.Tenant){func(t *tenant.Tenant) { t.Signer = nil }},
			ask:    plain(object{"ticket": "a.b.c"}),
			want:   refusedWith(http.StatusServiceUnavailable, "Unavailable"),
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t, c.tenant...)
			s.meetings.open("room", nil)
			if c.given != nil {
				c.given(s)
			}
			got := s.enterWith(t, c.ask(t, s))
			if diff := cmp.Diff(c.want, got.decision()); diff != "" {
				t.Errorf("(-want +got)\n%s%s", diff, got.Body)
			}
			if got.Code != http.StatusOK && len(s.engine.grants) > 0 {
				t.Error("a participant who is refused has been granted entry")
			}
			retry := got.Header().Get("Retry-After")
			if (got.Code == http.StatusServiceUnavailable) != (retry != "") {
				t.Errorf("status %d with Retry-After %q", got.Code, retry)
			}
			if strings.Contains(got.Body.String(), "secret detail") || strings.Contains(got.Body.String(), "our key") {
				t.Errorf("the answer tells what is for the operator: %s", got.Body)
			}
		})
	}
}

func plain(b object) func(*testing.T, *site) object {
	return func(*testing.T, *site) object { return b }
}

// lock gives a room a password.
func (s *site) lock(room string) {
	v := s.meetings.byRoom[room]
	v.HasPassword = true
	s.meetings.passwords[v.UID] = password
}

// fill puts n people into the engine's room.
func (s *site) fill(n int) {
	for range n {
		s.engine.join(engine.Identity(rand.Text() + "-other"))
	}
}

func TestWhatTheDoorSays(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", func(v *meeting.View) { v.Started = s.now.Add(-time.Minute) })
	got := s.enterWith(t, object{"room": "room", "name": "Ann"}).session()

	if got.Engine.URL != "wss://"+host+"/media-server" {
		t.Errorf("the page is sent to %s", got.Engine.URL)
	}
	want := meetingAnswer{Room: "room", URL: v.URL, Duration: "01:00:00", StartedAt: v.Started, ExpiresAt: v.Expires}
	if diff := cmp.Diff(want, got.Meeting); diff != "" {
		t.Errorf("meeting (-want +got)\n%s", diff)
	}
	if !got.Now.Equal(s.now) || got.Home != s.tenant.Web.HomeURL {
		t.Errorf("now %s, home %s", got.Now, got.Home)
	}
	session, err := s.tenant.Signer.VerifySession(got.Session, s.now)
	if err != nil {
		t.Fatal(err)
	}
	wantSession := credential.Session{
		Identity: string(got.You.Identity), Meeting: v.UID,
		Ticket: credential.Ticket{Lineage: v.Lineage, Room: "room", JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}},
	}
	if diff := cmp.Diff(wantSession, session.Session); diff != "" {
		t.Errorf("session (-want +got)\n%s", diff)
	}
	wantGrant := engine.Grant{
		Room: v.EngineRoom, Identity: got.You.Identity, Name: "Ann", Traits: engine.Traits{Chat: true}, Lifetime: 2 * time.Minute,
	}
	if diff := cmp.Diff([]engine.Grant{wantGrant}, s.engine.grants); diff != "" {
		t.Errorf("grant (-want +got)\n%s", diff)
	}
}

func TestTheRoomIsMarkedBeforeItIsOpened(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", nil)
	ann := object{"room": "room", "name": "Ann"}

	s.engine.err = fault.Unavailable("away")
	if got := s.enterWith(t, ann); got.Code != http.StatusServiceUnavailable {
		t.Fatalf("status %d", got.Code)
	}
	if len(s.engine.ensured) > 0 {
		t.Error("a room was opened on an engine that could not even be asked who is in")
	}
	s.engine.err = nil
	s.enterWith(t, ann).session()
	s.enterWith(t, ann).session()
	if diff := cmp.Diff([]string{"enter", "enter", "mark opened", "enter"}, s.meetings.calls); diff != "" {
		t.Errorf("calls (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]engine.RoomState{{ExpiresAt: v.Expires}, {ExpiresAt: v.Expires}}, s.engine.ensured); diff != "" {
		t.Errorf("rooms opened (-want +got)\n%s", diff)
	}

	s = newSite(t)
	s.meetings.open("room", nil)
	s.meetings.markErr = fault.Unavailable("the API server is away")
	if got := s.enterWith(t, ann); got.Code != http.StatusServiceUnavailable || len(s.engine.ensured) > 0 {
		t.Errorf("status %d; a room that could not be written down was opened %d times", got.Code, len(s.engine.ensured))
	}
}

func TestSessionOfAPathPrefix(t *testing.T) {
	s := newSite(t, func(t *tenant.Tenant) { t.BaseURL, t.BasePath = "http://"+host+"/video", "/video" })
	s.meetings.open("room", nil)
	got := s.call(t, http.MethodPost, "/video/session", "", object{"room": "room", "name": "Ann"}).session()
	if got.Engine.URL != "ws://"+host+"/video/media-server" {
		t.Errorf("the page is sent to %s", got.Engine.URL)
	}
}

// TestCodedBodies: what a proxy or a client has packed is refused by its coding, and says so.
func TestCodedBodies(t *testing.T) {
	s := newSite(t)
	r := newRequest(http.MethodPost, "/session", "\x1f\x8b\x08")
	r.Header.Set("Content-Encoding", "gzip")
	if got := s.do(t, r); got.Code != http.StatusUnsupportedMediaType || !strings.Contains(got.refusal().Error, "gzip") {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

func TestBodiesOfSession(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	for _, c := range []struct {
		reason, body string
		status       int
	}{
		{"none", "", http.StatusBadRequest},
		{"null", "null", http.StatusBadRequest},
		{"an array", "[1]", http.StatusBadRequest},
		{"broken", `{"room":`, http.StatusBadRequest},
		{"a wrong type", `{"room":"room","name":7}`, http.StatusBadRequest},
		{"two objects", `{"room":"room","name":"Ann"}{}`, http.StatusBadRequest},
		{"null fields are absent ones", `{"room":"room","name":"Ann","chat":null,"ticket":null}`, http.StatusOK},
		{"unknown fields", `{"room":"room","name":"Ann","roomPassword":false}`, http.StatusOK},
		{"64 KiB and more", `{"room":"room","name":"Ann","x":"` + strings.Repeat("x", 64<<10) + `"}`, http.StatusRequestEntityTooLarge},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := s.call(t, http.MethodPost, "/session", "", c.body)
			if got.Code != c.status {
				t.Errorf("status %d: %s", got.Code, got.Body)
			}
			if got.Code != http.StatusOK && got.refusal().Reason != "Invalid" {
				t.Errorf("reason %s", got.refusal().Reason)
			}
		})
	}
}
