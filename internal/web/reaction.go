// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"slices"
	"strings"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
)

const reactionTopic = "convene.reaction"

// reactions are all that a participant may send. They are words and not characters, so that no text gets around the chat's rules.
var reactions = []string{"like", "dislike", "love", "laugh", "applause"}

// reaction is what all participants with chat on receive. It is shown for a few seconds and kept nowhere.
type reaction struct {
	From     engine.Identity `json:"from"`
	Name     string          `json:"name"`
	Reaction string          `json:"reaction"`
}

// reactionRequest is the body of POST session/reaction.
type reactionRequest struct {
	Reaction string `json:"reaction"`
}

// react shows a reaction to the others. It says something, so a participant who may not write may not do it either.
func (h *handler) react(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	p, err := h.participant(q)
	if err != nil {
		return nil, err
	}
	var request reactionRequest
	if err := body.DecodeStrictly(q, httpserver.MaxBody, &request); err != nil {
		return nil, err
	}
	if err := mayWrite(p); err != nil {
		return nil, err
	}
	if !slices.Contains(reactions, request.Reaction) {
		return nil, fault.Invalid("reaction", "reaction must be one of %s", strings.Join(reactions, ", "))
	}
	return h.say(ctx, q, p, reactionTopic, reaction{From: p.identity(), Name: p.Name, Reaction: request.Reaction})
}
