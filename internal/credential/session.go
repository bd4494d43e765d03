// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"cmp"
	"time"

	"convene.dev/convene/internal/fault"
)

// DefaultSessionLifetime is how long a session lasts where nothing else is asked for. The meeting's own end comes
// first in nearly every case.
const DefaultSessionLifetime = 24 * time.Hour

// Session is one participant in one meeting, from entering it on: what its page shows to the gateway with every request.
type Session struct {
	// Ticket is the ticket of the entry, without the options for the moment of entering (JoinOptions.Lasting).
	// PasswordMark is of the password that they knew when the session began.
	Ticket
	// Identity is the participant's random identity on the engine.
	Identity string
	// Meeting is the UID of the Meeting.
	Meeting string
	// Decided says that all this was the backend's decision, by a ticket: no wish of the page's changes it.
	Decided bool
	// Since is when the participant began to wait, zero for one who was let in, and Message what they wrote to the presenters.
	Since   time.Time
	Message string
	// In says that the participant has been in the meeting, or was let in by a decision. A session is made before its holder
	// connects, so a new session does not say so.
	In bool
}

// Waits says that the session is of one who was not let in yet. It gives no rights in the meeting.
func (v Session) Waits() bool { return !v.Since.IsZero() }

// SessionGrant is what a valid session says.
type SessionGrant struct {
	Session
	ID      string
	Expires time.Time

	key      *signingKey
	envelope envelope
}

// Welcome reports whether the session's user still is who entered: not removed, and with the same password. Users are
// the tenant's host users now, nil when it has none. Guests are not among them.
func (g SessionGrant) Welcome(users *Users) bool {
	return g.Username == "" || g.key.checkUser(purposeSession, users, g.Username, &g.envelope) == nil
}

type sessionClaims struct {
	envelope
	Meeting string `json:"m"`
	Lineage string `json:"l"`
	Room    string `json:"r"`
	joinClaims
	Username string `json:"u,omitempty"`
	// Since is in milliseconds.
	Since   int64  `json:"w,omitempty"`
	Message string `json:"wm,omitempty"`
	// PasswordMark is Ticket.PasswordMark.
	PasswordMark string `json:"pm,omitempty"`
}

// Letters that no join option has.
const letterDecided, letterIn = 'd', 'i'

var errSession = fault.Denied("This session is over: open the link of the meeting again")

// IssueSession makes the session of a participant. Users are the tenant's host users, nil when it has none; it is Denied for a
// username that they do not know. A lifetime of zero means DefaultSessionLifetime.
func (s *Signer) IssueSession(v Session, users *Users, lifetime time.Duration, now time.Time) (string, error) {
	claims := sessionClaims{
		Meeting: v.Meeting, Lineage: v.Lineage, Room: v.Room, joinClaims: joinClaimsOf(v.Lasting()), Username: v.Username,
		PasswordMark: v.PasswordMark,
	}
	claims.set(letterDecided, v.Decided)
	claims.set(letterIn, v.In)
	if v.Waits() {
		claims.Since, claims.Message = v.Since.UnixMilli(), v.Message
	}
	return s.issue(purposeSession, &claims, v.Identity, v.Username, users, cmp.Or(lifetime, DefaultSessionLifetime), now)
}

// VerifySession returns what a session says. Whether its meeting is still live, the participant not removed from it, and the
// user Welcome is the caller's to check. Every refusal is Denied with the same message.
func (s *Signer) VerifySession(signed string, now time.Time) (SessionGrant, error) {
	var claims sessionClaims
	key, err := s.verify(purposeSession, signed, &claims, now)
	if err != nil {
		return SessionGrant{}, err
	}
	grant := SessionGrant{ID: claims.ID, Expires: claims.expires(), key: key, envelope: claims.envelope, Session: Session{
		Identity: claims.Subject, Meeting: claims.Meeting, Ticket: Ticket{
			Room: claims.Room, Lineage: claims.Lineage, PasswordMark: claims.PasswordMark,
			JoinOptions: claims.options(), Username: claims.Username,
		},
		Decided: claims.has(letterDecided), In: claims.has(letterIn),
	}}
	if claims.Since != 0 {
		grant.Since, grant.Message = time.UnixMilli(claims.Since), claims.Message
	}
	return grant, nil
}
