// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/http"
)

type stateAnswer struct {
	State standing `json:"state"`
	// Redirect is nil unless the meeting has ended; empty means the home page.
	Redirect *string `json:"redirect,omitempty"`
}

// sessionState tells a page that was disconnected whether to come back.
func (h *handler) sessionState(v *visit) error {
	ctx, cancel := context.WithTimeout(v.r.Context(), requestTimeout)
	defer cancel()
	p, standing, err := h.stand(ctx, v)
	if err != nil {
		return err
	}
	answer := stateAnswer{State: standing}
	if standing == standingEnded {
		answer.Redirect = &p.view.Redirect
	}
	writeJSON(v.w, http.StatusOK, answer)
	return nil
}
