// SPDX-License-Identifier: Apache-2.0

package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"convene.dev/convene/internal/fault"
)

// Reasons that the page knows, beside those that package fault gives.
const (
	reasonNameRequired     = "NameRequired"
	reasonPasswordRequired = "PasswordRequired"
	reasonLoginRequired    = "LoginRequired"
	reasonLinkExpired      = "LinkExpired"
	reasonFull             = "Full"
)

// kinds say what each kind of fault is to the page: its status, and its reason where the fault names none of the
// page's.
var kinds = map[fault.Kind]struct {
	status int
	reason string
}{
	fault.KindInternal:        {http.StatusInternalServerError, "Unavailable"},
	fault.KindInvalid:         {http.StatusBadRequest, "Invalid"},
	fault.KindUnauthenticated: {http.StatusUnauthorized, reasonLoginRequired},
	fault.KindDenied:          {http.StatusForbidden, "NotAllowed"},
	fault.KindNotFound:        {http.StatusNotFound, "NotFound"},
	fault.KindGone:            {http.StatusGone, "Ended"},
	fault.KindConflict:        {http.StatusConflict, "NotAllowed"},
	fault.KindTooMany:         {http.StatusTooManyRequests, "TooManyAttempts"},
	fault.KindUnavailable:     {http.StatusServiceUnavailable, "Unavailable"},
}

var pageReasons = []string{
	"Invalid", reasonNameRequired, reasonPasswordRequired, fault.ReasonWrongPassword, reasonLoginRequired, fault.ReasonWrongLogin,
	"NotAllowed", reasonLinkExpired, "NotFound", "Ended", reasonFull, "TooManyAttempts", "Unavailable",
}

// tryAgainAfter is what Retry-After says where nothing better is known.
const tryAgainAfter = 2 * time.Second

// refusal is a fault with what only the page needs.
type refusal struct {
	fault *fault.Error
	// status is instead of the kind's, when not zero.
	status int
	// redirect is where the people of an ended meeting went.
	redirect string
	// after is when to try again, when not zero.
	after time.Duration
}

func (r *refusal) Error() string { return r.fault.Error() }

func (r *refusal) Unwrap() error { return r.fault }

// asRefusal looks at an error as the page will.
func asRefusal(err error) refusal {
	out := refusal{}
	if r := (*refusal)(nil); errors.As(err, &r) {
		out = *r
	}
	out.fault = fault.As(err)
	kind := kinds[out.fault.Kind]
	if out.status == 0 {
		out.status = kind.status
	}
	if out.after == 0 && (out.fault.Kind == fault.KindUnavailable || out.fault.Kind == fault.KindTooMany) {
		out.after = tryAgainAfter
	}
	if !slices.Contains(pageReasons, out.fault.Reason) {
		out.fault = out.fault.WithReason(kind.reason)
	}
	return out
}

type errorBody struct {
	Error    string `json:"error"`
	Reason   string `json:"reason"`
	Redirect string `json:"redirect,omitempty"`
	Home     string `json:"home"`
}

// refuse writes an error for a script.
func (h *handler) refuse(v *visit, err error) {
	r := h.prepareRefusal(v, err)
	h.audit(v, &r)
	writeJSON(v.w, r.status, errorBody{Error: r.fault.Message, Reason: r.fault.Reason, Redirect: r.redirect, Home: v.t.Web.Home})
}

// prepareRefusal looks at an error as the page will, and sets the headers that go with it.
func (h *handler) prepareRefusal(v *visit, err error) refusal {
	r := asRefusal(err)
	if r.after > 0 {
		seconds := int((r.after + time.Second - 1) / time.Second)
		v.w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	return r
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(body); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
		b.WriteString(`{"error":"Something went wrong on our side; try again","reason":"Unavailable"}`)
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	// An error here means that the client has gone.
	_, _ = w.Write(b.Bytes())
}

func writeNothing(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}
