// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
)

// maxChecks is how many password checks may be under way or wait. Each costs tens of milliseconds of a processor, so
// more would not be answered in time anyway.
const maxChecks = 64

// guess runs a check of a secret that people type, unless there were too many wrong ones from this address about this
// subject.
func (h *handler) guess(
	ctx context.Context, v *visit, what limit.Secret, subject string, check func() (bool, error),
) (right bool, err error) {
	done, wait := h.guesses.Try(limit.Guess{Tenant: v.t.UID, What: what, From: h.TrustedProxies.Of(v.r), Subject: subject}, h.Now())
	if wait > 0 {
		return false, &refusal{fault: fault.TooMany("There were too many wrong attempts; wait a moment and try again"), after: wait}
	}
	defer func() { done(!right && err == nil) }()
	select {
	case h.checks <- struct{}{}:
		defer func() { <-h.checks }()
		return check()
	case <-ctx.Done():
		return false, fault.Unavailable("Too many people are coming in at once; try again in a moment").Because(ctx.Err())
	}
}
