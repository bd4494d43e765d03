// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
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

// again is the request of a page that was disconnected: the same as before, with its session.
func again(request object, s sessionAnswer) object { return request.with(object{"session": s.Session}) }

func TestWhoComesBack(t *testing.T) {
	ann := object{"room": "room", "name": "Ann"}
	for _, c := range []struct {
		reason string
		tenant []func(*tenant.Tenant)
		// request is both the first and the second, which has the session too, and what is in then.
		request func(*testing.T, *site) object
		then    object
		// between happens while the page is away.
		between func(*testing.T, *site, sessionAnswer)
		want    decision
		// another says that the identity is not the one before.
		another bool
	}{
		{
			reason:  "a guest",
			request: plain(ann),
			want:    letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}}),
		}, {
			reason:  "with other wishes and another name",
			request: plain(ann),
			then:    object{"name": "Anna", "chat": false},
			want:    letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Anna"}}),
		}, {
			reason:  "into a full meeting in which they still are",
			request: plain(ann),
			between: func(_ *testing.T, s *site, in sessionAnswer) { s.engine.join(in.You.Identity); s.fill(9) },
			want:    letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}}),
		}, {
			reason:  "into a meeting that filled up without them",
			request: plain(ann),
			between: func(_ *testing.T, s *site, _ sessionAnswer) { s.fill(10) },
			want:    refusedWith(http.StatusConflict, "Full"),
		}, {
			reason:  "after a presenter removed them",
			request: plain(ann),
			between: func(_ *testing.T, s *site, in sessionAnswer) { s.bar(in.You.Identity) },
			want:    refusedWith(http.StatusForbidden, "NotAllowed"),
		}, {
			reason:  "after the meeting ended",
			request: plain(ann),
			between: func(_ *testing.T, s *site, _ sessionAnswer) {
				v := s.meetings.byRoom["room"]
				v.Ended, v.Redirect = true, "https://bye.example/"
			},
			want: decision{Status: http.StatusGone, Reason: "Ended", Redirect: "https://bye.example/"},
		}, {
			reason:  "after their meeting ended and the next one of the room began: they are not taken into it",
			request: plain(ann),
			between: func(_ *testing.T, s *site, _ sessionAnswer) {
				v := s.meetings.byRoom["room"]
				v.Ended, v.Redirect = true, "https://bye.example/"
				s.meetings.open("room", nil)
			},
			want: decision{Status: http.StatusGone, Reason: "Ended", Redirect: "https://bye.example/"},
		}, {
			reason:  "after the room was started again by its links: as a new participant",
			request: plain(ann),
			between: func(_ *testing.T, s *site, _ sessionAnswer) {
				old := s.meetings.byRoom["room"]
				old.Ended = true
				s.meetings.open("room", nil).Lineage = old.Lineage
			},
			want:    letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}}),
			another: true,
		}, {
			reason:  "by themselves, into the meeting that goes on",
			request: plain(ann),
			then:    object{"renews": true},
			want:    letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}}),
		}, {
			reason:  "by themselves, into a meeting that this replica does not know",
			request: plain(ann),
			then:    object{"renews": true},
			between: func(_ *testing.T, s *site, _ sessionAnswer) { s.meetings.unknown["uid-1"] = true },
			want:    letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}}),
		}, {
			reason:  "by themselves, while nobody can say whether their meeting has ended",
			request: plain(ann),
			then:    object{"renews": true},
			between: func(_ *testing.T, s *site, _ sessionAnswer) {
				s.meetings.unknown["uid-1"], s.meetings.knownErr = true, fault.Unavailable("away")
			},
			want: refusedWith(http.StatusServiceUnavailable, "Unavailable"),
		}, {
			reason:  "by themselves, after the room was started again by its links: they are not taken into it",
			request: plain(ann),
			then:    object{"renews": true},
			between: func(_ *testing.T, s *site, _ sessionAnswer) {
				old := s.meetings.byRoom["room"]
				old.Ended, old.Redirect = true, "https://bye.example/"
				s.meetings.open("room", nil).Lineage = old.Lineage
			},
			want: decision{Status: http.StatusGone, Reason: "Ended", Redirect: "https://bye.example/"},
		}, {
			reason:  "by themselves, with a ticket, after the room was started again by it",
			request: func(t *testing.T, s *site) object { return object{"ticket": s.ticket(t, nil)} },
			then:    object{"renews": true},
			between: func(_ *testing.T, s *site, _ sessionAnswer) {
				old := s.meetings.byRoom["room"]
				old.Ended = true
				s.meetings.open("room", nil).Lineage = old.Lineage
			},
			want: decision{Status: http.StatusGone, Reason: "Ended"},
		}, {
			reason:  "by themselves, after nothing is left of the meeting, and the room was started again by its links",
			request: plain(ann),
			then:    object{"renews": true},
			between: func(_ *testing.T, s *site, _ sessionAnswer) {
				old := s.meetings.byRoom["room"]
				delete(s.meetings.byUID, old.UID)
				s.meetings.open("room", func(v *meeting.View) { v.UID, v.Lineage = "another", old.Lineage })
			},
			want: decision{Status: http.StatusGone, Reason: "Ended"},
		}, {
			reason:  "by themselves, after both the session and the link are over",
			request: func(t *testing.T, s *site) object { return object{"ticket": s.ticket(t, nil)} },
			then:    object{"renews": true},
			between: func(_ *testing.T, s *site, _ sessionAnswer) { s.now = s.now.Add(36 * time.Hour) },
			want:    decision{Status: http.StatusGone, Reason: "Ended"},
		}, {
			reason:  "by themselves, after a day and a half in which the page slept",
			request: plain(ann),
			then:    object{"renews": true},
			between: func(_ *testing.T, s *site, _ sessionAnswer) {
				s.now = s.now.Add(36 * time.Hour)
				s.meetings.byRoom["room"].Ended = true
				s.meetings.open("room", nil)
			},
			want: decision{Status: http.StatusGone, Reason: "Ended"},
		}, {
			reason:  "by themselves, after the meeting was deleted, where anybody may open the room: it stays closed",
			tenant:  []func(*tenant.Tenant){func(t *tenant.Tenant) { t.Settings.AdHoc = v1alpha1.AdHocAnyone }},
			request: plain(ann),
			then:    object{"renews": true},
			between: func(_ *testing.T, s *site, _ sessionAnswer) {
				s.now = s.now.Add(36 * time.Hour)
				delete(s.meetings.byRoom, "room")
			},
			want: decision{Status: http.StatusGone, Reason: "Ended"},
		}, {
			reason: "without being asked for the password again",
			request: func(_ *testing.T, s *site) object {
				s.lock("room")
				return ann.with(object{"password": password})
			},
			then: object{"password": ""},
			want: letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}}),
		}, {
			reason: "when the password is another one since",
			request: func(_ *testing.T, s *site) object {
				s.lock("room")
				return ann.with(object{"password": password})
			},
			between: func(_ *testing.T, s *site, _ sessionAnswer) {
				s.meetings.passwords[s.meetings.byRoom["room"].UID] = "changed"
			},
			want: refusedWith(http.StatusForbidden, "WrongPassword"),
		}, {
			reason: "with a ticket whose time is over",
			request: func(t *testing.T, s *site) object {
				return object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Presenter = true })}
			},
			between: func(_ *testing.T, s *site, _ sessionAnswer) { s.now = s.now.Add(2 * time.Hour) },
			want:    letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Tina", Chat: true, Presenter: true}}),
		}, {
			reason:  "a presenter by a token whose time is over",
			request: func(t *testing.T, s *site) object { return ann.with(object{"token": s.token(t, "ann", true)}) },
			between: func(_ *testing.T, s *site, _ sessionAnswer) { s.now = s.now.Add(2 * time.Hour) },
			want:    letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true, Presenter: true}}),
		}, {
			reason: "a hidden participant stays hidden",
			request: func(t *testing.T, s *site) object {
				return object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Hide = true })}
			},
			want: letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Tina", Chat: true, Hide: true}, Hidden: true}),
		}, {
			reason: "without the ticket: what it said still counts, whatever the page wishes",
			request: func(t *testing.T, s *site) object {
				return object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Chat = false })}
			},
			then: object{"ticket": "", "room": "room", "name": "Mallory", "chat": true, "notify": true, "avatar": "https://img.example/m.png"},
			want: letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Tina"}}),
		}, {
			reason:  "a user who is one no more",
			tenant:  []func(*tenant.Tenant){protected, withUsers},
			request: plain(ann.with(object{"username": "bob", "userPassword": "bob"})),
			between: func(_ *testing.T, s *site, _ sessionAnswer) { s.tenant.Users = users("paula") },
			want:    refusedWith(http.StatusForbidden, "WrongLogin"),
		}, {
			reason:  "a user whose password was changed",
			tenant:  []func(*tenant.Tenant){protected, withUsers},
			request: plain(ann.with(object{"username": "bob", "userPassword": "bob"})),
			then:    object{"username": "", "userPassword": ""},
			between: func(_ *testing.T, s *site, _ sessionAnswer) { s.tenant.Users = users("bob") }, // hashed again
			want:    refusedWith(http.StatusUnauthorized, "LoginRequired"),
		}, {
			reason:  "a user who is listed as a presenter since",
			tenant:  []func(*tenant.Tenant){withUsers},
			request: plain(ann.with(object{"username": "bob", "userPassword": "bob"})),
			between: func(_ *testing.T, s *site, _ sessionAnswer) { s.tenant.Presenters = map[string]bool{"bob": true} },
			want:    letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true, Presenter: true}}),
		}, {
			reason:  "a user who is not listed as a presenter any more",
			tenant:  []func(*tenant.Tenant){withUsers},
			request: plain(ann.with(object{"username": "paula", "userPassword": "paula"})),
			between: func(_ *testing.T, s *site, _ sessionAnswer) { s.tenant.Presenters = nil },
			want:    letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}}),
		}, {
			reason:  "a guest on a host that is protected since",
			tenant:  []func(*tenant.Tenant){withUsers},
			request: plain(ann),
			between: func(_ *testing.T, s *site, _ sessionAnswer) { s.tenant.Protected = true },
			want:    refusedWith(http.StatusUnauthorized, "LoginRequired"),
		}, {
			reason:  "with a session whose time is over: as a new participant",
			request: plain(ann),
			between: func(_ *testing.T, s *site, _ sessionAnswer) { s.now = s.now.Add(25 * time.Hour) },
			want:    letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}}),
			another: true,
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s := newSite(t, c.tenant...)
			s.meetings.open("room", nil)
			request := c.request(t, s)
			first := s.enterWith(t, request).session()
			if c.between != nil {
				c.between(t, s, first)
			}
			got := s.enterWith(t, again(request, first).with(c.then))
			if diff := cmp.Diff(c.want, got.decision()); diff != "" {
				t.Fatalf("(-want +got)\n%s%s", diff, got.Body)
			}
			if got.Code != http.StatusOK {
				return
			}
			if same := got.session().You.Identity == first.You.Identity; same == c.another {
				t.Errorf("identity %s after %s", got.session().You.Identity, first.You.Identity)
			}
		})
	}
}

