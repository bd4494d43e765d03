// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/http"
	"time"

	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// requestTimeout bounds one request of the page, which itself waits for 10 seconds.
const requestTimeout = 9 * time.Second

// entryRate is how often one site may ask for sessions: each costs two calls of the engine. A school comes in at once.
var entryRate = limit.Every(20*time.Millisecond, 1000)

// maxEntrySites is how many sites are counted at most: about 5 MB.
const maxEntrySites = 1 << 14

// openSession lets a guest in: it decides, sees to it that the room is open, and hands out what opens it.
func (h *handler) openSession(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	answer, by, err := h.enter(ctx, q)
	if err != nil {
		h.metrics.sessions.WithLabelValues(h.reasonOf(err)).Inc()
		return nil, err
	}
	h.metrics.sessions.WithLabelValues("ok").Inc()
	h.metrics.joins.WithLabelValues(string(by)).Inc()
	return httpserver.JSON{Status: http.StatusOK, Value: answer}, nil
}

func (h *handler) enter(ctx context.Context, q *httpserver.Request) (answer sessionAnswer, by way, err error) {
	var r entryRequest
	if err := h.checkSameSite(q); err != nil {
		return answer, by, err
	}
	if wait := h.entries.Take(clientip.Site(q.From()), entryRate, q.Start); wait > 0 {
		return answer, by, httpserver.TooMany(wait, "There were too many requests from this address; wait")
	}
	if err := decode(q, maxEntryBody, &r); err != nil {
		return answer, by, err
	}
	a, err := identify(q.Tenant, r, h.ClusterTime(), h.loginCheck(ctx, q))
	if err != nil {
		return answer, by, err
	}
	q.Record.By, q.Record.Room, q.Record.User = string(a.way), a.Room, a.Username
	view, who, err := h.judge(ctx, q, &a, r.Password)
	if err != nil {
		return answer, by, err
	}
	q.Record.Identity = who
	if err := h.openRoom(ctx, q.Tenant, view); err != nil {
		return answer, by, err
	}
	answer, err = h.admission(q, view, a, who)
	return answer, a.way, err
}

func (h *handler) loginCheck(ctx context.Context, q *httpserver.Request) checkLogin {
	return func(username, password string) (bool, error) {
		if !q.Tenant.Users.CanBeRight(password) {
			return false, nil
		}
		err := h.guess(ctx, q, limit.HostLogin, username, func() error {
			if !q.Tenant.Users.Verify(username, password) {
				return errWrongLogin
			}
			return nil
		})
		return err == nil, err
	}
}

// judge finds the meeting and decides who enters it. Nothing is changed before that is clear, but that a meeting which
// ended unjoined or empty is started again.
func (h *handler) judge(ctx context.Context, q *httpserver.Request, a *applicant, password string) (meeting.View, engine.Identity, error) {
	if q.Tenant.Media == nil {
		return meeting.View{}, "", errNoMedia
	}
	view, err := h.meetingFor(ctx, q, *a)
	if fault.Is(err, fault.KindGone) {
		return view, "", gone(h.ended(q.Tenant, view, a.previous))
	}
	if err != nil {
		return view, "", err
	}
	a.keepToMeeting(q.Tenant, view)
	who, err := admit(q.Tenant, view, *a)
	if err != nil {
		return view, "", err
	}
	if view.HasPassword && !a.knowsPassword(view) {
		if err := h.checkPassword(ctx, q, view, password); err != nil {
			return view, "", err
		}
	}
	others, err := h.checkRoomFor(ctx, q.Tenant, view, who)
	if err != nil {
		return view, "", err
	}
	a.takeDistinctName(who, others)
	return view, who, nil
}

// meetingFor finds the live meeting of the room that an applicant wants to enter.
func (h *handler) meetingFor(ctx context.Context, q *httpserver.Request, a applicant) (view meeting.View, err error) {
	enter := func() (err error) {
		view, err = h.Meetings.Enter(ctx, q.Tenant, a.Room, a.Lineage)
		return err
	}
	if a.Lineage != "" {
		return view, enter()
	}
	// No ticket vouches for the name.
	return view, q.Guess(limit.RoomName, "", false, enter)
}

// ended is what is known of a meeting that has ended: of the one that the visitor was in, else what Enter said.
func (h *handler) ended(t *tenant.Tenant, view meeting.View, previous *credential.SessionGrant) meeting.View {
	if previous != nil {
		if own, ok := h.Meetings.ByUID(t, previous.Meeting); ok && own.Ended {
			return own
		}
	}
	return view
}

var errWrongPassword = fault.Denied("The password of this meeting is another one; try again").WithReason(fault.ReasonWrongPassword)

func (h *handler) checkPassword(ctx context.Context, q *httpserver.Request, view meeting.View, presented string) error {
	if presented == "" {
		return fault.Unauthenticated("This meeting has a password; enter it to join").WithReason(reasonPasswordRequired)
	}
	if !credential.CanBeRoomPassword(presented) {
		return errWrongPassword
	}
	return h.guess(ctx, q, limit.RoomPassword, view.Room, func() error {
		right, err := h.Meetings.CheckPassword(ctx, q.Tenant, view, presented)
		if err == nil && !right {
			err = errWrongPassword
		}
		return err
	})
}

// openRoom sees to it that the engine has the room. That it may have it is written down first, so that whatever
// happens between, the room will be closed with its meeting.
func (h *handler) openRoom(ctx context.Context, t *tenant.Tenant, view meeting.View) error {
	if !view.Opened {
		if err := h.Meetings.MarkOpened(ctx, t, view); err != nil {
			return err
		}
	}
	return ofEngine(t.Media.Engine.Ensure(ctx, view.EngineRoom,
		engine.RoomOptions{MaxParticipants: limitOf(t, view)},
		engine.RoomState{ExpiresAt: view.Expires}))
}

// ofEngine keeps what is wrong with the engine between the operator and us.
func ofEngine(err error) error {
	if fault.Is(err, fault.KindUnavailable) {
		return fault.Unavailable("The media server cannot be reached; this page keeps trying").Because(err)
	}
	return err
}
