// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
)

const (
	chatTopic = "convene.chat"
	// maxChatLength is the greatest length of a message, in Unicode characters.
	maxChatLength = 4000
)

// chatMessage is what all participants with chat on receive, or one of them.
type chatMessage struct {
	ID   string          `json:"id"`
	From engine.Identity `json:"from"`
	// Name is from the session, not from the sender's page.
	Name string    `json:"name"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
	// To is the recipient of a private message, and ToName their name.
	To     engine.Identity `json:"to,omitempty"`
	ToName string          `json:"toName,omitempty"`
	// Stamp proves to every replica that the message was taken so. It is empty where nobody reads it later.
	Stamp string `json:"stamp,omitempty"`
}

// of is the message as it is stamped.
func (m chatMessage) of(meeting string) credential.ChatMessage {
	return credential.ChatMessage{Meeting: meeting, ID: m.ID, From: string(m.From), Name: m.Name, Text: m.Text, At: m.At}
}

// chatRequest is the body of POST session/chat.
type chatRequest struct {
	Text string `json:"text"`
	// To is the participant who alone reads it. Nil is everyone; no identity, not even an empty one, becomes everyone.
	To *engine.Identity `json:"to"`
}

func (h *handler) chat(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	p, err := h.participant(q)
	if err != nil {
		return nil, err
	}
	var request chatRequest
	if err := body.DecodeStrictly(q, httpserver.MaxBody, &request); err != nil {
		return nil, err
	}
	if err := cmp.Or(mayWrite(p), checkText(request.Text)); err != nil {
		return nil, err
	}
	now := h.ClusterTime()
	m := chatMessage{ID: rand.Text(), From: p.identity(), Name: p.Name, Text: request.Text, At: now.UTC().Truncate(time.Millisecond)}
	if request.To != nil {
		return h.sayPrivately(ctx, q, p, m, *request.To)
	}
	if !q.Tenant.ChatHidden {
		if m.Stamp, err = q.Tenant.Signer.StampMessage(m.of(p.view.UID), now); err != nil {
			return nil, err
		}
	}
	return h.say(ctx, q, p, chatTopic, m)
}

// say sends something to all participants with chat, from one who is in.
func (h *handler) say(ctx context.Context, q *httpserver.Request, p participant, topic string, what any) (httpserver.Answer, error) {
	if err := h.present(ctx, q, p); err != nil {
		return nil, err
	}
	payload, err := encodePlainly(what)
	if err != nil {
		return nil, err
	}
	if err := h.takeData(q, p, len(payload), h.recipients(p)); err != nil {
		return nil, err
	}
	if err := p.media.Engine.Act(ctx, p.view.EngineRoom, engine.Say{Topic: topic, Payload: payload}); err != nil {
		return nil, admission.OfEngine(err)
	}
	return httpserver.NoContent, nil
}

// mayWrite refuses those without chat, and hidden ones: a message would show that they are there.
func mayWrite(p participant) error {
	switch {
	case p.Hide:
		return fault.Denied("You watch this meeting unseen, so you cannot write in it")
	case !p.Chat:
		return fault.Denied("Chat is off for you in this meeting")
	case p.rights.Forbidden.Has(engine.Chat):
		return fault.Denied("Only presenters may write messages in this meeting")
	}
	return nil
}

func checkText(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return fault.Invalid("text", "text is required; write 1 to %d characters", maxChatLength)
	case utf8.RuneCountInString(text) > maxChatLength:
		return fault.Invalid("text", "text must have at most %d characters; send it in parts", maxChatLength)
	}
	return nil
}

// encodePlainly leaves <, > and & as they are: the page shows text as text, and the engine limits the size.
func encodePlainly(what any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(what)
	return bytes.TrimSpace(b.Bytes()), err
}