// removed is the decision that a participant was removed.
func removed(who engine.Identity) []v1alpha1.ParticipantDecision {
	return []v1alpha1.ParticipantDecision{{Identity: string(who), Removed: true}}
}

// bar records that a participant was removed.
func (s *site) bar(who engine.Identity) {
	v := s.meetings.byRoom["room"]
	v.Decisions = append(v.Decisions, removed(who)...)
}

func TestWhatStaysBarred(t *testing.T) {
	ann := object{"room": "room", "name": "Ann"}
	s := newSite(t)
	s.meetings.open("room", nil)
	ticket := object{"ticket": s.ticket(t, nil)}
	token := ann.with(object{"token": s.token(t, "ann", false)})

	first, second := s.enterWith(t, ticket).session(), s.enterWith(t, ticket).session()
	if first.You.Identity == second.You.Identity {
		t.Fatal("two devices with one ticket are one participant")
	}
	withToken, guest := s.enterWith(t, token).session(), s.enterWith(t, ann).session()
	s.bar(first.You.Identity)
	s.bar(withToken.You.Identity)

	refused := refusedWith(http.StatusForbidden, "NotAllowed")
	guestAgain := letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Ann", Chat: true}})
	for _, c := range []struct {
		reason string
		ask    object
		want   decision
	}{
		{"the session", again(ticket, first), refused},
		{"the ticket without a session", ticket, refused},
		{"the other device's session", again(ticket, second), refused},
		{"the ticket with a guest's session", again(ticket, guest), refused},
		{"another person's ticket with the session", again(object{"ticket": s.ticket(t, nil)}, first), refused},
		{"the token", token, refused},
		{"another token", ann.with(object{"token": s.token(t, "ann", false)}), guestAgain},
		{"another ticket", object{"ticket": s.ticket(t, nil)}, letIn(youAnswer{JoinOptions: meeting.JoinOptions{Name: "Tina", Chat: true}})},
		{"another guest", ann, guestAgain},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if diff := cmp.Diff(c.want, s.enterWith(t, c.ask).decision()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestAMuteHoldsUnderAnotherIdentity: a guest's session beside a ticket does not lift a mute.
func TestAMuteHoldsUnderAnotherIdentity(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	ticket := object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Audio = true })}
	guest := s.enterWith(t, object{"room": "room", "name": "Ann"}).session()
	in := s.enterWith(t, ticket).session()
	if !in.You.Audio {
		t.Fatalf("before the mute: %+v", in.You)
	}
	v := s.meetings.byRoom["room"]
	v.Decisions = append(v.Decisions, v1alpha1.ParticipantDecision{Identity: string(in.You.Identity), Muted: true})
	for reason, ask := range map[string]object{
		"with the ticket": ticket, "with their session": again(ticket, in), "with a guest's session": again(ticket, guest),
	} {
		back := s.enterWith(t, ask).session()
		if grant := s.engine.grants[len(s.engine.grants)-1]; back.You.Audio || !grant.Forbidden.Has(engine.Microphone) {
			t.Errorf("%s: %+v, granted %+v", reason, back.You, grant)
		}
	}
}

