// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/http"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
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

// presenter is one who acts, and what they ask for.
type presenter struct {
	participant
	actRequest
	q *httpserver.Request
}

// action is something that a presenter may do.
type action struct {
	// onOne says that it is done to one participant.
	onOne bool
	// ranked says that a promoted presenter may not do it to a presenter who outranks them.
	ranked bool
	do     actFunc
}

// actFunc carries out an action, and returns what the presenter is told; nil is nothing but that it is done.
type actFunc func(*handler, context.Context, presenter) (httpserver.Answer, error)

// mutedAnswer is for a presenter who has muted all.
type mutedAnswer struct {
	// Muted is how many microphones were on.
	Muted int `json:"muted"`
}

// actionNames are for the error about an action that there is not.
const actionNames = "mute, lockMicrophone, letSpeak, muteAll, remove, lowerHand, promote, demote, admit, refuse, policy, lock, unlock, admission, admitAll, announce or end"

var actions = map[string]action{
	"mute":           onOne(voice((*admission.Service).Mute)),
	"lockMicrophone": ranked(voice((*admission.Service).LockMicrophone)),
	"letSpeak":       onOne(voice((*admission.Service).LetSpeak)),
	"remove":         ranked(quietly((*handler).remove)),
	"refuse":         ranked(quietly((*handler).remove)),
	"admit":          onOne(decide(func(d *v1alpha1.ParticipantDecision) { d.Admitted = true })),
	"promote":        ranked(decide(meeting.Promote)),
	"demote":         ranked(decide(meeting.Demote)),
	"lowerHand": onOne(quietly(func(h *handler, ctx context.Context, p presenter) error {
		return h.admission.SetHand(ctx, p.q.Tenant, p.view, p.To, false)
	})),
	"muteAll":  {do: (*handler).muteAll},
	"policy":   {do: (*handler).changePolicy},
	"lock":     {do: change(func(_ presenter, spec *v1alpha1.MeetingSpec) { spec.Locked = new(true) })},
	"unlock":   {do: change(func(_ presenter, spec *v1alpha1.MeetingSpec) { spec.Locked = new(false) })},
	"announce": {do: quietly((*handler).announce)},
	"admission": {do: func(h *handler, ctx context.Context, p presenter) (httpserver.Answer, error) {
		if err := meeting.ValidateAdmission(p.Admission); err != nil {
			return nil, err
		}
		return change(func(p presenter, spec *v1alpha1.MeetingSpec) { spec.Admission = p.Admission })(h, ctx, p)
	}},
	"admitAll": {do: quietly(func(h *handler, ctx context.Context, p presenter) error {
		if err := h.countWrite(p); err != nil {
			return err
		}
		_, late, err := h.admission.AdmitAll(ctx, p.q.Tenant, p.view, func(*v1alpha1.MeetingSpec) {})
		return firstOf(err, late)
	})},
	"end": {do: quietly((*handler).endForAll)},
}

func onOne(do actFunc) action  { return action{onOne: true, do: do} }
func ranked(do actFunc) action { return action{onOne: true, ranked: true, do: do} }

func (h *handler) act(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	p, err := h.actor(ctx, q)
	if err != nil {
		return nil, err
	}
	var request actRequest
	if err := body.DecodeStrictly(q, httpserver.MaxBody, &request); err != nil {
		return nil, err
	}
	action, known := actions[request.Action]
	if !known {
		return nil, fault.Invalid("action", "action must be %s", actionNames)
	}
	q.Record.Action = request.Action
	if action.onOne {
		if err := h.mayActOn(ctx, q, p, request); err != nil {
			return nil, err
		}
	}
	if action.ranked && p.rights.Promoted {
		if err := h.admission.CheckRank(ctx, q.Tenant, p.view, request.To, request.Action == "promote"); err != nil {
			return nil, err
		}
	}
	answer, err := action.do(h, ctx, presenter{p, request, q})
	if err != nil {
		return nil, err
	}
	q.Record.To = request.To // Only now is it known to be a participant's.
	if answer == nil {
		return httpserver.NoContent, nil
	}
	return answer, nil
}

