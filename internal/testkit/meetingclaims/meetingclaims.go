// SPDX-License-Identifier: Apache-2.0

// Package meetingclaims asks for all that the pages and the REST API rely on of meetings. Tests ask package conference and each of its doubles:
// the answers must be the same.
package meetingclaims

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Ending is what both surfaces ask for.
type Ending interface {
	End(context.Context, *tenant.Tenant, conference.EndCommand) (conference.EndResult, error)
}

// Marking is what both surfaces ask for.
type Marking interface {
	PasswordMark(ctx context.Context, t *tenant.Tenant, v meeting.View) (string, error)
}

// Pages is what the pages ask for.
type Pages interface {
	Ending
	Enter(ctx context.Context, t *tenant.Tenant, room, lineage string) (meeting.View, error)
	Preview(ctx context.Context, t *tenant.Tenant, room, lineage string, opens bool) (meeting.View, error)
	Open(context.Context, *tenant.Tenant, meeting.Opening) (meeting.View, error)
	MarkOpened(ctx context.Context, t *tenant.Tenant, v meeting.View, leader engine.Identity, username string) (meeting.View, error)
	Marking
	CheckPassword(ctx context.Context, t *tenant.Tenant, v meeting.View, from netip.Prefix, presented string) (bool, error)
	Known(ctx context.Context, t *tenant.Tenant, uid, room string) (meeting.View, error)
	Change(ctx context.Context, t *tenant.Tenant, uid string, change func(*v1alpha1.MeetingSpec) error) (meeting.View, error)
}

// API is what the REST API asks for.
type API interface {
	Ending
	Marking
	Totals(*tenant.Tenant) meeting.Totals
	Live(context.Context, *tenant.Tenant, meeting.Page) (iter.Seq[*meeting.View], meeting.Cursor)
	Create(context.Context, *tenant.Tenant, conference.CreateCommand) (meeting.View, error)
	Join(context.Context, *tenant.Tenant, conference.JoinCommand) (meeting.View, error)
	Find(ctx context.Context, t *tenant.Tenant, room string) (meeting.View, error)
}

// answers is one line for each question, in order.
type answers struct {
	t      testing.TB
	tenant *tenant.Tenant
	lines  []string
	uids   map[string]string
}

func (a *answers) say(format string, args ...any) {
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
}

// view is what a surface sees of a meeting, with the names that the script gives to UIDs.
// leaderOf returns the identity of the promoted presenter of a meeting, or nothing.
func leaderOf(v meeting.View) string {
	for _, d := range v.Decisions {
		if d.Promoted {
			return d.Identity
		}
	}
	return ""
}

func (a *answers) view(what string, v meeting.View, err error) {
	how := outcome(err)
	if err == nil || v.Ended {
		how += fmt.Sprintf(", %s of %q, %s", a.named(v.UID), v.Room, v.Length)
		for _, fact := range []struct {
			name string
			is   bool
		}{
			{"expires", !v.Expires.IsZero()}, {"password", v.HasPassword}, {"opened", v.Opened}, {"locked", v.Locked},
			{"ended", v.Ended}, {"to " + v.Redirect, v.Redirect != ""}, {"led by " + leaderOf(v), leaderOf(v) != ""},
		} {
			if fact.is {
				how += ", " + fact.name
			}
		}
	}
	a.say("%s: %s", what, how)
}

func (a *answers) named(uid string) string {
	if uid == "" {
		return "none"
	}
	if a.uids[uid] == "" {
		a.uids[uid] = fmt.Sprintf("meeting %d", len(a.uids)+1)
	}
	return a.uids[uid]
}

// aHash looks like a stored password.
const aHash = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"

// outcome is of a call that answers nothing more.
func outcome(err error) string {
	for kind, name := range map[fault.Kind]string{
		fault.KindInternal: "internal", fault.KindDenied: "denied", fault.KindNotFound: "not found", fault.KindGone: "gone", fault.KindConflict: "conflict",
		fault.KindInvalid: "invalid", fault.KindUnavailable: "unavailable",
	} {
		if fault.Is(err, kind) {
			return name
		}
	}
	if err != nil {
		return err.Error()
	}
	return "ok"
}

// mark returns the mark of a meeting's password.
func (a *answers) mark(m Marking, what string, v meeting.View) string {
	mark, err := m.PasswordMark(a.t.Context(), a.tenant, v)
	again, _ := m.PasswordMark(a.t.Context(), a.tenant, v)
	a.say("the password of %s has a mark: %t, the same one again: %t, %s", what, mark != "", mark == again, outcome(err))
	return mark
}

func (a *answers) end(m Ending, what string, c conference.EndCommand) {
	result, err := m.End(a.t.Context(), a.tenant, c)
	a.say("end %s: ended %t, %s", what, result.Ended, outcome(err))
}