// TestASessionAloneUndoesNothing: the next meeting of a room, started by a link or restored, knows who was removed or muted, also
// those who come with nothing but the session that they had.
func TestASessionAloneUndoesNothing(t *testing.T) {
	s := newSite(t)
	old := s.meetings.open("room", nil)
	ann := object{"room": "room", "name": "Ann", "audio": true}
	removed, muted := s.enterWith(t, ann).session(), s.enterWith(t, ann).session()
	old.Ended = true
	next := s.meetings.open("room", nil)
	next.Lineage = old.Lineage
	next.Decisions = []v1alpha1.ParticipantDecision{{Identity: string(removed.You.Identity), Removed: true}, {Identity: string(muted.You.Identity), Muted: true}}
	refused := refusedWith(http.StatusForbidden, "NotAllowed")
	ticket := object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Lineage = old.Lineage })}
	for reason, ask := range map[string]object{"alone": again(ann, removed), "beside a ticket": again(ticket, removed)} {
		if diff := cmp.Diff(refused, s.enterWith(t, ask).decision()); diff != "" {
			t.Errorf("removed, with the session %s (-want +got)\n%s", reason, diff)
		}
	}
	ask := again(ann, muted)
	for round := range 2 {
		back := s.enterWith(t, ask).session()
		if grant := s.engine.grants[len(s.engine.grants)-1]; back.You.Audio || !grant.Forbidden.Has(engine.Microphone) {
			t.Errorf("muted, round %d: %+v, granted %+v", round, back.You, grant)
		}
		ask = again(ann, back)
	}
}

