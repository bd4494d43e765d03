// SPDX-License-Identifier: Apache-2.0

package credential

import (
	"time"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

// Ticket is what a backend decided about one participant when it asked for a join URL. The URL's other parameters are for
// people to read; this is what counts.
type Ticket struct {
	Room string
	// Lineage is the meeting that the ticket is for, over all restarts of its room by links.
	Lineage string
	// PasswordMark is Signer.PasswordMark of the room's password that the ticket stands for; empty for none.
	PasswordMark string
	meeting.JoinOptions
	// Username is the verified host user, empty for a guest.
	Username string
	// Meeting is what the ticket opens its room with when the meeting has gone.
	Meeting CarriedMeeting
}

// CarriedMeeting is what a ticket keeps of its meeting where tickets may open rooms. Nothing of it is secret: the room's password
// is not in it, and a ticket for a room with a password opens nothing.
type CarriedMeeting struct {
	// Length is in seconds: 0 is the tenant's default, and Unlimited none at all.
	Length int64 `json:"d,omitempty"`
	// MaxParticipants is zero for the tenant's.
	MaxParticipants int `json:"m,omitempty"`
	// Redirect is empty for the home page.
	Redirect string `json:"e,omitempty"`
	// HasPassword says that the room has a password.
	HasPassword bool `json:"k,omitempty"`
}

// Unlimited is the length of a meeting without an end.
const Unlimited = -1

// TicketGrant is what a valid ticket says.
type TicketGrant struct {
	Ticket
	ID      string
	Expires time.Time
}

// ticketClaims has short names because it goes into a URL.
type ticketClaims struct {
	envelope
	Room    string `json:"r"`
	Lineage string `json:"l"`
	joinClaims
	CarriedMeeting
	PasswordMark string `json:"pm,omitempty"`
}

var errTicket = fault.Denied("This link is not valid any more: ask for a new one")

// IssueTicket makes a join ticket. Users are the tenant's host users, nil when it has none. It is Denied for a username
// that they do not know.
func (s *Signer) IssueTicket(t Ticket, users *Users, lifetime time.Duration, now time.Time) (string, error) {
	claims := ticketClaims{
		Room: t.Room, Lineage: t.Lineage, joinClaims: joinClaimsOf(t.JoinOptions),
		PasswordMark: t.PasswordMark, CarriedMeeting: t.Meeting,
	}
	return s.issue(purposeTicket, &claims, t.Username, t.Username, users, lifetime, now)
}

// VerifyTicket returns what a ticket says. Users are the tenant's host users now, nil when it has none. Whether its
// meeting is the live one is the caller's to check. Every refusal is Denied with the same message.
func (s *Signer) VerifyTicket(signed string, users *Users, now time.Time) (TicketGrant, error) {
	var claims ticketClaims
	key, err := s.verify(purposeTicket, signed, &claims, now)
	if err != nil {
		return TicketGrant{}, err
	}
	if claims.Subject != "" {
		if err := key.checkUser(purposeTicket, users, claims.Subject, &claims.envelope); err != nil {
			return TicketGrant{}, err
		}
	}
	grant := TicketGrant{ID: claims.ID, Expires: claims.expires(), Ticket: Ticket{
		Room: claims.Room, Lineage: claims.Lineage, JoinOptions: claims.options(), Username: claims.Subject,
		PasswordMark: claims.PasswordMark, Meeting: claims.CarriedMeeting,
	}}
	return grant, nil
}
