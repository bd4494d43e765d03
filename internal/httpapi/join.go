// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// joinRequest is the body of POST join.
type joinRequest struct {
	ticket    credential.Ticket
	command   conference.JoinCommand
	presenter bool
	token     joinToken
	// chat is what was asked for. The ticket has what that means here.
	chat bool
}

// joinBody is the answer of POST join.
type joinBody struct {
	Join string `json:"join"`
}

// join is POST join.
func (a *api) join(q *httpserver.Request) (httpserver.Answer, error) {
	asked, err := readJoin(q)
	if err != nil {
		return nil, err
	}
	q.Record.Room = asked.ticket.Room
	if q.Tenant.Signer == nil {
		return nil, errNoSigner // Before a meeting is made that gets no link.
	}
	who, err := a.identify(q, asked)
	if err != nil {
		return nil, err
	}
	ctx, cancel := a.within(q)
	defer cancel()
	view, err := a.joined(ctx, q, asked)
	if err != nil {
		return nil, err
	}
	ticket := asked.ticket
	if ticket.PasswordMark, err = a.meetings.PasswordMark(ctx, q.Tenant, view); err != nil {
		return nil, err
	}
	ticket.Room, ticket.Lineage = view.Room, view.Lineage
	ticket.Username, ticket.Presenter = who.username, who.presenter
	ticket.Meeting = carried(q.Tenant.Settings, view)
	signed, err := q.Tenant.Signer.IssueTicket(ticket, q.Tenant.Users, who.lifetime, a.clusterTime())
	if err != nil {
		return nil, err
	}
	ticket.Chat = asked.chat // The link shows what was asked for.
	return ok(joinBody{joinURL(q.Tenant.BaseURL, &ticket, view.Length, signed)}), nil
}

// maxCarriedRedirect bounds what a ticket keeps of its meeting's redirect, in bytes: links must not get too long.
const maxCarriedRedirect = 512

// carried is what a ticket keeps of its meeting where it may open the room again: what differs from the tenant's settings.
func carried(s meeting.Settings, view meeting.View) credential.CarriedMeeting {
	var c credential.CarriedMeeting
	if s.AdHoc == v1alpha1.AdHocNever {
		return c
	}
	switch view.Length {
	case s.DefaultLength:
	case 0:
		c.Length = credential.Unlimited
	default:
		c.Length = int64(time.Duration(view.Length) / time.Second)
	}
	if view.MaxParticipants != s.MaxParticipants {
		c.MaxParticipants = view.MaxParticipants
	}
	if len(view.Redirect) <= maxCarriedRedirect {
		c.Redirect = view.Redirect
	}
	c.HasPassword = view.HasPassword
	return c
}

// joined is the meeting of a join. A password that is presented is a guess until it has been right.
func (a *api) joined(ctx context.Context, q *httpserver.Request, asked joinRequest) (view meeting.View, err error) {
	ask := func() error {
		view, err = a.meetings.Join(ctx, q.Tenant, asked.command)
		return err
	}
	if ptr.Deref(asked.command.Password, "") == "" {
		err = ask()
	} else {
		err = q.Guess(ctx, limit.RoomPassword, meeting.CleanRoom(asked.ticket.Room), true, ask)
	}
	return view, err
}

var errNoSigner = fault.Unavailable("The service cannot sign links yet; try again in a moment")

func readJoin(q *httpserver.Request) (joinRequest, error) {
	f, err := readFields(q)
	if err != nil {
		return joinRequest{}, err
	}
	var asked joinRequest
	ticket := &asked.ticket
	ticket.Room, _ = f.text("room")
	f.check(meeting.ValidateAskedRoom(ticket.Room))
	asked.command.Room = ticket.Room
	if q.Tenant.Variant == v1alpha1.VariantA {
		asked.command.Password, asked.command.NeedsPassword = readRoomPassword(f), true
	}
	name, _ := f.text("name")
	ticket.Name = meeting.CleanName(name)
	f.check(meeting.ValidateName(ticket.Name))
	ticket.Avatar, err = meeting.ReadAvatar(f.textUnlessNone("avatar"))
	f.check(err)
	ticket.Audio = f.flag("audio", false)
	ticket.Video = f.flag("video", false)
	ticket.Screen = f.flag("screen", false)
	asked.chat = f.flag("chat", true)
	ticket.Chat = asked.chat || q.Tenant.Compat.ChatOffClosesPanel
	ticket.Hide = f.flag("hide", false)
	ticket.Notify = f.flag("notify", false)
	asked.command.Duration = readDuration(q.Tenant, f)
	asked.presenter = f.flag("presenter", false)
	asked.token = readJoinToken(q.Tenant, f)
	return asked, f.err
}

// joinToken is the token of a join: made already, or what to make one of.
type joinToken struct {
	signed string
	object *tokenRequest
}

func readJoinToken(t *tenant.Tenant, f *fields) joinToken {
	value := decoded(f.get("token"))
	switch text := string(compat.Scalar(value)); {
	case compat.MeansNone(value) || text == "1" || strings.EqualFold(text, "true"): // Some clients say whether they mean to send one.
		return joinToken{}
	case value.Kind() == '"':
		return joinToken{signed: text}
	}
	switch value.Kind() {
	case '{', '[': // parseObject takes an empty array for an empty object.
	default:
		f.fail("token", "must be an object, or a token as a string")
		return joinToken{}
	}
	nested, err := parseObject(value)
	if err != nil {
		f.fail("token", "must be an object, or a token as a string")
		return joinToken{}
	}
	nested.path, nested.form = "token.", f.form
	inner := &fields{object: nested}
	object := readToken(t, inner)
	f.check(inner.err)
	return joinToken{object: &object}
}

// guest is who joins, as far as a token says.
type guest struct {
	username string
	// presenter is the token's flag. Whether the tenant lists the user is looked up when they enter.
	presenter bool
	// lifetime of the ticket: never longer than that of the token which it is made of.
	lifetime time.Duration
}

var errTokenNeeded = fault.Denied("A token is needed to enter this host or to be a presenter; send token: the string from POST token, or an object with username and password")

// identify finds out who joins. A caller without a token is a guest without rights.
func (a *api) identify(q *httpserver.Request, join joinRequest) (guest, error) {
	g := guest{lifetime: q.Tenant.Settings.TicketLifetime}
	switch {
	case join.token.object != nil:
		asked := join.token.object
		if err := a.login(q, *asked); err != nil {
			return g, err
		}
		g.username, g.presenter = asked.username, asked.presenter
		if asked.explicit {
			g.lifetime = min(g.lifetime, asked.lifetime)
		}
	case join.token.signed != "":
		grant, err := q.Tenant.OpenToken(join.token.signed, a.clusterTime())
		if err != nil {
			return g, err
		}
		if grant.Unchecked {
			if err := a.login(q, tokenRequest{username: grant.Username, password: grant.Password}); err != nil {
				return g, err
			}
		}
		g.username, g.presenter = grant.Username, grant.Presenter
		// A token is good for some seconds after its end, where clocks differ.
		g.lifetime = max(min(g.lifetime, grant.Expires.Sub(a.clusterTime())), time.Second)
	case q.Tenant.Protected || join.presenter:
		return g, errTokenNeeded
	}
	return g, nil
}
