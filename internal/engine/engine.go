// SPDX-License-Identifier: Apache-2.0

// Package engine says what Convene asks of a media server. Every verb is idempotent. Package livekit does it.
package engine

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"convene.dev/convene/api/v1alpha1"
)

// RoomName is the engine's name of a room: made from UIDs, never the name that people see, because a room deleted
// and made again under one name can let old tokens and old sessions in.
type RoomName string

// Identity names one participant in one room: random, and chosen by us.
type Identity string

// Server is where a media server is and how it knows us.
type Server struct {
	// URL is the http or https URL of its API.
	URL string
	// Key and Secret sign our requests and access tokens.
	Key, Secret string
	// CABundle is PEM with the authorities that may have signed the server's certificate; empty means the machine's.
	CABundle string
}

// Dialer makes an Engine for a server, without connecting. The memory for its answers is out of the share of a namespace.
type Dialer func(namespace string, at Server) (Engine, error)

// ErrTooManyCalls is in the chain of errors of a media server that is there and wants fewer calls.
var ErrTooManyCalls = errors.New("the media server asks for fewer calls")

// ErrNoMemory is in the chain of errors for an answer that there is no memory for.
var ErrNoMemory = errors.New("there is no memory for what the media server answers")

// Engine is a media server. Errors are faults; KindUnavailable means that the engine could not be asked.
type Engine interface {
	// Rooms lists the rooms whose names begin with prefix.
	Rooms(ctx context.Context, prefix RoomName) ([]Room, error)
	// Room asks for one room, however many the engine has. Not there is no error.
	Room(ctx context.Context, name RoomName) (room Room, there bool, err error)
	// Participants lists the participants of a room, hidden ones included. A room that is not there has none.
	Participants(ctx context.Context, room RoomName) ([]Participant, error)
	// Present asks the server that has the room whether a listed participant is in: of several servers that work together,
	// one that is killed leaves its people in the list. A no takes seconds.
	Present(ctx context.Context, room RoomName, who Identity) (bool, error)

	// Ensure makes the room unless it is there, and brings its state up to date.
	Ensure(ctx context.Context, room RoomName, options RoomOptions, state RoomState) error
	// Close tells the pages where to go, waits until all participants have left but no longer than a quarter of a second,
	// and deletes the room. A room that is not there is closed.
	Close(ctx context.Context, room RoomName, redirect string) error
	// Drop deletes the room and tells its pages nothing: they ask the gateway where their meeting is, and connect there.
	Drop(ctx context.Context, room RoomName) error
	// Act does something to, or for, people in a room.
	Act(ctx context.Context, room RoomName, action Action) error

	// Grant makes an access token. Like all that follows, it does not connect.
	Grant(grant Grant) (string, error)
	// Inspect verifies an access token made by Grant and says whom it lets in where.
	Inspect(token string) (Bearer, error)
	// Limit makes of an access token, which Inspect has taken, one that gives these rights and no others. It is good for as long.
	Limit(token string, rights Rights) (string, error)
	// KeyOf returns the name of the key with which an access token, or a webhook's authorization header, says that it is signed: whoever tries
	// that key alone spends the same for any number of servers.
	KeyOf(token string) string
	// Signed reports whether a webhook's authorization header is signed with the server's key, so that its body is worth
	// being read. Hint checks that it is the body which was signed.
	Signed(authorization string) bool
	// Hint verifies a webhook's authorization header and body and says which room to look at. Hints get lost:
	// nothing may depend on them.
	Hint(authorization string, body []byte) (RoomName, error)
}

// Room is a room that the engine has.
type Room struct {
	Name RoomName
	// SID is the engine's own name of this room. A room that is made again has another SID.
	SID string
	// Participants is how many are in; the engine may be seconds behind.
	Participants int
	// State is what its pages are told.
	State RoomState
}

// RoomOptions are fixed when the room is made.
type RoomOptions struct {
	// MaxParticipants is the Meeting's limit. The engine does not count hidden participants; the gateway does.
	MaxParticipants int
	// EmptyTimeout is after how long without anybody in it the engine deletes the room by itself; zero means after more than a day.
	EmptyTimeout time.Duration
}

// RoomState is what the pages of all participants of a room are told, and told again when it changes.
type RoomState struct {
	// ExpiresAt is when the meeting will end; zero when it will not by itself.
	ExpiresAt time.Time
	// PresentersOnly is what presenters alone may do.
	PresentersOnly Abilities
	// Locked says that no new participant is let in.
	Locked bool
	// Admission is what new participants wait for; empty where they do not wait.
	Admission string
	// Open is for a waiting room: those who wait may come in.
	Open bool
}

// Equal reports whether pages are told the same.
func (s RoomState) Equal(other RoomState) bool {
	return s.ExpiresAt.Equal(other.ExpiresAt) && s.PresentersOnly == other.PresentersOnly && s.Locked == other.Locked &&
		s.Admission == other.Admission && s.Open == other.Open
}

