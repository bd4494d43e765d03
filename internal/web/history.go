// SPDX-License-Identifier: Apache-2.0

package web

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
	"convene.dev/convene/internal/limit"
)

const (
	// requestTopic is of a request for messages, and historyTopic of the messages.
	requestTopic = "convene.chat.request"
	historyTopic = "convene.chat.history"
	// requestLifetime is for how long the participant who is asked may answer.
	requestLifetime = 20 * time.Second
	// maxHistory is how many messages one answer has at most, and maxHistoryBody how many bytes.
	maxHistory     = 100
	maxHistoryBody = 48 << 10
	// maxPacket is the size in bytes at which another packet begins. All browsers receive packets of this size. One message may be
	// larger, as it was when it was sent.
	maxPacket = 12 << 10
)

// historyRate is how often one session may ask for messages or pass them on.
var historyRate = limit.Every(time.Second, 10)

// historyRequest is what the participant receives who is asked for messages, and sends back with them.
type historyRequest struct {
	For   engine.Identity `json:"for"`
	Until time.Time       `json:"until"`
	Stamp string          `json:"stamp"`
}

// passedHistory is what the participant who was asked sends.
type passedHistory struct {
	historyRequest
	Messages []chatMessage `json:"messages"`
}

// historyPacket is a part of the messages, for the page that asked.
type historyPacket struct {
	Messages []chatMessage `json:"messages"`
	Last     bool          `json:"last"`
}

// reader is a participant who may read what was written before: one who is in and seen, and reads the chat.
func (h *handler) reader(ctx context.Context, q *httpserver.Request) (participant, error) {
	p, err := h.holderWithin(q, h.histories, historyRate, bySession)
	switch {
	case err != nil:
		return p, err
	case p.Waits():
		return p, admission.ErrWaiting
	case q.Tenant.ChatHidden:
		return p, fault.Denied("This service does not show messages from before a participant joined")
	case p.Hide:
		// A request that no new participant is seen for would tell that there is a hidden one.
		return p, fault.Denied("You watch this meeting unseen, so you cannot ask others for messages")
	case !p.Chat:
		return p, fault.Denied("Chat is off for you in this meeting")
	}
	return p, h.present(ctx, q, p)
}

// present refuses a participant who is not in at the moment.
func (h *handler) present(ctx context.Context, q *httpserver.Request, p participant) error {
	in, err := h.admission.IsIn(ctx, q.Tenant, p.view, p.identity())
	if err == nil && !in {
		err = errNotIn
	}
	return err
}

// askRequest is the body of POST session/history.
type askRequest struct {
	From engine.Identity `json:"from"`
}

// askForHistory asks one participant for the messages of this meeting, for another.
func (h *handler) askForHistory(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	p, err := h.reader(ctx, q)
	if err != nil {
		return nil, err
	}
	var request askRequest
	if err := body.DecodeStrictly(q, maxEntryBody, &request); err != nil {
		return nil, err
	}
	if request.From == "" { // To nobody would be to everybody.
		return nil, fault.Invalid("from", "from is required; send the identity of a participant")
	}
	now := h.ClusterTime()
	asked := historyRequest{For: p.identity(), Until: now.Add(requestLifetime).UTC().Truncate(time.Millisecond)}
	if asked.Stamp, err = q.Tenant.Signer.StampRequest(asked.to(p.view.UID, request.From), now); err != nil {
		return nil, err
	}
	if err := h.tell(ctx, q, p, request.From, requestTopic, asked); err != nil {
		return nil, err
	}
	return httpserver.NoContent, nil
}

// to is what the stamp of the request covers: also the meeting, and the participant who is asked.
func (r historyRequest) to(meeting string, from engine.Identity) credential.ChatRequest {
	return credential.ChatRequest{Meeting: meeting, For: string(r.For), From: string(from), Until: r.Until}
}

// passHistoryOn takes the messages of one who was asked, and sends those that are true to the participant who asked.
func (h *handler) passHistoryOn(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	p, err := h.reader(ctx, q)
	if err != nil {
		return nil, err
	}
	var r passedHistory
	if err := body.DecodeStrictly(q, maxHistoryBody, &r); err != nil {
		return nil, err
	}
	if len(r.Messages) > maxHistory {
		return nil, fault.Invalid("messages", "messages must have at most %d elements; send the last ones", maxHistory)
	}
	if err := q.Tenant.Signer.VerifyRequest(r.to(p.view.UID, p.identity()), r.Stamp, h.ClusterTime()); err != nil {
		return nil, err
	}
	for _, packet := range packets(trueOnes(q.Tenant.Signer, p.view.UID, r.Messages)) {
		if err := h.tell(ctx, q, p, r.For, historyTopic, packet); err != nil {
			return nil, err
		}
	}
	return httpserver.NoContent, nil
}

// tell sends something to one participant.
func (h *handler) tell(ctx context.Context, q *httpserver.Request, p participant, to engine.Identity, topic string, what any) error {
	payload, err := encodePlainly(what)
	if err != nil {
		return err
	}
	if err := h.takeData(q, p, len(payload), 1); err != nil {
		return err
	}
	return admission.OfEngine(p.media.Engine.Act(ctx, p.view.EngineRoom, engine.Announce{Topic: topic, Payload: payload, To: to}))
}

// trueOnes are the messages that were written to everyone in this meeting just so, each once, oldest first. The participant who
// passes them on can leave some out, and nothing more. A stamp does not cover a recipient, so a message with one is not true.
func trueOnes(signer *credential.Signer, meeting string, messages []chatMessage) []chatMessage {
	messages = slices.DeleteFunc(messages, func(m chatMessage) bool {
		return m.private() || !signer.VerifyMessage(m.of(meeting), m.Stamp)
	})
	slices.SortFunc(messages, func(a, b chatMessage) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) })
	return slices.CompactFunc(messages, func(a, b chatMessage) bool { return a.ID == b.ID })
}

// packets splits messages into the packets that are sent, at least one.
func packets(messages []chatMessage) []historyPacket {
	all := []historyPacket{{Messages: []chatMessage{}}}
	size := 0
	for _, m := range messages {
		length := len(m.Text) + len(m.Name) + len(m.From) + len(m.ID) + len(m.Stamp)
		if size > 0 && size+length > maxPacket {
			all, size = append(all, historyPacket{}), 0
		}
		last := &all[len(all)-1]
		last.Messages = append(last.Messages, m)
		size += length
	}
	all[len(all)-1].Last = true
	return all
}
