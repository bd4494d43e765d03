// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
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
	// Name is who sends it; empty for the backend.
	Name string    `json:"name,omitempty"`
	At   time.Time `json:"at"`
	// ToYou says that no other participant gets it.
	ToYou bool `json:"toYou,omitempty"`
}

// Announce shows a notice to all participants, or to one where to is set.
func (s *Service) Announce(ctx context.Context, t *tenant.Tenant, v meeting.View, n Notice, to engine.Identity) error {
	if err := n.Validate(); err != nil {
		return err
	}
	n.ID, n.Text, n.At, n.ToYou = cmp.Or(n.ID, rand.Text()), strings.TrimSpace(n.Text), n.At.UTC().Truncate(time.Millisecond), to != ""
	payload, err := json.Marshal(n)
	if err != nil {
		return fault.As(err)
	}
	a := engine.Announce{Topic: noticeTopic, Payload: payload, To: to}
	if to != "" {
		return s.actOn(ctx, t, v, to, a)
	}
	if !v.Opened {
		return nil
	}
	return act(ctx, t, v, v.EngineRoom, a)
}

// Validate checks what a sender wrote.
func (n Notice) Validate() error {
	if err := validateText(n.Text, MaxNoticeLength); err != nil {
		return err
	}
	if len(n.ID) > maxNoticeID {
		return fault.Invalid("id", "id must be at most %d bytes long; shorten it", maxNoticeID)
	}
	return nil
}

// validateText checks a text of at most so many characters.
func validateText(text string, most int) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fault.Invalid("text", "text is required; write 1 to %d characters", most)
	case utf8.RuneCountInString(text) > most:
		return fault.Invalid("text", "text must have at most %d characters; shorten it", most)
	}
	return nil
}
