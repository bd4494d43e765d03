// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"net/netip"
	"time"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// Reasons for refusals that a page acts on, beside those of package fault.
const (
	ReasonNameRequired     = "NameRequired"
	ReasonPasswordRequired = "PasswordRequired"
	ReasonLoginRequired    = "LoginRequired"
	ReasonLinkExpired      = "LinkExpired"
	ReasonFull             = "Full"
	ReasonLocked           = "Locked"
)

// Presented is what a person who wants to enter shows and wishes, as their page sends it.
type Presented struct {
	Room string `json:"room"`
	meeting.JoinOptions
	Ticket       string `json:"ticket"`
	Token        string `json:"token"`
	Password     string `json:"password"`
	Username     string `json:"username"`
	UserPassword string `json:"userPassword"`
	// Session is the one before this, of a participant who comes back.
	Session string `json:"session"`
	// Renews reports whether the page asks on its own, without a press, for a participant who was in with Session, or waits with it. Such a
	// page may have slept for days with the microphone on, so it enters the meeting of Session and no other.
	Renews bool `json:"renews"`
}

// Method is what a person entered with, for the metrics and for what counts as the same person.
type Method string

// Methods of entry.
const (
	ByTicket  Method = "ticket"
	BySession Method = "session"
	ByToken   Method = "token"
	ByLogin   Method = "login"
	ByLink    Method = "link"
)

// Entrant is a person who wants to enter, with all claims checked that can be without the meeting. The ticket is
// what was presented as one, or what would have been in it.
type Entrant struct {
	credential.Ticket
	Method Method
	// id is the credential's, which tells one person from another; empty for guests and for those who come back.
	id string
	// previous is the session of a participant who comes back, or nil.
	previous *credential.SessionGrant
	// other is the participant of a session that was shown beside the credential of somebody else, or empty. A removal and a mute of
	// that participant hold for the entrant too.
	other engine.Identity
	// granted says that the credential itself makes a presenter, no matter which users the tenant lists.
	granted bool
	// decided says that a ticket has decided everything, now or when the session began.
	decided bool
	// renews is Presented.Renews.
	renews bool
	// in says that the entrant is known to have been in the meeting, or was let in by a decision.
	in bool
	// at is when they came, and knocked is meeting.KnockedAt.
	at, knocked time.Time
}

// keepToMeeting takes from a session that began in another meeting what only that meeting's presenters were given.
func (a *Entrant) keepToMeeting(t *tenant.Tenant, v meeting.View) {
	if a.Method == BySession && a.previous.Meeting != v.UID {
		a.granted = false
		a.Presenter = IsPresenter(t, a.Username, false)
	}
}

// Guard says where a person is, and bounds how often secrets may be tried from there, rooms opened, and connections tested.
type Guard interface {
	// Site is where the person is.
	Site() netip.Prefix
	// Guess runs a check of a secret, unless there were too many wrong ones. The error of the check says that it was wrong.
	Guess(ctx context.Context, what limit.Secret, subject string, check func() error) error
	// MayOpen refuses an address that has opened too many rooms.
	MayOpen() error
	// MayTest refuses an address, or a tenant, with too many tests.
	MayTest() error
}

var (
	errNameRequired  = fault.Invalid("name", "Enter your name to join").WithReason(ReasonNameRequired)
	errLoginRequired = fault.Unauthenticated("Log in to join this meeting").WithReason(ReasonLoginRequired)
	errGuestLink     = fault.Denied("This link was made before a login was needed here; ask for a new one").WithReason(ReasonLinkExpired)
	errPending       = fault.Unavailable("The meeting cannot be entered yet; this page keeps trying")

	// ErrWrongLogin is for a login that is not a user's.
	ErrWrongLogin = fault.Denied("The username or password is wrong; try again").WithReason(fault.ReasonWrongLogin)
	// ErrRemoved is for a participant whom a presenter removed.
	ErrRemoved = fault.Denied("A presenter removed you from this meeting; ask them for a new link")
	// ErrLocked is for a new participant of a meeting that is locked.
	ErrLocked = fault.Denied("This meeting is locked; ask a presenter to unlock it, and try again").WithReason(ReasonLocked)
	// ErrWaiting is for one who may not enter before they are let in.
	ErrWaiting = fault.Denied("You are not in the meeting yet; wait until you are let in")
	// ErrNoMedia is for a tenant without a media server.
	ErrNoMedia = fault.Unavailable("This service has no media server at the moment; ask its operator")
)

// Identify says who a person is and what they may do: by the ticket alone where there is one, by the session where they
// come back, else by token or login, or as a guest.
func Identify(ctx context.Context, t *tenant.Tenant, r Presented, now time.Time, g Guard) (Entrant, error) {
	a, err := read(ctx, t, r, now, g)
	if err != nil {
		return Entrant{}, err
	}
	switch {
	case !t.Protected || a.Username != "":
	case a.Method == ByTicket:
		return Entrant{}, errGuestLink
	default:
		return Entrant{}, errLoginRequired
	}
	a.at, a.granted, a.renews = now, a.Presenter, r.Renews
	a.Presenter = IsPresenter(t, a.Username, a.granted)
	if a.Hide {
		a.Audio, a.Video, a.Screen, a.Notify = false, false, false, false
	}
	return a, nil
}

// IsPresenter says whether a person is a presenter now: by their credential, or as a verified user whom the tenant lists. A
// display name gives no rights.
func IsPresenter(t *tenant.Tenant, username string, granted bool) bool {
	return granted || username != "" && t.Presenters[username]
}

