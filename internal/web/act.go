// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/moderation"
)

// actRequest is what a presenter wants done.
type actRequest struct {
	Action string `json:"action"`
	// To is the participant to whom it is done.
	To engine.Identity `json:"identity"`
	// Redirect is nil to leave the meeting's own.
	Redirect *string `json:"redirect"`
	// MayUnmute says that those who are muted may switch their microphones on again.
	MayUnmute bool `json:"mayUnmute"`
	// Policy is what changes of it.
	Policy    v1alpha1.MeetingPolicy `json:"policy"`
	Text      string                 `json:"text"`
	Admission v1alpha1.Admission     `json:"admission"`
}

// mutedAnswer is for a presenter who has muted all.
type mutedAnswer struct {
	// Muted is how many microphones were on.
	Muted int `json:"muted"`
}

// savedAnswer is for a presenter whose decision is written down, and does not hold for all participants yet.
type savedAnswer struct {
	Saved bool `json:"saved"`
}

// presenterCommands are the names of what presenters may have done.
var presenterCommands = sync.OnceValue(func() (names []string) {
	for _, c := range moderation.All() {
		if c.Page {
			names = append(names, c.Name)
		}
	}
	return names
})

// readAct reads what a presenter wants done.
func readAct(q *httpserver.Request) (request actRequest, c moderation.Command, err error) {
	if err := body.DecodeStrictly(q, httpserver.MaxBody, &request); err != nil {
		return request, c, err
	}
	c, known := moderation.Find(request.Action)
	if !known || !c.Page {
		names := presenterCommands()
		last := len(names) - 1
		return request, c, fault.Invalid("action", "action must be %s or %s", strings.Join(names[:last], ", "), names[last])
	}
	q.Record.Action = request.Action
	if c.Name == "muteAll" && !request.MayUnmute {
		c, _ = moderation.Find("policy")
		request.Policy = v1alpha1.MeetingPolicy{Microphone: v1alpha1.Presenters}
	}
	switch c.Name {
	case "policy":
		err = meeting.ValidatePolicy(request.Policy)
	case "admission":
		err = meeting.ValidateAdmission(request.Admission)
	case "announce":
		err = moderation.Notice{Text: request.Text}.Validate()
	}
	return request, c, err
}

// values are what the request says beside the command.
func (r *actRequest) values() moderation.Values {
	return moderation.Values{Spec: v1alpha1.MeetingSpec{Admission: r.Admission}, Policy: meeting.PolicyChanges(r.Policy), Notice: moderation.Notice{Text: r.Text}}
}

func (h *handler) act(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	p, err := h.actor(ctx, q)
	if err != nil {
		return nil, err
	}
	request, c, err := readAct(q)
	if err != nil {
		return nil, err
	}
	if err := h.countAct(q, p, request, c); err != nil {
		return nil, err
	}
	if c.Name == "end" {
		return httpserver.NoContent, h.endForAll(ctx, q, p, request)
	}
	order := moderation.Order{
		Commands: []string{c.Name}, To: request.To, Values: request.values(),
		By: &moderation.Actor{Identity: p.identity(), Username: p.Username, Granted: p.granted},
	}
	order.Notice.Name, order.Notice.At = p.Name, h.ClusterTime()
	done, err := h.moderation.Do(ctx, q.Tenant, p.view, order)
	if err != nil {
		return nil, err
	}
	if c.OnOne || c.Alone {
		q.Record.To = request.To // Only now it is certain that a participant has it.
	}
	switch {
	case done.Late != nil:
		return httpserver.JSON{Status: http.StatusAccepted, Value: savedAnswer{true}}, nil
	case c.Name == "muteAll":
		return httpserver.JSON{Status: http.StatusOK, Value: mutedAnswer{done.Acts}}, nil
	}
	return httpserver.NoContent, nil
}

// countAct refuses an act that changes the Meeting, where its presenters have changed it too often, and an announcement that is too much to send.
// A removal is no such write: others cannot use up the right to remove somebody, and nobody is removed twice.
func (h *handler) countAct(q *httpserver.Request, p participant, request actRequest, c moderation.Command) error {
	switch {
	case c.Name == "announce":
		recipients := 1
		if request.To == "" {
			recipients = h.recipients(p)
		}
		return h.takeData(q, p, len(request.Text), recipients)
	case c.Apply != nil && !c.Removes:
		return countCall(q, h.writes, writeRate, p.view.UID)
	}
	return nil
}

func (h *handler) endForAll(ctx context.Context, q *httpserver.Request, p participant, request actRequest) error {
	_, err := h.Meetings.End(ctx, q.Tenant, conference.EndCommand{Room: p.view.Room, UID: p.view.UID, Redirect: request.Redirect})
	if fault.Is(err, fault.KindNotFound) {
		return nil // another request was faster
	}
	return err
}
