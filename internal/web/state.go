// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"time"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/httpserver"
)

type stateAnswer struct {
	State sessionState `json:"state"`
	// Redirect is nil unless the meeting has ended; empty means the home page.
	Redirect *string `json:"redirect,omitzero"`
	// Session is what the page keeps in place of the session that it shows: it says that the participant has been in. Empty while nothing
	// shows that.
	Session string `json:"session,omitempty"`
	// Hidden are those who watch unseen. Presenters alone are told, and the engine does not tell even them.
	Hidden []hiddenPeer `json:"hidden,omitempty"`
	// Waiting are those who wait to be let in; nil where nobody does. Presenters alone are told.
	Waiting *waitingPeople `json:"waiting,omitempty"`
}

type waitingPeople struct {
	Count int `json:"count"`
	// People are the first 100.
	People []waitingPerson `json:"people"`
}

type waitingPerson struct {
	Identity engine.Identity `json:"identity"`
	Name     string          `json:"name"`
	Since    time.Time       `json:"since"`
	Message  string          `json:"message,omitempty"`
}

// maxWaitingShown is how many of those who wait one answer has.
const maxWaitingShown = 100

type hiddenPeer struct {
	Identity string `json:"identity"`
	Name     string `json:"name"`
	// Outranks says that the presenter who asks was promoted and this one was not.
	Outranks bool `json:"outranks,omitzero"`
}

// serveState tells a page that was disconnected whether to come back, and a presenter's who watches.
func (h *handler) serveState(q *httpserver.Request) (httpserver.Answer, error) {
	p, state, err := h.participantOf(q, h.states, callRate, bySession)
	if err != nil {
		return nil, err
	}
	answer, ctx := stateAnswer{State: state}, q.HTTP.Context()
	switch {
	case state == sessionWaiting:
		may, err := h.admission.MayComeIn(ctx, q.Tenant, p.view, p.shown, p.Presenter)
		if err != nil {
			return nil, err
		}
		if may {
			answer.State = sessionAdmitted
		}
	case state == sessionEnded:
		answer.Redirect = &p.view.Redirect
	case state == sessionLive && p.Welcome(q.Tenant.Users):
		h.showLive(q, p, &answer)
	}
	return httpserver.JSON{Status: http.StatusOK, Value: answer}, nil
}

// showLive adds what a participant of a live meeting is told. What the media server does not answer is left out, because the page asks again.
func (h *handler) showLive(q *httpserver.Request, p participant, answer *stateAnswer) {
	ctx := q.HTTP.Context()
	if proof := p.shown; proof.In {
		answer.Session = sessionIn(q.HTTP.Header)
	} else if h.admission.WasIn(ctx, q.Tenant, p.view, proof) {
		proof.In = true
		answer.Session, _ = q.Tenant.Signer.IssueSession(proof, q.Tenant.Users, 0, h.ClusterTime())
	}
	if !p.Presenter {
		return
	}
	answer.Hidden = hiddenIn(h.admission.RecentPeers(ctx, q.Tenant, p.view), p.rights.Promoted)
	if waiting, err := h.admission.RecentlyWaiting(ctx, q.Tenant, p.view); err == nil {
		answer.Waiting = waitingOf(waiting)
	}
}

func waitingOf(waiting []engine.Participant) *waitingPeople {
	if len(waiting) == 0 {
		return nil
	}
	all := &waitingPeople{Count: len(waiting)}
	for _, p := range waiting[:min(len(waiting), maxWaitingShown)] {
		all.People = append(all.People, waitingPerson{Identity: p.Identity, Name: p.Name, Since: p.Since.UTC(), Message: p.Message})
	}
	return all
}

// hiddenIn lists the hidden ones among the first 100, for a presenter who was promoted, or was not. Pages promote nobody who is hidden.
func hiddenIn(peers []v1alpha1.Participant, promoted bool) []hiddenPeer {
	var hidden []hiddenPeer
	for _, p := range peers {
		if p.Hidden {
			hidden = append(hidden, hiddenPeer{Identity: p.Identity, Name: p.Name, Outranks: promoted && p.Presenter})
		}
	}
	return hidden
}
