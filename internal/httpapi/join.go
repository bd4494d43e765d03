// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
)

// joinRequest is the body of POST join.
type joinRequest struct {
	ticket    credential.Ticket
	password  *string
	duration  v1alpha1.Duration
	presenter bool
	token     joinToken
}

// join is POST join.
func (c *call) join() (answer, error) {
	q, err := c.joinRequest()
	if err != nil {
		return nil, err
	}
	c.room = q.ticket.Room
	if c.tenant.Signer == nil {
		return nil, errNoSigner // Before a meeting is made that gets no link.
	}
	who, err := c.identify(q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.within()
	defer cancel()
	view, err := c.joined(ctx, q)
	if err != nil {
		return nil, err
	}
	q.ticket.Lineage, q.ticket.PasswordOf = view.Lineage, view.PasswordOf
	q.ticket.Username, q.ticket.Presenter = who.username, who.presenter
	signed, err := c.tenant.Signer.IssueTicket(q.ticket, c.tenant.Users, who.lifetime, c.clusterTime())
	if err != nil {
		return nil, err
	}
	return single{name: "join", value: joinURL(c.tenant.BaseURL, &q.ticket, view.Length, signed)}, nil
}

// joined is the meeting of a join. A password that is presented is a guess until it has been right.
func (c *call) joined(ctx context.Context, q joinRequest) (view meeting.View, err error) {
	ask := func() error {
		view, err = c.api.meetings.Join(ctx, c.tenant, meeting.JoinCommand{Room: q.ticket.Room, Duration: q.duration, Password: q.password})
		return err
	}
	if q.password == nil || *q.password == "" {
		err = ask()
	} else {
		err = c.guess(limit.RoomPassword, q.ticket.Room, ask)
	}
	return view, err
}

var errNoSigner = fault.Unavailable("The service cannot sign links yet; try again in a moment")

func (c *call) joinRequest() (joinRequest, error) {
	body, err := c.object()
	if err != nil {
		return joinRequest{}, err
	}
	var q joinRequest
	f := &fields{object: body}
	q.ticket.Room, _ = f.text("room")
	f.check(meeting.ValidateRoom(q.ticket.Room))
	if c.tenant.Variant == v1alpha1.VariantA {
		password := roomPassword(f)
		q.password = &password
	}
	q.ticket.Name, _ = f.text("name")
	f.check(meeting.ValidateName(q.ticket.Name))
	q.ticket.Avatar = f.textUnlessNone("avatar")
	f.check(meeting.ValidateAvatar(q.ticket.Avatar))
	q.ticket.Audio = f.flag("audio", false)
	q.ticket.Video = f.flag("video", false)
	q.ticket.Screen = f.flag("screen", false)
	q.ticket.Chat = f.flag("chat", true)
	q.ticket.Hide = f.flag("hide", false)
	q.ticket.Notify = f.flag("notify", false)
	q.duration = c.duration(f)
	q.presenter = f.flag("presenter", false)
	q.token = c.joinToken(f)
	return q, f.err
}

// joinToken is the token of a join: made already, or what to make one of.
type joinToken struct {
	signed string
	object *tokenRequest
}

func (c *call) joinToken(f *fields) joinToken {
	value := f.get("token")
	switch {
	case value == nil:
		return joinToken{}
	case value.Kind() == '"':
		return joinToken{signed: string(content(value))}
	case value.Kind() != '{':
		f.fail("token", "must be an object, or a token as a string")
		return joinToken{}
	}
	nested, err := parseObject(value)
	nested.path = "token."
	inner := &fields{object: nested, err: err}
	object := c.tokenRequest(inner)
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

var errTokenNeeded = fault.Denied("A token is needed to enter this host or to be a presenter; send token, an object with username or what POST token answered")

// identify finds out who joins. A caller without a token is a guest without rights.
func (c *call) identify(q joinRequest) (guest, error) {
	g := guest{lifetime: c.tenant.Settings.LinkLifetime}
	switch {
	case q.token.object != nil:
		asked := q.token.object
		if err := c.login(*asked); err != nil {
			return g, err
		}
		g.username, g.presenter = asked.username, asked.presenter
		if asked.explicit {
			g.lifetime = min(g.lifetime, asked.lifetime)
		}
	case q.token.signed != "":
		grant, err := c.tenant.Signer.VerifyToken(q.token.signed, c.tenant.Users, c.clusterTime())
		if err != nil {
			return g, err
		}
		g.username, g.presenter = grant.Username, grant.Presenter
		// A token is good for some seconds after its end, where clocks differ.
		g.lifetime = max(min(g.lifetime, grant.Expires.Sub(c.clusterTime())), time.Second)
	case c.tenant.Protected || q.presenter:
		return g, errTokenNeeded
	}
	return g, nil
}
