// SPDX-License-Identifier: Apache-2.0

package web

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
)

// peer is a participant who shows a session of a meeting that is live and still wants them.
type peer struct {
	credential.SessionGrant
	view meeting.View
}

func (p peer) identity() engine.Identity { return engine.Identity(p.Identity) }

// standing is what a session is still worth.
type standing string

const (
	standingLive    standing = "live"
	standingEnded   standing = "ended"
	standingRemoved standing = "removed"
)

var errSessionOver = fault.Denied("This session is over: open the link of the meeting again")

// stand looks at a session and its meeting.
func (h *handler) stand(q *httpserver.Request) (peer, standing, error) {
	scheme, token, _ := strings.Cut(q.HTTP.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return peer{}, "", errSessionOver
	}
	grant, err := q.Tenant.Signer.VerifySession(token, h.ClusterTime())
	if err != nil {
		return peer{}, "", err
	}
	p := peer{SessionGrant: grant}
	p.Presenter = admission.IsPresenter(q.Tenant, grant.Username, grant.Presenter)
	view, found := h.Meetings.ByUID(q.Tenant, grant.Meeting)
	p.view = view
	q.Record.Room, q.Record.User, q.Record.Identity = p.Room, p.Username, p.identity()
	switch {
	case !found || view.Ended:
		return p, standingEnded, nil
	case meeting.Listed(view.Removed, p.identity()):
		return p, standingRemoved, nil
	}
	return p, standingLive, nil
}

// callRate is how often one session may ask the engine for something: what a fast writer does, in bursts.
var callRate = limit.Every(200*time.Millisecond, 20)

// maxCallers is how many sessions are counted at most: about 20 MB.
const maxCallers = 1 << 16

// caller is who makes calls.
type caller struct {
	tenant   types.UID
	identity string
}

// peer is who makes a call that changes something. It is limited, since every call is told to all participants.
func (h *handler) peer(q *httpserver.Request) (peer, error) {
	if err := h.checkSameSite(q); err != nil {
		return peer{}, err
	}
	p, standing, err := h.stand(q)
	switch {
	case err != nil:
		return p, err
	case standing == standingEnded:
		return p, withRedirect(admission.ErrEnded, p.view)
	case standing == standingRemoved:
		return p, admission.ErrRemoved
	case !p.Welcome(q.Tenant.Users):
		return p, errSessionOver
	case q.Tenant.Media == nil:
		return p, admission.ErrNoMedia
	}
	if wait := h.calls.Take(caller{q.Tenant.UID, p.Identity}, callRate, q.Start); wait > 0 {
		return p, httpserver.TooMany(wait, "That was too fast; wait")
	}
	return p, nil
}

var errNotIn = fault.Denied("You are not in the meeting at the moment; join it again")

// checkSameSite refuses requests that other sites make from a person's browser.
func (h *handler) checkSameSite(q *httpserver.Request) error {
	if err := h.sameSite.Check(q.HTTP); err != nil {
		return fault.Denied("This request came from another site; open the meeting's own page").Because(err)
	}
	return nil
}
