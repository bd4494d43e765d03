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
func (h *handler) openSession(v *visit) error {
	ctx, cancel := context.WithTimeout(v.r.Context(), requestTimeout)
	defer cancel()
	answer, by, err := h.enter(ctx, v)
	if err != nil {
		h.metrics.sessions.WithLabelValues(asRefusal(err).fault.Reason).Inc()
		return err
	}
	h.metrics.sessions.WithLabelValues("ok").Inc()
	h.metrics.joins.WithLabelValues(string(by)).Inc()
	writeJSON(v.w, http.StatusOK, answer)
	return nil
}

func (h *handler) enter(ctx context.Context, v *visit) (answer sessionAnswer, by way, err error) {
	var r entryRequest
	if err := h.checkSameSite(v); err != nil {
		return answer, by, err
	}
	if wait := h.entries.Take(clientip.Site(h.TrustedProxies.Of(v.r)), entryRate, h.Now()); wait > 0 {
		return answer, by, tooMany(wait, "There were too many requests from this address; wait a moment and try again")
	}
	if err := decode(v, maxEntryBody, &r); err != nil {
		return answer, by, err
	}
	a, err := identify(v.t, r, h.ClusterTime(), h.loginCheck(ctx, v))
	if err != nil {
		return answer, by, err
	}
	v.deed.by, v.deed.room, v.deed.user = a.way, a.Room, a.Username
	view, who, err := h.judge(ctx, v, &a, r.Password)
	if err != nil {
		return answer, by, err
	}
	v.deed.who = who
	if err := h.openRoom(ctx, v.t, view); err != nil {
		return answer, by, err
	}
	answer, err = h.admission(v, view, a, who)
	return answer, a.way, err
}

func (h *handler) loginCheck(ctx context.Context, v *visit) checkLogin {
	return func(username, password string) (bool, error) {
		if !v.t.Users.CanBeRight(password) {
			return false, nil
		}
		return h.guess(ctx, v, limit.HostLogin, username, func() (bool, error) {
			return v.t.Users.Verify(username, password), nil
		})
	}
}

// judge finds the meeting and decides who enters it. Nothing is changed before that is clear, but that a meeting which
// ended unjoined or empty is started again.
func (h *handler) judge(ctx context.Context, v *visit, a *applicant, password string) (meeting.View, engine.Identity, error) {
	if v.t.Media == nil {
		return meeting.View{}, "", errNoMedia
	}
	view, err := h.meetingFor(ctx, v, *a)
	if fault.Is(err, fault.KindGone) {
		return view, "", gone(h.ended(ctx, v.t, view, a.previous))
	}
	if err != nil {
		return view, "", err
	}
	a.keepToMeeting(v.t, view)
	who, err := admit(v.t, view, *a)
	if err != nil {
		return view, "", err
	}
	if view.HasPassword && !a.knowsPassword(view) {
		if err := h.checkPassword(ctx, v, view, password); err != nil {
			return view, "", err
		}
	}
	others, err := h.checkRoomFor(ctx, v.t, view, who)
	if err != nil {
		return view, "", err
	}
	a.takeDistinctName(who, others)
	return view, who, nil
}

// meetingFor finds the live meeting of the room that an applicant wants to enter.
func (h *handler) meetingFor(ctx context.Context, v *visit, a applicant) (meeting.View, error) {
	enter := func() (meeting.View, error) { return h.Meetings.Enter(ctx, v.t, a.Room, a.Lineage) }
	if a.Lineage != "" {
		return enter()
	}
	return h.guessRoom(v, enter)
}

// ended is what is known of a meeting that has ended: of the one that the visitor was in, else what Enter said.
func (h *handler) ended(ctx context.Context, t *tenant.Tenant, view meeting.View, previous *credential.SessionGrant) meeting.View {
	if previous != nil {
		if own, ok := h.Meetings.ByUID(ctx, t, previous.Meeting); ok && own.Ended {
			return own
		}
	}
	return view
}

var errWrongPassword = fault.Denied("The password of this meeting is another one; try again").WithReason(fault.ReasonWrongPassword)

func (h *handler) checkPassword(ctx context.Context, v *visit, view meeting.View, presented string) error {
	if presented == "" {
		return fault.Unauthenticated("This meeting has a password; enter it to join").WithReason(reasonPasswordRequired)
	}
	if !credential.CanBeRoomPassword(presented) {
		return errWrongPassword
	}
	right, err := h.guess(ctx, v, limit.RoomPassword, view.Room, func() (bool, error) {
		return h.Meetings.CheckPassword(ctx, v.t, view, presented)
	})
	if err == nil && !right {
		err = errWrongPassword
	}
	return err
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
