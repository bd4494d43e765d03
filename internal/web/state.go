// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"

	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
)

type stateAnswer struct {
	State standing `json:"state"`
	// Redirect is nil unless the meeting has ended; empty means the home page.
	Redirect *string `json:"redirect,omitzero"`
	// Hidden are those who watch unseen. Presenters alone are told, and the engine does not tell even them.
	Hidden []hiddenPeer `json:"hidden,omitempty"`
}

type hiddenPeer struct {
	Identity string `json:"identity"`
	Name     string `json:"name"`
}

// sessionState tells a page that was disconnected whether to come back, and a presenter's who watches.
func (h *handler) sessionState(q *httpserver.Request) (httpserver.Answer, error) {
	p, standing, err := h.stand(q)
	if err != nil {
		return nil, err
	}
	answer := stateAnswer{State: standing}
	switch {
	case standing == standingEnded:
		answer.Redirect = &p.view.Redirect
	case standing == standingLive && p.Presenter && p.Welcome(q.Tenant.Users):
		answer.Hidden = hiddenIn(p.view)
	}
	return httpserver.JSON{Status: http.StatusOK, Value: answer}, nil
}

// hiddenIn lists the hidden ones among the first 100, as the controllers last saw them.
func hiddenIn(view meeting.View) []hiddenPeer {
	var hidden []hiddenPeer
	for _, p := range view.Peers {
		if p.Hidden {
			hidden = append(hidden, hiddenPeer{Identity: p.Identity, Name: p.Name})
		}
	}
	return hidden
}