// OfPages asks what the pages ask, and writes the answers down. Create makes a meeting of a room with a password, or without one where it is
// empty.
func OfPages(t testing.TB, of *tenant.Tenant, m Pages, create func(room, password string)) []string {
	t.Helper()
	a := &answers{t: t, tenant: of, uids: map[string]string{}}
	ctx := t.Context()
	find := func(what, room, lineage string) {
		v, err := m.Preview(ctx, of, room, lineage, false)
		a.view("preview "+what, v, err)
		v, err = m.Enter(ctx, of, room, lineage)
		a.view("enter "+what, v, err)
	}
	find("a room without a meeting", "room", "")
	find("a room without a meeting with a ticket", "room", "another")
	v, err := m.Known(ctx, of, "none", "")
	a.say("a meeting that is not known: ended %t, %s", v.Ended, outcome(err))
	_, err = m.Change(ctx, of, "none", func(*v1alpha1.MeetingSpec) error { return nil })
	a.say("change it: %s", outcome(err))
	v, err = m.Known(ctx, of, "none", "room")
	a.say("it is looked for in its room: ended %t, %s", v.Ended, outcome(err))
	a.end(m, "of a room without a meeting", conference.EndCommand{Room: "room"})

	create("room", "sesame")
	live, err := m.Enter(ctx, of, "room", "")
	a.view("enter a meeting", live, err)
	find("it with its ticket", "room", live.Lineage)
	find("it with a ticket of another meeting", "room", "another")
	for _, password := range []string{"sesame", "wrong", ""} {
		right, err := m.CheckPassword(ctx, of, live, netip.MustParsePrefix("192.0.2.1/32"), password)
		a.say("password %q: right %t, %s", password, right, outcome(err))
	}
	a.mark(m, "it", live)
	lock := func(on bool) func(*v1alpha1.MeetingSpec) error {
		return func(spec *v1alpha1.MeetingSpec) error {
			spec.Locked = &on
			return nil
		}
	}
	v, err = m.Change(ctx, of, live.UID, lock(true))
	a.view("lock it", v, err)
	v, err = m.Known(ctx, of, live.UID, "")
	a.view("then it is", v, err)
	v, err = m.Change(ctx, of, live.UID, lock(false))
	a.view("unlock it", v, err)
	for what, change := range map[string]func(*v1alpha1.MeetingSpec){
		"redirect": func(s *v1alpha1.MeetingSpec) { s.Redirect = "/" }, "duration": func(s *v1alpha1.MeetingSpec) { s.Duration = "soon" },
	} {
		if _, err := m.Change(ctx, of, live.UID, func(s *v1alpha1.MeetingSpec) error {
			change(s)
			return nil
		}); !fault.Is(err, fault.KindInvalid) {
			t.Errorf("a change to a %s that is none: %v", what, err)
		}
	}
	refusal := fault.Denied("The caller refuses")
	if _, err := m.Change(ctx, of, live.UID, func(s *v1alpha1.MeetingSpec) error {
		s.Locked = new(true)
		return refusal
	}); !errors.Is(err, refusal) {
		t.Errorf("a change that the caller refuses: %v", err)
	}
	v, err = m.Known(ctx, of, live.UID, "")
	a.view("after a change that the caller refuses it is", v, err)
	a.end(m, "another one in its room", conference.EndCommand{Room: "room", UID: "another"})
	home := "https://example.com/"
	a.end(m, "it", conference.EndCommand{Room: "room", UID: live.UID, Redirect: &home})
	a.end(m, "it again", conference.EndCommand{Room: "room"})
	find("what has ended", "room", "")
	find("what has ended with its ticket", "room", live.Lineage)
	v, err = m.Known(ctx, of, live.UID, "")
	a.view("known", v, err)
	_, err = m.Change(ctx, of, live.UID, lock(true))
	a.say("lock what has ended: %s", outcome(err))
	_, err = m.MarkOpened(ctx, of, live, "first-one", "")
	a.say("mark as opened what has ended: %s", outcome(err))

	opening := func(what, room string, allow error) {
		allowed := 0
		v, err := m.Open(ctx, of, meeting.Opening{Room: room, By: v1alpha1.OpenedByUser, Allow: func() error {
			allowed++
			return allow
		}})
		a.view("open "+what, v, err)
		a.say("asked whether that is allowed: %d times", allowed)
	}
	v, err = m.Preview(ctx, of, "another", "", true)
	a.view("preview a room that one may open", v, err)
	opening("a room that one may not open", "another", fault.Denied("not here"))
	find("it", "another", "")
	opening("a room", "another", nil)
	opening("it again", "another", fault.Denied("not here"))
	opened, err := m.Enter(ctx, of, "another", "")
	a.view("enter it", opened, err)
	a.mark(m, "it, which has none,", opened)
	for _, leader := range []engine.Identity{"first-one", "second-one"} {
		v, err = m.MarkOpened(ctx, of, opened, leader, "")
		a.view("mark it as opened", v, err)
	}
	v, err = m.Known(ctx, of, opened.UID, "")
	a.view("then it is", v, err)
	return a.lines
}

