// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/httpserver"
)

type stateAnswer struct {
	State sessionState `json:"state"`
	// Redirect is nil unless the meeting has ended; empty means the home page.
	Redirect *string `json:"redirect,omitzero"`
	// Hidden are those who watch unseen. Presenters alone are told, and the engine does not tell even them.
	Hidden []hiddenPeer `json:"hidden,omitempty"`
}

type hiddenPeer struct {
	Identity string `json:"identity"`
	Name     string `json:"name"`
}

// serveState tells a page that was disconnected whether to come back, and a presenter's who watches.
func (h *handler) serveState(q *httpserver.Request) (httpserver.Answer, error) {
	p, state, err := h.participantOf(q)
	if err != nil {
		return nil, err
	}
	answer := stateAnswer{State: state}
	switch {
	case state == sessionEnded:
		answer.Redirect = &p.view.Redirect
	case state == sessionLive && p.Presenter && p.Welcome(q.Tenant.Users):
		answer.Hidden = hiddenIn(directory.Peers(q.HTTP.Context(), q.Tenant, p.view))
	}
	return httpserver.JSON{Status: http.StatusOK, Value: answer}, nil
}

// hiddenIn lists the hidden ones among the first 100.
func hiddenIn(peers []v1alpha1.Participant) []hiddenPeer {
	var hidden []hiddenPeer
	for _, p := range peers {
		if p.Hidden {
			hidden = append(hidden, hiddenPeer{Identity: p.Identity, Name: p.Name})
		}
	}
	return hidden
}
