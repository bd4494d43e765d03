// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// The calls below look at a meeting that goes on and change it. They are Convene's extension control: the operator has to name it,
// and other services answer 404.

// Patch is a JSON merge patch: a member that is absent stays as it is, and nil takes back what was set.
type Patch map[string]any

// Meeting is an active meeting.
type Meeting struct {
	RoomID string `json:"roomId"`
	URL    string `json:"url"`
	// StartedAt is the first arrival, and before it the creation. ExpiresAt is empty without a limit. Both are RFC 3339.
	StartedAt string `json:"startedAt"`
	ExpiresAt string `json:"expiresAt,omitempty"`
	Duration  string `json:"duration"`
	// Participants is the number of people in the meeting, Waiting the number who wait to be let in. Peers has the first hundred participants.
	Participants    int    `json:"participants"`
	Peers           []Peer `json:"peers"`
	Waiting         int    `json:"waiting"`
	MaxParticipants int    `json:"maxParticipants"`
	Redirect        string `json:"redirect"`
	Locked          bool   `json:"locked"`
	Policy          Policy `json:"policy"`
	// Admission is Open, WithPresenter or Ask.
	Admission string `json:"admission"`
}

// Peer is a participant as the listing of meetings shows one.
type Peer struct {
	Name      string `json:"name"`
	Presenter bool   `json:"presenter"`
	Video     bool   `json:"video"`
	Audio     bool   `json:"audio"`
	Screen    bool   `json:"screen"`
	Hand      bool   `json:"hand"`
	Hidden    bool   `json:"hidden"`
	OS        string `json:"os"`
	Browser   string `json:"browser"`
}

// Policy says of each who may do it: Everyone or Presenters.
type Policy struct {
	Microphone string `json:"microphone"`
	Camera     string `json:"camera"`
	Screen     string `json:"screen"`
	Chat       string `json:"chat"`
}

// Participant is in a meeting, or waits to be let in.
type Participant struct {
	Identity string `json:"identity"`
	Name     string `json:"name"`
	// Kind is SIP, Ingress, Connector or Bridge for a participant whom LiveKit brought in, and empty for a participant with a page.
	Kind string `json:"kind,omitempty"`
	// Username is verified, and empty for guests.
	Username string `json:"username,omitempty"`
	// Role is Presenter or Participant. Promoted reports whether a presenter in the room gave the role: all other presenters outrank a promoted one.
	Role     string `json:"role"`
	Promoted bool   `json:"promoted"`
	Media    Media  `json:"media"`
	Hand     bool   `json:"hand"`
	Hidden   bool   `json:"hidden"`
	// Waiting says that this one is not in yet, and Message is what they wrote to the presenters.
	Waiting bool   `json:"waiting"`
	Message string `json:"message,omitempty"`
	// Muted reports whether the microphone is locked. Sources are what they may publish: Microphone, Camera, Screen.
	Muted   bool     `json:"muted"`
	Sources []string `json:"sources"`
	// GrantedSources are what they may publish even where the policy leaves it to presenters.
	GrantedSources []string `json:"grantedSources"`
	OS             string   `json:"os"`
	Browser        string   `json:"browser"`
	// JoinTime is RFC 3339.
	JoinTime string `json:"joinTime"`
}

// Media is what is on.
type Media struct {
	Audio  bool `json:"audio"`
	Video  bool `json:"video"`
	Screen bool `json:"screen"`
}

// ParticipantPage is a part of the participants of a meeting, oldest first.
type ParticipantPage struct {
	Participants []Participant `json:"participants"`
	// Next is what after has to be for the next page; empty on the last.
	Next string `json:"next,omitempty"`
}

// Meeting looks at the active meeting of a room.
func (c *Client) Meeting(ctx context.Context, room string) (m Meeting, err error) {
	err = c.call(ctx, http.MethodGet, meetingPath(room), nil, &m)
	return m, err
}

// ChangeMeeting changes duration, maxParticipants, redirect, locked, policy and admission of the active meeting of a room. Its admitAll lets all
// waiting participants in, and its muteAll switches off the microphones of all participants but presenters, which does not last.
func (c *Client) ChangeMeeting(ctx context.Context, room string, patch Patch) (m Meeting, err error) {
	err = c.call(ctx, http.MethodPatch, meetingPath(room), patch, &m)
	return m, err
}

// Participants lists at most limit participants of a meeting, from the first or after what the page before named. A limit of zero
// leaves it to the service.
func (c *Client) Participants(ctx context.Context, room string, limit int, after string) (page ParticipantPage, err error) {
	err = c.call(ctx, http.MethodGet, meetingPath(room)+"/participants?"+pageQuery(limit, after), nil, &page)
	return page, err
}

// pageQuery asks for a page. A limit of zero leaves it to the service.
func pageQuery(limit int, after string) string {
	query := url.Values{}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	if after != "" {
		query.Set("after", after)
	}
	return query.Encode()
}

// ChangeParticipant changes role, muted, sources, grantedSources, hand and admitted of a participant. Its allowToSpeak unlocks the microphone. Its media,
// an object whose audio, video or screen is false, switches that off now, and its askToUnmute asks for the microphone: neither lasts. The identity is
// as Participants has it, or user: and a username.
func (c *Client) ChangeParticipant(ctx context.Context, room, identity string, patch Patch) error {
	return c.call(ctx, http.MethodPatch, participantPath(room, identity), patch, nil)
}

// RemoveParticipant removes a participant, or refuses one who waits. With ban, no other link of the same username opens the
// meeting either.
func (c *Client) RemoveParticipant(ctx context.Context, room, identity string, ban bool) error {
	return c.call(ctx, http.MethodDelete, participantPath(room, identity), map[string]bool{"ban": ban}, nil)
}

// Announce shows an announcement to all participants of a meeting, or to one where to is an identity.
func (c *Client) Announce(ctx context.Context, room, text, to string) error {
	announcement := map[string]string{"text": text}
	if to != "" {
		announcement["to"] = to
	}
	return c.call(ctx, http.MethodPost, meetingPath(room)+"/announcements", announcement, nil)
}

func meetingPath(room string) string { return "meeting/" + url.PathEscape(room) }

func participantPath(room, identity string) string {
	return meetingPath(room) + "/participants/" + url.PathEscape(identity)
}