func read(ctx context.Context, t *tenant.Tenant, r Presented, now time.Time, g Guard) (Entrant, error) {
	previous := previousSession(t, r, now)
	switch {
	case r.Renews && previous == nil:
		return Entrant{}, ErrEnded
	case r.Ticket != "":
		return readTicket(t, r, now, previous)
	case previous != nil && namesAnother(t, r, previous, now):
		a, err := readWishes(ctx, t, r, now, nil, g)
		a.other = engine.Identity(previous.Identity)
		return a, err
	}
	return readWishes(ctx, t, r, now, previous, g)
}

func readTicket(t *tenant.Tenant, r Presented, now time.Time, previous *credential.SessionGrant) (Entrant, error) {
	grant, err := t.Signer.VerifyTicket(r.Ticket, t.Users, now)
	switch {
	case err == nil:
		grant.Name = meeting.CleanName(grant.Name) // A link of an earlier release has it as the backend wrote it.
		a := Entrant{Ticket: grant.Ticket, Method: ByTicket, decided: true, id: grant.ID}
		if previous != nil && meeting.Origin(engine.Identity(previous.Identity)) != originFor(t, a) {
			a.other = engine.Identity(previous.Identity)
		} else {
			a.previous = previous
		}
		return a, nil
	case previous != nil:
		// The link may be over before the meeting is: a participant who is in stays in, over a break of the network too.
		return resume(previous), nil
	case fault.Is(err, fault.KindDenied):
		return Entrant{}, fault.As(err).WithReason(ReasonLinkExpired)
	}
	return Entrant{}, err
}

// previousSession is the session of a participant who comes back, or nil where it is worth nothing any more.
func previousSession(t *tenant.Tenant, r Presented, now time.Time) *credential.SessionGrant {
	if r.Session == "" {
		return nil
	}
	grant, err := t.Signer.VerifySession(r.Session, now)
	if err != nil || r.Ticket == "" && meeting.CleanRoom(grant.Room) != meeting.CleanRoom(r.Room) {
		return nil
	}
	if !grant.Welcome(t.Users) {
		return nil
	}
	return &grant
}

func resume(s *credential.SessionGrant) Entrant {
	return Entrant{Method: BySession, decided: s.Decided, previous: s, Ticket: s.Ticket}
}

// namesAnother reports whether a request shows a login, or a token that is still good, of another user than its session.
func namesAnother(t *tenant.Tenant, r Presented, previous *credential.SessionGrant, now time.Time) bool {
	username := r.Username
	if r.Token != "" {
		token, err := t.OpenToken(r.Token, now)
		if err != nil {
			return false
		}
		username = token.Username
	}
	return username != "" && username != previous.Username
}

// readWishes takes the request's word for what is only a wish, and its credentials for the rest.
func readWishes(
	ctx context.Context, t *tenant.Tenant, r Presented, now time.Time, previous *credential.SessionGrant, g Guard,
) (Entrant, error) {
	if err := meeting.ValidateAskedRoom(r.Room); err != nil {
		return Entrant{}, err
	}
	a := Entrant{Method: ByLink, Ticket: credential.Ticket{Room: r.Room}}
	var err error
	switch {
	case previous != nil:
		a = resume(previous)
	case r.Token != "":
		err = a.showToken(ctx, t, r, now, g)
	case r.Username != "" || r.UserPassword != "":
		err = a.logIn(ctx, t, r, g)
	case t.Protected:
		err = errLoginRequired
	}
	if err != nil || a.decided {
		return a, err
	}
	a.Wish(r.JoinOptions)
	a.Chat = a.Chat || t.Compat.ChatOffClosesPanel
	if meeting.CleanName(a.Name) == "" {
		return Entrant{}, errNameRequired
	}
	if err := a.Clean(); err != nil {
		return Entrant{}, err
	}
	// The browsers of all participants fetch it, which tells its owner about them.
	if !meeting.IsOn(t.Web.AvatarHosts, string(a.Avatar)) {
		a.Avatar = ""
	}
	return a, nil
}

func (a *Entrant) showToken(ctx context.Context, t *tenant.Tenant, r Presented, now time.Time, g Guard) error {
	token, err := t.OpenToken(r.Token, now)
	if fault.Is(err, fault.KindDenied) {
		return fault.Denied("The token is not valid any more; log in, or ask for a new link").
			WithReason(fault.ReasonWrongLogin).Because(err)
	}
	if err != nil {
		return err
	}
	if token.Unchecked && t.Users != nil {
		r.Username, r.UserPassword = token.Username, token.Password
		err = a.logIn(ctx, t, r, g)
	} else {
		a.Method, a.id, a.Username = ByToken, token.ID, token.Username
	}
	a.Presenter = token.Presenter
	return err
}

func (a *Entrant) logIn(ctx context.Context, t *tenant.Tenant, r Presented, g Guard) error {
	if !t.Users.CanBeRight(r.UserPassword) {
		return ErrWrongLogin
	}
	err := g.Guess(ctx, limit.HostLogin, r.Username, func() error {
		right, err := t.Users.Verify(ctx, credential.Turn{Namespace: t.Namespace, Site: g.Site()}, r.Username, r.UserPassword)
		if err == nil && !right {
			err = ErrWrongLogin
		}
		return err
	})
	if err == nil {
		a.Method, a.id, a.Username = ByLogin, r.Username, r.Username
	}
	return err
}

// Session is what a participant's page shows from now on.
func (a *Admission) Session() credential.Session {
	ticket, v := a.Ticket, a.Meeting
	ticket.Room, ticket.Lineage, ticket.Presenter = v.Room, v.Lineage, a.granted
	return credential.Session{
		Ticket: ticket, Identity: string(a.Identity), Meeting: v.UID, Decided: a.decided, Since: a.Since, Message: a.Message,
		In: a.in,
	}
}
