// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

const (
	chatTopic = "convene.chat"
	// maxChatLength is the greatest length of a message, in Unicode characters.
	maxChatLength = 4000
)

// chatMessage is what all participants with chat on receive.
type chatMessage struct {
	ID   string          `json:"id"`
	From engine.Identity `json:"from"`
	// Name is from the session, not from the sender's page.
	Name string    `json:"name"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

func (h *handler) chat(v *visit) error {
	ctx, cancel := context.WithTimeout(v.r.Context(), requestTimeout)
	defer cancel()
	p, err := h.peer(ctx, v)
	if err != nil {
		return err
	}
	var request struct {
		Text string `json:"text"`
	}
	if err := decode(v, maxBody, &request); err != nil {
		return err
	}
	if err := mayWrite(p, request.Text); err != nil {
		return err
	}
	in, err := h.isIn(ctx, v, p.view.EngineRoom, p.identity())
	if err != nil {
		return err
	}
	if !in {
		return errNotIn
	}
	payload, err := encodeChat(chatMessage{
		ID: randomLetters(), From: p.identity(), Name: p.Name, Text: request.Text, At: h.ClusterTime().UTC().Truncate(time.Millisecond),
	})
	if err != nil {
		return err
	}
	err = v.t.Media.Engine.Act(ctx, p.view.EngineRoom, engine.Say{Topic: chatTopic, Payload: payload})
	if err != nil {
		return ofEngine(err)
	}
	writeNothing(v.w)
	return nil
}

// mayWrite refuses those without chat, and hidden ones: a message would show that they are there.
func mayWrite(p peer, text string) error {
	switch {
	case p.Hidden:
		return fault.Denied("You watch this meeting unseen, so you cannot write in it")
	case !p.Chat:
		return fault.Denied("Chat is off for you in this meeting")
	case strings.TrimSpace(text) == "":
		return fault.Invalid("text", "text is required; write 1 to %d characters", maxChatLength)
	case utf8.RuneCountInString(text) > maxChatLength:
		return fault.Invalid("text", "text must have at most %d characters; send it in parts", maxChatLength)
	}
	return nil
}

// encodeChat leaves <, > and & as they are: the page shows text as text, and the engine limits the size.
func encodeChat(m chatMessage) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(m)
	return bytes.TrimSpace(b.Bytes()), err
}