// Participant is a person in a room.
type Participant struct {
	Identity Identity
	Name     string
	// Kind is empty for a participant with a page. All others were brought in by the operator's LiveKit, by telephone for example: nothing can be
	// asked of these participants or shown to them.
	Kind     v1alpha1.ParticipantKind
	JoinedAt time.Time
	Traits
	// Audio is true while any sound is published and not muted, Video and Screen while that track is.
	Audio, Video, Screen bool
	// Oversized says that what the participant had the engine keep about it is out of all proportion.
	Oversized bool
	// Hand is true while the hand is raised.
	Hand bool
	// Admitted says that one who waits has been told to come in.
	Admitted bool
	// Forbidden is what the engine refuses to take from the participant now.
	Forbidden Abilities
}

// Size is what a participant takes in memory, in bytes.
func (p *Participant) Size() int {
	return int(unsafe.Sizeof(*p)) + len(p.Identity) + len(p.Name) + len(p.Avatar) + len(p.OS) + len(p.Browser) + len(p.Username) + len(p.Message)
}

// Sends is the set of what the participant publishes now.
func (p Participant) Sends() (a Abilities) {
	for _, one := range []struct {
		on bool
		Abilities
	}{{p.Audio, Microphone}, {p.Video, Camera}, {p.Screen, Screen}} {
		if one.on {
			a |= one.Abilities
		}
	}
	return a
}

// Rights are what a participant may do now, and what Participant says of it.
func (p Participant) Rights() Rights {
	return Rights{Presenter: p.Presenter, Promoted: p.Promoted, Forbidden: p.Forbidden, Held: p.Held}
}

// Traits are trusted facts about a participant, set by us in the access token; the peer cannot change them.
type Traits struct {
	// Presenter is what the participant is now, Granted whether they are a presenter by what they came with: a decision can
	// differ from that.
	Presenter, Granted bool
	// Promoted is as in Rights.
	Promoted bool
	// Hidden watches without being seen, and publishes nothing.
	Hidden bool
	// Chat reads and writes chat.
	Chat bool
	// Notify announces the arrival to the others.
	Notify bool
	// Avatar is an image's URL, or empty.
	Avatar string
	// Held is as in Rights.
	Held Abilities
	// OS and Browser are for the operator's listing, and Username is of the verified user, empty for guests. Other peers cannot
	// read them, nor Granted.
	OS, Browser, Username string
	// Since is when the participant began to wait, zero for one who does not, and Message what they wrote meanwhile. Other peers
	// cannot read them.
	Since   time.Time
	Message string
	// In says that the participant had been in the meeting before, or was let in by a decision. Other peers cannot read it.
	In bool
}

// Waits says that the participant is in a waiting room.
func (t Traits) Waits() bool { return !t.Since.IsZero() }

// Grant is the right of one participant to enter one room.
type Grant struct {
	Room     RoomName
	Identity Identity
	Name     string
	Traits
	// Forbidden is what this one may not do.
	Forbidden Abilities
	// Waiting says that the room is a waiting room: the participant publishes and receives nothing, and nobody is told of them.
	Waiting bool
	// Lifetime bounds the first use of the token; the engine renews tokens of those who are in.
	Lifetime time.Duration
}

// Action is one of the types below.
type Action interface{ action() }

// SetRights changes what a participant may do, for as long as they are in. What they publish and are now forbidden to publish is ended.
type SetRights struct {
	Who Identity
	Rights
}

// Mute turns off what a participant publishes of some abilities. The participant may switch it on again.
type Mute struct {
	Who  Identity
	What Abilities
}

// Unmute turns on what a participant without a page sends of some abilities. The participant cannot.
type Unmute struct {
	Who  Identity
	What Abilities
}

// Tell brings the state of the room up to date that its pages see. A room that is not there has none.
type Tell struct{ State RoomState }

// Admit tells a participant who waits to come in.
type Admit struct{ Who Identity }

// Write keeps what a participant who waits writes to the presenters, once: another text is a Conflict.
type Write struct {
	Who     Identity
	Message string
}

// TellPresenters sends a payload to the presenters who are in the room.
type TellPresenters struct {
	Topic   string
	Payload []byte
}

// Remove disconnects a participant. Its token may still work: the gateway must refuse it.
type Remove struct{ Who Identity }

// Hand raises or lowers a participant's hand.
type Hand struct {
	Who    Identity
	Raised bool
}

// Say sends a payload to all participants of the room whose traits have Chat.
type Say struct {
	Topic   string
	Payload []byte
}

// Announce sends a payload to all participants of the room, or to one where To is set.
type Announce struct {
	Topic   string
	Payload []byte
	To      Identity
}

func (SetRights) action() {}
func (Mute) action()      {}
func (Unmute) action()    {}
func (Tell) action()      {}
func (Remove) action()    {}
func (Hand) action()      {}
func (Say) action()       {}
func (Announce) action()  {}

func (Admit) action()          {}
func (Write) action()          {}
func (TellPresenters) action() {}
