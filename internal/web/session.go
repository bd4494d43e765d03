// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/http"
	"time"

	"convene.dev/convene/internal/credential"
	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// requestTimeout bounds one request of the page, which itself waits for 10 seconds.
const requestTimeout = 9 * time.Second

// openSession lets somebody in: it decides, sees to it that the room is open, and hands out what opens it.
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
	if err := decode(v, &r); err != nil {
		return answer, by, err
	}
	a, err := identify(v.t, r, h.Now(), h.loginCheck(ctx, v))
	if err != nil {
		return answer, by, err
	}
	v.deed.by, v.deed.room, v.deed.user = a.way, a.Room, a.Username
	view, who, err := h.judge(ctx, v, a, r.Password)
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
		return h.guess(ctx, v, limit.HostLogin, username, func() (bool, error) {
			return v.t.Users.Verify(username, password), nil
		})
	}
}

// judge finds the meeting and decides who enters it. Nothing is changed before that is clear, but that a meeting which
// ended unjoined or empty is started again.
func (h *handler) judge(ctx context.Context, v *visit, a applicant, password string) (meeting.View, engine.Identity, error) {
	if v.t.Media == nil {
		return meeting.View{}, "", errNoMedia
	}
	view, err := h.Meetings.Enter(ctx, v.t, a.Room, a.Lineage)
	if fault.Is(err, fault.KindGone) {
		return view, "", gone(h.ended(ctx, v.t, view, a.previous))
	}
	if err != nil {
		return view, "", err
	}
	who, err := admit(v.t, view, a)
	if err != nil {
		return view, "", err
	}
	if view.HasPassword && !a.knowsPassword() {
		if err := h.checkPassword(ctx, v, view, password); err != nil {
			return view, "", err
		}
	}
	return view, who, h.checkRoomFor(ctx, v.t, view, who)
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

func (h *handler) checkPassword(ctx context.Context, v *visit, view meeting.View, presented string) error {
	if presented == "" {
		return fault.Unauthenticated("This meeting has a password; enter it to join").WithReason(reasonPasswordRequired)
	}
	right, err := h.guess(ctx, v, limit.RoomPassword, view.Room, func() (bool, error) {
		return h.Meetings.CheckPassword(ctx, v.t, view, presented)
	})
	if err == nil && !right {
		err = fault.Denied("The password of this meeting is another one; try again").WithReason(fault.ReasonWrongPassword)
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
		engine.RoomOptions{MaxParticipants: t.Settings.MaxParticipants},
		engine.RoomState{ExpiresAt: view.Expires}))
}

// ofEngine keeps what is wrong with the engine between the operator and us.
func ofEngine(err error) error {
	if fault.Is(err, fault.KindUnavailable) {
		return fault.Unavailable("The media server cannot be reached; this page keeps trying").Because(err)
	}
	return err
}
