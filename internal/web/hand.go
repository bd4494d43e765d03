// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
)

func (h *handler) hand(v *visit) error {
	ctx, cancel := context.WithTimeout(v.r.Context(), requestTimeout)
	defer cancel()
	p, err := h.peer(ctx, v)
	if err != nil {
		return err
	}
	var request struct {
		Raised *bool `json:"raised"`
	}
	if err := decode(v, maxBody, &request); err != nil {
		return err
	}
	switch {
	case p.Hidden:
		return fault.Denied("You watch this meeting unseen, so you cannot raise a hand in it")
	case request.Raised == nil:
		return fault.Invalid("raised", "raised is required; send true or false")
	}
	err = v.t.Media.Engine.Act(ctx, p.view.EngineRoom, engine.Hand{Who: p.identity(), Raised: *request.Raised})
	if fault.Is(err, fault.KindNotFound) {
		return errNotIn.Because(err)
	}
	if err != nil {
		return ofEngine(err)
	}
	writeNothing(v.w)
	return nil
}
