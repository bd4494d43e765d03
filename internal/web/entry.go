// SPDX-License-Identifier: Apache-2.0

package web

import (
	"time"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// entryRequest is the body of POST session.
type entryRequest struct {
	Room         string `json:"room"`
	Name         string `json:"name"`
	Ticket       string `json:"ticket"`
	Token        string `json:"token"`
	Password     string `json:"password"`
	Username     string `json:"username"`
	UserPassword string `json:"userPassword"`
	Avatar       string `json:"avatar"`
	Audio        bool   `json:"audio"`
	Video        bool   `json:"video"`
	Screen       bool   `json:"screen"`
	// Chat is true when absent.
	Chat   *bool `json:"chat"`
	Notify bool  `json:"notify"`
	// Session is the one before this, of a participant who comes back.
	Session string `json:"session"`
}

// way is how a person came, for the metrics and for what counts as the same person.
type way string

const (
	byTicket  way = "ticket"
	bySession way = "session"
	byToken   way = "token"
	byLogin   way = "login"
	byLink    way = "link"
)

// applicant is a person who wants to enter, with all claims checked that can be without the meeting. The ticket is
// what was presented as one, or what would have been in it.
type applicant struct {
	credential.Ticket
	way way
	// id is the credential's, which tells one person from another; empty for guests and for those who come back.
	id string
	// previous is the session of a participant who comes back, or nil.
	previous *credential.SessionGrant
	// granted says that the credential itself makes a presenter, whomever the tenant lists.
	granted bool
	// decided says that a ticket has settled everything, now or when the session began.
	decided bool
}

// knowsPassword says that this password of the room was asked for before: when the backend made the ticket, or when the
// session began.
func (a applicant) knowsPassword(v meeting.View) bool {
	return (a.way == byTicket || a.way == bySession) && a.PasswordOf == v.PasswordOf
}

// keepToMeeting takes from a session that began in another meeting what only that meeting's presenters were given.
func (a *applicant) keepToMeeting(t *tenant.Tenant, v meeting.View) {
	if a.way == bySession && a.previous.Meeting != v.UID {
		a.granted = false
		a.Presenter = presents(t, a.Username, false)
	}
}

// checkLogin answers whether that is the user's password. Its error is a limit on attempts.
type checkLogin func(username, password string) (bool, error)

var (
	errNameRequired  = fault.Invalid("name", "Enter your name to join").WithReason(reasonNameRequired)
	errLoginRequired = fault.Unauthenticated("Log in to join this meeting").WithReason(reasonLoginRequired)
	errWrongLogin    = fault.Denied("The username or password is wrong; try again").WithReason(fault.ReasonWrongLogin)
	errGuestLink     = fault.Denied("This link was made before a login was needed here; ask for a new one").WithReason(reasonLinkExpired)
	errRemoved       = fault.Denied("A presenter removed you from this meeting; ask them for a new link")
	errNoMedia       = fault.Unavailable("This service has no media server at the moment; ask its operator")
	errPending       = fault.Unavailable("The meeting cannot be entered yet; this page keeps trying")
)

// identify says who a person is and what they may do: by the ticket alone where there is one, by the session where they
// come back, else by token or login, or as a guest.
func identify(t *tenant.Tenant, r entryRequest, now time.Time, login checkLogin) (applicant, error) {
	a, err := present(t, r, now, login)
	if err != nil {
		return applicant{}, err
	}
	switch {
	case !t.Protected || a.Username != "":
	case a.way == byTicket:
		return applicant{}, errGuestLink
	default:
		return applicant{}, errLoginRequired
	}
	a.granted = a.Presenter
	a.Presenter = presents(t, a.Username, a.granted)
	if a.Hide {
		a.Audio, a.Video, a.Screen, a.Notify = false, false, false, false
	}
	return a, nil
}

// presents says whether a person is a presenter now: by their credential, or as a verified user whom the tenant lists. A
// display name gives no rights.
func presents(t *tenant.Tenant, username string, granted bool) bool {
	return granted || username != "" && t.Presenters[username]
}

func present(t *tenant.Tenant, r entryRequest, now time.Time, login checkLogin) (applicant, error) {
	previous := previousSession(t, r, now)
	if r.Ticket == "" {
		return presentWishes(t, r, now, previous, login)
	}
	grant, err := t.Signer.VerifyTicket(r.Ticket, t.Users, now)
	switch {
	case err == nil:
		return applicant{Ticket: grant.Ticket, way: byTicket, decided: true, id: grant.ID, previous: previous}, nil
	case previous != nil:
		// The link may be over before the meeting is: a participant who is in stays in, over a break of the network too.
		return resume(previous), nil
	case fault.Is(err, fault.KindDenied):
		return applicant{}, fault.As(err).WithReason(reasonLinkExpired)
	}
	return applicant{}, err
}

// previousSession is the session of a participant who comes back, or nil where it is worth nothing any more.
func previousSession(t *tenant.Tenant, r entryRequest, now time.Time) *credential.SessionGrant {
	if r.Session == "" {
		return nil
	}
	grant, err := t.Signer.VerifySession(r.Session, now)
	if err != nil || r.Ticket == "" && grant.Room != r.Room {
		return nil
	}
	if !grant.Welcome(t.Users) {
		return nil
	}
	return &grant
}

func resume(s *credential.SessionGrant) applicant {
	return applicant{way: bySession, decided: s.Decided, previous: s, Ticket: s.Ticket}
}

// presentWishes takes the request's word for what is only a wish, and its credentials for the rest.
func presentWishes(
	t *tenant.Tenant, r entryRequest, now time.Time, previous *credential.SessionGrant, login checkLogin,
) (applicant, error) {
	if err := meeting.ValidateRoom(r.Room); err != nil {
		return applicant{}, err
	}
	a := applicant{way: byLink, Ticket: credential.Ticket{Room: r.Room}}
	var err error
	switch {
	case previous != nil:
		a = resume(previous)
	case r.Token != "":
		err = a.showToken(t, r.Token, now)
	case r.Username != "" || r.UserPassword != "":
		err = a.logIn(r, login)
	case t.Protected:
		err = errLoginRequired
	}
	if err != nil || a.decided {
		return a, err
	}
	a.Name = meeting.CleanName(r.Name)
	a.Audio, a.Video, a.Screen, a.Notify = r.Audio, r.Video, r.Screen, r.Notify
	a.Chat = r.Chat == nil || *r.Chat
	if a.Name == "" {
		return applicant{}, errNameRequired
	}
	if err := meeting.ValidateName(a.Name); err != nil {
		return applicant{}, err
	}
	if err := meeting.ValidateAvatar(r.Avatar); err != nil {
		return applicant{}, err
	}
	// The browsers of all participants fetch it, which tells its owner about them.
	if meeting.IsOn(t.Web.AvatarHosts, r.Avatar) {
		a.Avatar = r.Avatar
	}
	return a, nil
}

func (a *applicant) showToken(t *tenant.Tenant, token string, now time.Time) error {
	grant, err := t.Signer.VerifyToken(token, t.Users, now)
	if fault.Is(err, fault.KindDenied) {
		return fault.Denied("The token is not valid any more; log in, or ask for a new link").
			WithReason(fault.ReasonWrongLogin).Because(err)
	}
	if err != nil {
		return err
	}
	a.way, a.id, a.Username, a.Presenter = byToken, grant.ID, grant.Username, grant.Presenter
	return nil
}

func (a *applicant) logIn(r entryRequest, login checkLogin) error {
	right, err := login(r.Username, r.UserPassword)
	if err != nil {
		return err
	}
	if !right {
		return errWrongLogin
	}
	a.way, a.id, a.Username = byLogin, r.Username, r.Username
	return nil
}

// admit decides whether an applicant may enter a meeting, its password and the count apart, and under which identity.
func admit(t *tenant.Tenant, v meeting.View, a applicant) (engine.Identity, error) {
	switch {
	case v.Ended:
		return "", gone(v)
	case v.Pending != "":
		return "", errPending
	}
	who := newIdentity(originFor(t, a))
	if meeting.Listed(v.Removed, who) {
		return "", errRemoved
	}
	p := a.previous
	if p == nil || p.Meeting != v.UID {
		return who, nil
	}
	if meeting.Listed(v.Removed, engine.Identity(p.Identity)) {
		return "", errRemoved
	}
	// The engine puts the new connection of an identity in place of the old. Between hidden and visible there is no
	// way: the others would notice.
	if p.Hide == a.Hide {
		who = engine.Identity(p.Identity)
	}
	return who, nil
}

// isMuted reports whether a presenter has muted an applicant: as whom they enter, or as whom they would without the session
// of another identity.
func isMuted(t *tenant.Tenant, v meeting.View, a applicant, who engine.Identity) bool {
	return meeting.Listed(v.Muted, who) || meeting.Listed(v.Muted, newIdentity(originFor(t, a)))
}

// originFor is what the applicant's identity derives from.
func originFor(t *tenant.Tenant, a applicant) string {
	if a.id == "" {
		return randomLetters()
	}
	return originOf(t, string(a.way), a.id)
}

func gone(v meeting.View) error {
	return &httpserver.Error{Fault: fault.Gone("This meeting has ended"), Redirect: v.Redirect}
}

// takeDistinctName numbers a name that the applicant has chosen and another participant has. Hidden ones are passed over: the
// number would give them away.
func (a *applicant) takeDistinctName(who engine.Identity, others []engine.Participant) {
	if a.decided {
		return
	}
	var names []string
	for _, p := range others {
		if p.Identity != who && !p.Hidden {
			names = append(names, p.Name)
		}
	}
	a.Name = meeting.DistinctName(a.Name, names)
}
