// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
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
	"convene.dev/convene/internal/tenant"
)

// participant is a participant who shows a session of a meeting that is live and still wants them.
type participant struct {
	credential.SessionGrant
	view meeting.View
	// media is the media server that the meeting is on.
	media *tenant.Media
	// rights are what the participant may do now, and granted reports whether they are a presenter by what they came with.
	rights  engine.Rights
	granted bool
	// shown is the session as it was given.
	shown credential.Session
}

func (p participant) identity() engine.Identity { return engine.Identity(p.Identity) }

// sessionState is what a session is still good for.
type sessionState string

const (
	sessionLive     sessionState = "live"
	sessionWaiting  sessionState = "waiting"
	sessionAdmitted sessionState = "admitted"
	sessionEnded    sessionState = "ended"
	sessionRemoved  sessionState = "removed"
)

var (
	errNotWaiting = fault.Denied("You are no longer waiting to be let in")
)

var errSessionOver = fault.Denied("This session is over: open the link of the meeting again")

// sessionHeader holds the session that a page shows. Authorization is left to what stands in front of the gateway: with HTTP Basic
// there, a page that sent its session as a bearer token would be refused.
const sessionHeader = "Convene-Session"

// sessionIn is empty when there is no session. Pages that were opened before an upgrade still send it as a bearer token.
func sessionIn(h http.Header) string {
	if session := h.Get(sessionHeader); session != "" {
		return session
	}
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// participantOf looks at the session that a page shows, and at its meeting. Calls count before the meeting is looked for.
func (h *handler) participantOf(
	q *httpserver.Request, calls *limit.Buckets[caller], rate limit.Rate, by func(participant) string,
) (participant, sessionState, error) {
	token := sessionIn(q.HTTP.Header)
	if token == "" {
		return participant{}, "", errSessionOver
	}
	grant, err := q.Tenant.Signer.VerifySession(token, h.ClusterTime())
	if err != nil {
		return participant{}, "", err
	}
	p := participant{SessionGrant: grant, shown: grant.Session}
	if err := countCall(q, calls, rate, by(p)); err != nil {
		return p, "", err
	}
	view, err := h.Meetings.Known(q.HTTP.Context(), q.Tenant, grant.Meeting, grant.Room)
	if err != nil {
		return p, "", err
	}
	p.view, p.media = view, q.Tenant.MediaAt(view.MediaServer)
	decided := view.DecisionOn(grant.Username, p.identity())
	p.granted = admission.IsPresenter(q.Tenant, grant.Username, grant.Presenter)
	p.rights = view.Rights(decided, p.granted)
	p.Presenter = p.rights.Presenter
	q.Record.Room, q.Record.User, q.Record.Identity = p.Room, p.Username, p.identity()
	switch {
	case view.Ended:
		return p, sessionEnded, nil
	case decided.Removed:
		return p, sessionRemoved, nil
	case p.Waits():
		return p, sessionWaiting, nil
	}
	return p, sessionLive, nil
}

// callRate is how often one session may ask the engine for something: what a fast writer does, in bursts.
var callRate = limit.Every(200*time.Millisecond, 20)

// maxCallers is how many sessions are counted at most: about 20 MB.
const maxCallers = 1 << 16

// caller is who makes calls: a session, all sessions of one origin, or all presenters of one Meeting.
type caller struct {
	tenant types.UID
	who    string
}

// participant is who makes a call that changes something, and is in. It is limited, since every call is told to all participants.
func (h *handler) participant(q *httpserver.Request) (participant, error) {
	p, err := h.holder(q)
	if err == nil && p.Waits() {
		err = admission.ErrWaiting
	}
	return p, err
}

// holder is who makes a call with a session, of one who is in or of one who waits.
func (h *handler) holder(q *httpserver.Request) (participant, error) {
	return h.holderWithin(q, h.calls, callRate, bySession)
}

// bySession counts the calls of each session, and byOrigin those of all sessions that were made with one link, with one token or as one user: a
// person can ask for many sessions.
func bySession(p participant) string { return p.Identity }
func byOrigin(p participant) string  { return meeting.Origin(p.identity()) }

// holderWithin is holder with a limit of its own.
func (h *handler) holderWithin(
	q *httpserver.Request, calls *limit.Buckets[caller], rate limit.Rate, by func(participant) string,
) (participant, error) {
	if err := h.checkSameSite(q); err != nil {
		return participant{}, err
	}
	p, state, err := h.participantOf(q, calls, rate, by)
	switch {
	case err != nil:
		return p, err
	case state == sessionEnded:
		return p, withRedirect(admission.ErrEnded, p.view)
	case state == sessionRemoved:
		return p, admission.ErrRemoved
	case !p.Welcome(q.Tenant.Users):
		return p, errSessionOver
	case p.media == nil:
		return p, admission.ErrNoMedia
	}
	return p, nil
}

// countCall refuses a caller who makes calls too fast.
func countCall(q *httpserver.Request, calls *limit.Buckets[caller], rate limit.Rate, who string) error {
	if wait := calls.Take(caller{q.Tenant.UID, who}, rate, q.Start); wait > 0 {
		return httpserver.TooMany(wait, "That was too fast; wait")
	}
	return nil
}

var errNotIn = fault.Denied("You are not in the meeting at the moment; join it again")

// checkSameSite refuses requests that other sites make from a person's browser.
func (h *handler) checkSameSite(q *httpserver.Request) error {
	if err := h.sameSite.Check(q.HTTP); err != nil {
		return fault.Denied("This request came from another site; open the meeting's own page").Because(err)
	}
	return nil
}