func TestNoWayBetweenHiddenAndVisible(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	visible := s.enterWith(t, object{"ticket": s.ticket(t, nil)}).session()
	hiding := object{"ticket": s.ticket(t, func(k *credential.Ticket) { k.Hide = true })}
	hidden := s.enterWith(t, again(hiding, visible)).session()
	if !hidden.You.Hidden || hidden.You.Identity == visible.You.Identity {
		t.Errorf("%+v after %+v", hidden.You, visible.You)
	}
	// Without the ticket the session says what it was given for.
	back := s.enterWith(t, again(object{"room": "room", "name": "Ann", "notify": true}, hidden)).session()
	if !back.You.Hidden || back.You.Notify || back.You.Identity != hidden.You.Identity {
		t.Errorf("%+v after %+v", back.You, hidden.You)
	}
}

func TestASessionOfOneRoomIsNothingInAnother(t *testing.T) {
	s := newSite(t)
	s.meetings.open("room", nil)
	s.meetings.open("other", nil)
	s.lock("other")
	in := s.enterWith(t, object{"room": "room", "name": "Ann"}).session()
	got := s.enterWith(t, again(object{"room": "other", "name": "Ann"}, in)).decision()
	if diff := cmp.Diff(refusedWith(http.StatusUnauthorized, "PasswordRequired"), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestASessionIsOfItsParticipantAlone: beside the credential of somebody else a session gives nothing, and the entrant is not its participant.
func TestASessionIsOfItsParticipantAlone(t *testing.T) {
	s := newSite(t, withUsers)
	s.meetings.open("room", nil)
	ann := object{"room": "room", "name": "Ann"}
	ways := map[string]object{
		"a guest":        ann,
		"a ticket":       {"ticket": s.ticket(t, presenting)},
		"another ticket": {"ticket": s.ticket(t, nil)},
		"a login":        ann.with(object{"username": "paula", "userPassword": "paula"}),
		"another login":  ann.with(object{"username": "bob", "userPassword": "bob"}),
		"a token":        ann.with(object{"token": s.token(t, "paula", false)}),
		"another token":  ann.with(object{"token": s.token(t, "bob", false)}),
	}
	// A user is the same by login and by token. A guest's link is nobody's, and a ticket's session needs no ticket.
	same := map[string]string{"a login": "paula", "a token": "paula", "another login": "bob", "another token": "bob"}
	for first, began := range ways {
		in := s.enterWith(t, began).session()
		for then, ask := range ways {
			got := s.enterWith(t, again(ask, in)).session()
			goesOn := first == then || then == "a guest" || same[first] != "" && same[first] == same[then]
			if (got.You.Identity == in.You.Identity) != goesOn {
				t.Errorf("the session of %s with %s: %s after %s", first, then, got.You.Identity, in.You.Identity)
			}
			if alone := s.enterWith(t, ask).session(); !goesOn && got.You.Presenter != alone.You.Presenter {
				t.Errorf("the session of %s with %s: presenter is %t, and %t without it", first, then, got.You.Presenter, alone.You.Presenter)
			}
		}
	}
	wrong := ann.with(object{"username": "bob", "userPassword": "guessed"})
	got := s.enterWith(t, again(wrong, s.enterWith(t, ways["a login"]).session())).decision()
	if diff := cmp.Diff(refusedWith(http.StatusForbidden, "WrongLogin"), got); diff != "" {
		t.Errorf("another user's session with a wrong login (-want +got)\n%s", diff)
	}
}

// TestTheDecisionsAboutAnotherGiveNothing: a removal and a mute follow the browser, and a role does not.
func TestTheDecisionsAboutAnotherGiveNothing(t *testing.T) {
	s := newSite(t)
	v := s.meetings.open("room", nil)
	guest := s.enterWith(t, object{"room": "room", "name": "Ann"}).session()
	v.Decisions = []v1alpha1.ParticipantDecision{{Identity: string(guest.You.Identity), Role: v1alpha1.RolePresenter, Admitted: true}}
	if back := s.enterWith(t, again(object{"room": "room", "name": "Ann"}, guest)).session(); !back.You.Presenter {
		t.Error("the guest was made a presenter, and is none")
	}
	if other := s.enterWith(t, again(object{"ticket": s.ticket(t, nil)}, guest)).session(); other.You.Presenter {
		t.Error("another one's ticket makes a presenter, because a guest was made one")
	}
	v.Locked = true
	if got := s.enterWith(t, again(object{"ticket": s.ticket(t, nil)}, guest)); got.refusal().Reason != "Locked" {
		t.Errorf("another one's ticket at a locked door, with the session of an admitted guest: %d", got.Code)
	}
}