// quietly tells the presenter nothing but that it is done.
func quietly(do func(*handler, context.Context, presenter) error) actFunc {
	return func(h *handler, ctx context.Context, p presenter) (httpserver.Answer, error) {
		return nil, do(h, ctx, p)
	}
}

// mayActOn checks whom an act names.
func (h *handler) mayActOn(ctx context.Context, q *httpserver.Request, p participant, request actRequest) error {
	switch {
	case request.To == "":
		return fault.Invalid("identity", "identity is required; name the participant")
	case (request.Action == "remove" || request.Action == "refuse") && request.To == p.identity():
		return fault.Invalid("identity", "You cannot remove yourself; leave instead")
	case request.Action == "demote" && request.To == p.identity():
		return fault.Invalid("identity", "You cannot take your own role; ask another presenter to")
	}
	if username, user := meeting.UserOf(request.To); user {
		return h.admission.CheckUser(ctx, q.Tenant, p.view, username)
	}
	return nil
}

// remove disconnects one who is in, or refuses one who waits.
func (h *handler) remove(ctx context.Context, p presenter) error {
	late, err := h.admission.Remove(ctx, p.q.Tenant, p.view, p.To, false)
	return firstOf(err, late)
}

// voice is an action about the microphone of one participant.
func voice(
	do func(*admission.Service, context.Context, *tenant.Tenant, meeting.View, engine.Identity) (late, err error),
) actFunc {
	return quietly(func(h *handler, ctx context.Context, p presenter) error {
		if err := h.countWrite(p); err != nil {
			return err
		}
		late, err := do(h.admission, ctx, p.q.Tenant, p.view, p.To)
		return firstOf(err, late)
	})
}

// decide is an action that changes what is decided about one participant.
func decide(change func(*v1alpha1.ParticipantDecision)) actFunc {
	return quietly(func(h *handler, ctx context.Context, p presenter) error {
		if err := h.countWrite(p); err != nil {
			return err
		}
		late, err := h.admission.Decide(ctx, p.q.Tenant, p.view, p.To, change)
		return firstOf(err, late)
	})
}

// change is an action that changes the meeting.
func change(change func(presenter, *v1alpha1.MeetingSpec)) actFunc {
	return quietly(func(h *handler, ctx context.Context, p presenter) error {
		if err := h.countWrite(p); err != nil {
			return err
		}
		_, late, err := h.admission.Change(ctx, p.q.Tenant, p.view, func(spec *v1alpha1.MeetingSpec) { change(p, spec) })
		return firstOf(err, late)
	})
}

// firstOf is what a presenter is told: also that it takes a moment.
func firstOf(err, late error) error {
	if err != nil {
		return err
	}
	return late
}

func (h *handler) changePolicy(ctx context.Context, p presenter) (httpserver.Answer, error) {
	if err := meeting.ValidatePolicy(p.Policy); err != nil {
		return nil, err
	}
	return change(func(p presenter, spec *v1alpha1.MeetingSpec) { meeting.MergePolicy(spec, p.Policy) })(h, ctx, p)
}

func (h *handler) muteAll(ctx context.Context, p presenter) (httpserver.Answer, error) {
	if p.MayUnmute {
		count, err := h.admission.MuteAll(ctx, p.q.Tenant, p.view, p.identity())
		return httpserver.JSON{Status: http.StatusOK, Value: mutedAnswer{count}}, err
	}
	p.Policy = v1alpha1.MeetingPolicy{Microphone: v1alpha1.Presenters}
	return h.changePolicy(ctx, p)
}

func (h *handler) announce(ctx context.Context, p presenter) error {
	recipients := 1
	if p.To == "" {
		recipients = h.recipients(p.participant)
	}
	if err := h.takeData(p.q, p.participant, len(p.Text), recipients); err != nil {
		return err
	}
	return h.admission.Announce(ctx, p.q.Tenant, p.view, admission.Notice{Text: p.Text, Name: p.Name, At: h.ClusterTime()}, p.To)
}

func (h *handler) endForAll(ctx context.Context, p presenter) error {
	_, err := h.Meetings.End(ctx, p.q.Tenant, conference.EndCommand{Room: p.view.Room, UID: p.view.UID, Redirect: p.Redirect})
	if fault.Is(err, fault.KindNotFound) {
		return nil // another request was faster
	}
	return err
}