// OfAPI asks what the REST API asks, and writes the answers down.
func OfAPI(t testing.TB, of *tenant.Tenant, m API) []string {
	t.Helper()
	a := &answers{t: t, tenant: of, uids: map[string]string{}}
	ctx := t.Context()
	text := func(s string) *string { return &s }
	create := func(what string, c conference.CreateCommand) {
		v, err := m.Create(ctx, of, c)
		a.view("create "+what, v, err)
	}
	join := func(what string, c conference.JoinCommand) {
		v, err := m.Join(ctx, of, c)
		a.view("join "+what, v, err)
	}
	find := func(what, room string) {
		v, err := m.Find(ctx, of, room)
		a.view("find "+what, v, err)
	}
	list := func() {
		read := func(p meeting.Page) (live []string, next meeting.Cursor) {
			page, next := m.Live(ctx, of, p)
			for v := range page {
				live = append(live, fmt.Sprintf("%s at %s", v.Room, v.URL))
			}
			return live, next
		}
		all, next := read(meeting.Page{})
		if next != (meeting.Cursor{}) {
			t.Errorf("the whole list goes on after %s", next)
		}
		page, next := read(meeting.Page{Limit: 1})
		for next != (meeting.Cursor{}) {
			var more []string
			more, next = read(meeting.Page{Limit: 1, After: next})
			page = append(page, more...)
		}
		if !slices.Equal(all, page) {
			t.Errorf("the pages list %q, want %q", page, all)
		}
		slices.Sort(all) // Meetings of one second come in any order.
		a.say("live: %q", all)
	}
	list()
	find("a room without a meeting", "room")
	a.end(m, "of a room without a meeting", conference.EndCommand{Room: "room"})
	create("with a duration that is none", conference.CreateCommand{Room: "room", Duration: "soon"})
	create("with a redirect that is no URL", conference.CreateCommand{Room: "room", Redirect: text("/")})
	create("with the hash of a password", conference.CreateCommand{Room: "room", Password: text(aHash)})
	create("one", conference.CreateCommand{Room: "room", Duration: "30m", Password: text("sesame"), Redirect: text("https://example.com/")})
	create("it again with the same values", conference.CreateCommand{Room: "room", Duration: "1800s", Password: text("sesame")})
	create("it again with no values", conference.CreateCommand{Room: "room"})
	create("it again with another duration", conference.CreateCommand{Room: "room", Duration: "1h"})
	create("it again with another password", conference.CreateCommand{Room: "room", Password: text("open")})
	create("it again without a password", conference.CreateCommand{Room: "room", Password: text("")})
	create("it again with another redirect", conference.CreateCommand{Room: "room", Redirect: text("")})
	create("it again with a limit", conference.CreateCommand{Room: "room", MaxParticipants: 7})
	find("it", "room")
	marks := map[string]bool{}
	mark := func(room string) {
		v, err := m.Find(ctx, of, room)
		if err != nil {
			t.Fatal(err)
		}
		marks[a.mark(m, room, v)] = true
	}
	mark("room")
	join("it", conference.JoinCommand{Room: "room"})
	join("it with its password", conference.JoinCommand{Room: "room", Password: text("sesame")})
	join("it with another password", conference.JoinCommand{Room: "room", Password: text("open")})
	join("it with no password", conference.JoinCommand{Room: "room", Password: text("")})
	join("it with no password, where one is needed", conference.JoinCommand{Room: "room", NeedsPassword: true})
	join("it with another duration", conference.JoinCommand{Room: "room", Duration: "1h"})
	join("a room with a duration that is none", conference.JoinCommand{Room: "joined", Duration: "soon"})
	join("a room with the hash of a password", conference.JoinCommand{Room: "joined", Password: text(aHash)})
	join("a room without a meeting", conference.JoinCommand{Room: "joined"})
	join("it again, with a duration", conference.JoinCommand{Room: "joined", Duration: "1h"})
	mark("joined")
	join("it again, with a password", conference.JoinCommand{Room: "joined", Password: text("sesame")})
	join("it again, with another password", conference.JoinCommand{Room: "joined", Password: text("open")})
	mark("joined")
	a.say("%d marks are different", len(marks))
	list()
	a.end(m, "it with a redirect that is no URL", conference.EndCommand{Room: "room", Redirect: text("/")})
	a.end(m, "it", conference.EndCommand{Room: "room"})
	a.end(m, "it again", conference.EndCommand{Room: "room"})
	find("what has ended", "room")
	list()
	v, err := m.Create(ctx, of, conference.CreateCommand{})
	a.say("create without a name: its name has %d characters, %v", len(v.Room), err)
	return a.lines
}
