// SPDX-License-Identifier: Apache-2.0

package moderation

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
)

const (
	noticeTopic = "convene.notice"
	// MaxNoticeLength is the greatest length of a notice, in Unicode characters.
	MaxNoticeLength = 500
	// maxNoticeID is the greatest length of an ID, in bytes.
	maxNoticeID = 64
)

// Notice is shown to participants, whether or not they have chat.
type Notice struct {
	// ID tells pages that a notice comes for the second time. Empty lets the service make one.
	ID   string `json:"id"`
	Text string `json:"text"`
	// An ability that the participant should switch on. The page says so in the words of its language, and has a button for it.
	Ask string `json:"ask,omitempty"`
	// Name is the sender's; empty for the backend.
	Name string    `json:"name,omitempty"`
	At   time.Time `json:"at"`
	// ToYou reports whether no other participant gets it.
	ToYou bool `json:"toYou,omitempty"`
}

// asking is the notice that asks for an ability.
func (n Notice) asking(what engine.Abilities) Notice {
	n.Text = ""
	n.Ask = strings.Join(what.Names(), ",")
	return n
}

// to is the notice for all participants, or for one.
func (n Notice) to(who engine.Identity) engine.Action {
	n.ID, n.Text, n.At, n.ToYou = cmp.Or(n.ID, rand.Text()), strings.TrimSpace(n.Text), n.At.UTC().Truncate(time.Millisecond), who != ""
	payload, _ := json.Marshal(n) // Strings and times of our time never fail.
	return engine.Announce{Topic: noticeTopic, Payload: payload, To: who}
}

// Validate checks what a sender wrote.
func (n Notice) Validate() error {
	if err := meeting.ValidateText(n.Text, MaxNoticeLength); err != nil {
		return err
	}
	if len(n.ID) > maxNoticeID {
		return fault.Invalid("id", "id must be at most %d bytes long; shorten it", maxNoticeID)
	}
	return nil
}
