// SPDX-License-Identifier: Apache-2.0

package web

import (
	"context"
	"net/http"
	"time"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/clientip"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/httpserver/body"
	"convene.dev/convene/internal/limit"
	"convene.dev/convene/internal/meeting"
)

// requestTimeout bounds one request of the page, which itself waits for 10 seconds.
const requestTimeout = 9 * time.Second

// entryRate is how often one site may ask for sessions: each costs two calls of the engine. A school comes in at once.
var entryRate = limit.Every(20*time.Millisecond, 1000)

// maxEntrySites is how many sites are counted at most: about 5 MB.
const maxEntrySites = 1 << 14

// maxEntryBody bounds the body of an entry, in bytes. What may be sent without a credential is short, because it is held until
// it has arrived: the longest fields are a ticket, a token and a session. Only a participant may send more: a chat message.
const maxEntryBody = 16 << 10

// entryRequest is the body of POST session.
type entryRequest = admission.Presented

// openSession lets a guest in: it sees to it that they may enter, that the room is open, and hands out what opens it.
func (h *handler) openSession(q *httpserver.Request) (httpserver.Answer, error) {
	ctx, cancel := context.WithTimeout(q.HTTP.Context(), requestTimeout)
	defer cancel()
	admitted, err := h.enter(ctx, q)
	if err != nil {
		h.metrics.sessions.WithLabelValues(reasonOf(err)).Inc()
		return nil, err
	}
	answer, err := h.answerOf(q, admitted)
	if err != nil {
		return nil, err
	}
	if admitted.Waits() {
		h.metrics.sessions.WithLabelValues("waiting").Inc()
		return httpserver.JSON{Status: http.StatusAccepted, Value: waitingAnswer{answer, waitOf(admitted)}}, nil
	}
	h.metrics.sessions.WithLabelValues("ok").Inc()
	h.metrics.joins.WithLabelValues(string(admitted.Method)).Inc()
	return httpserver.JSON{Status: http.StatusOK, Value: answer}, nil
}

func (h *handler) enter(ctx context.Context, q *httpserver.Request) (admission.Admission, error) {
	var none admission.Admission
	entrant, password, err := h.identify(ctx, q)
	if err != nil {
		return none, err
	}
	admitted, err := h.admission.Admit(ctx, q.Tenant, entrant, password, guard{h, q})
	if err != nil {
		return none, withRedirect(err, admitted.Meeting)
	}
	q.Record.Identity = admitted.Identity
	if admitted.OpenedBy != "" {
		h.metrics.opened.WithLabelValues(admitted.OpenedBy).Inc()
	}
	if admitted.Waits() {
		return admitted, h.admission.OpenWaitingRoom(ctx, q.Tenant, admitted.Meeting)
	}
	err = h.admission.OpenRoom(ctx, q.Tenant, &admitted)
	return admitted, err
}

// identify reads a request of one who wants to enter, and says who they are, and which password of the room they know.
func (h *handler) identify(ctx context.Context, q *httpserver.Request) (entrant admission.Entrant, password string, err error) {
	if err := h.checkSameSite(q); err != nil {
		return entrant, "", err
	}
	if wait := h.entries.Take(clientip.Site(q.From()), entryRate, q.Start); wait > 0 {
		return entrant, "", httpserver.TooMany(wait, "There were too many requests from this address; wait")
	}
	r := entryRequest{JoinOptions: meeting.JoinOptions{Chat: true}}
	if err := body.DecodeStrictly(q, maxEntryBody, &r); err != nil {
		return entrant, "", err
	}
	entrant, err = admission.Identify(ctx, q.Tenant, r, h.ClusterTime(), guard{h, q})
	if err == nil {
		q.Record.By, q.Record.Room, q.Record.User = string(entrant.Method), entrant.Room, entrant.Username
	}
	return entrant, r.Password, err
}

// withRedirect adds to the error of a meeting that has ended where its participants went.
func withRedirect(err error, v meeting.View) error {
	if f := fault.As(err); f.Kind == fault.KindGone {
		return &httpserver.Error{Fault: f, Redirect: v.Redirect}
	}
	return err
}
