// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/compat"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// joinRequest is the body of POST join.
type joinRequest struct {
	Room string `json:"room"`
	meeting.JoinOptions
	Duration v1alpha1.Duration `json:"duration"`
	Token    joinToken         `json:"token"`
}

// passwordJoinRequest is the body of POST join in variant A. Variant B has no roomPassword in a join.
type passwordJoinRequest struct {
	joinRequest
	// RoomPassword is empty for a room without a password, and nil where the request names none.
	RoomPassword *body.OrNone `json:"roomPassword"`
}

// joinBody is the answer of POST join.
type joinBody struct {
	Join string `json:"join"`
}

// join is POST join.
func (a *api) join(q *httpserver.Request) (httpserver.Answer, error) {
	asked, command, err := readJoin(q)
	if err != nil {
		return nil, err
	}
	q.Record.Room = asked.Room
	if q.Tenant.Signer == nil {
		return nil, errNoSigner // Before a meeting is made that gets no link.
	}
	who, err := a.identify(q, asked)
	if err != nil {
		return nil, err
	}
	ctx, cancel := a.within(q)
	defer cancel()
	view, err := a.joined(ctx, q, command)
	if err != nil {
		return nil, err
	}
	ticket := credential.Ticket{
		Room: view.Room, Lineage: view.Lineage, JoinOptions: asked.JoinOptions, Username: who.username, Meeting: carried(q.Tenant.Settings, view),
	}
	ticket.Chat = ticket.Chat || q.Tenant.Compat.ChatOffClosesPanel
	ticket.Presenter = who.presenter
	if ticket.PasswordMark, err = a.meetings.PasswordMark(ctx, q.Tenant, view); err != nil {
		return nil, err
	}
	signed, err := q.Tenant.Signer.IssueTicket(ticket, q.Tenant.Users, who.lifetime, a.clusterTime())
	if err != nil {
		return nil, err
	}
	return ok(joinBody{joinURL(q.Tenant.BaseURL, view, asked.JoinOptions, signed)}), nil
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
func (a *api) joined(ctx context.Context, q *httpserver.Request, command conference.JoinCommand) (view meeting.View, err error) {
	ask := func() error {
		view, err = a.meetings.Join(ctx, q.Tenant, command)
		return err
	}
	if ptr.Deref(command.Password, "") == "" {
		err = ask()
	} else {
		err = q.Guess(ctx, limit.RoomPassword, meeting.CleanRoom(command.Room), true, ask)
	}
	return view, err
}

var errNoSigner = fault.Unavailable("The service cannot sign links yet; try again in a moment")

func readJoin(q *httpserver.Request) (joinRequest, conference.JoinCommand, error) {
	r := passwordJoinRequest{joinRequest: joinRequest{JoinOptions: meeting.JoinOptions{Chat: true}}}
	isA := q.Tenant.Variant == v1alpha1.VariantA
	var into any = &r
	if !isA {
		into = &r.joinRequest
	}
	err := requests.Decode(q, into)
	if err == nil {
		err = r.validate(q.Tenant)
	}
	return r.joinRequest, conference.JoinCommand{Room: r.Room, Duration: r.Duration, Password: (*string)(r.RoomPassword), NeedsPassword: isA}, err
}

// validate checks a request, and cleans its options.
func (r *joinRequest) validate(t *tenant.Tenant) error {
	err := cmp.Or(meeting.ValidateAskedRoom(r.Room), r.Clean())
	if err == nil && r.Token.object != nil {
		err = r.Token.object.validate("token.", t)
	}
	return err
}

// joinToken is the token of a join: made already, or what to make one of.
type joinToken struct {
	signed string
	object *tokenRequest
}

const neitherObjectNorText body.Problem = "must be an object, or a token as a string"

// UnmarshalJSONFrom reads a token, or a word for none. Some clients send true instead of a token: it means none.
func (t *joinToken) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	text := string(compat.Scalar(value))
	switch {
	case err != nil || value.Kind() == 'n' || compat.MeansNone(value) || text == "1" || strings.EqualFold(text, "true"):
		return err
	case value.Kind() == '"' && !strings.HasPrefix(text, "{"):
		t.signed = text
		return nil
	}
	t.object = &tokenRequest{}
	return body.Object(value, t.object, d.Options(), neitherObjectNorText)
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
	case join.Token.object != nil:
		asked := join.Token.object
		if err := a.login(q, *asked); err != nil {
			return g, err
		}
		g.username, g.presenter = asked.Username, asked.Presenter
		if asked.Expire != 0 {
			g.lifetime = min(g.lifetime, time.Duration(asked.Expire))
		}
	case join.Token.signed != "":
		grant, err := q.Tenant.OpenToken(join.Token.signed, a.clusterTime())
		if err != nil {
			return g, err
		}
		if grant.Unchecked {
			if err := a.login(q, tokenRequest{Username: grant.Username, Password: grant.Password}); err != nil {
				return g, err
			}
		}
		g.username, g.presenter = grant.Username, grant.Presenter
		// A token is good for some seconds after its end, where clocks differ.
		g.lifetime = max(min(g.lifetime, grant.Expires.Sub(a.clusterTime())), time.Second)
	case q.Tenant.Protected || join.Presenter:
		return g, errTokenNeeded
	}
	return g, nil
}
