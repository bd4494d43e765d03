// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"slices"

	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
)

// reasons are what the page is told of each kind of fault that names none of the page's reasons itself.
var reasons = map[fault.Kind]string{
	fault.KindInternal:        "Unavailable",
	fault.KindInvalid:         "Invalid",
	fault.KindUnauthenticated: admission.ReasonLoginRequired,
	fault.KindDenied:          "NotAllowed",
	fault.KindNotFound:        "NotFound",
	fault.KindGone:            "Ended",
	fault.KindConflict:        "NotAllowed",
	fault.KindTooMany:         "TooManyAttempts",
	fault.KindUnavailable:     "Unavailable",
}

var pageReasons = []string{
	"Invalid", admission.ReasonNameRequired, admission.ReasonPasswordRequired, fault.ReasonWrongPassword, admission.ReasonLoginRequired, fault.ReasonWrongLogin,
	"NotAllowed", admission.ReasonLinkExpired, "NotFound", "Ended", admission.ReasonFull, admission.ReasonLocked, "TooManyAttempts", "Unavailable",
}

// reasonOf is what the page is told of an error, as one word.
func reasonOf(err error) string {
	f := httpserver.AsFault(err)
	if slices.Contains(pageReasons, f.Reason) {
		return f.Reason
	}
	return reasons[f.Kind]
}

// errorBody is what scripts read of an error.
type errorBody struct {
	Error    string `json:"error"`
	Reason   string `json:"reason"`
	Redirect string `json:"redirect,omitempty"`
	Home     string `json:"home"`
}

// refuse writes an error: as JSON for scripts, and as a page for people. The page itself shows what a path that it does not know means.
func (h *handler) refuse(q *httpserver.Request, e httpserver.Error) httpserver.Answer {
	switch {
	case q.Tenant == nil:
		return plainPage(e.Status, e.Fault.Message)
	case q.Route != nil && !q.Route.Page:
		return httpserver.JSON{Status: e.Status, Value: errorBody{
			Error: e.Fault.Message, Reason: reasonOf(e.Fault), Redirect: e.Redirect, Home: q.Tenant.Web.Home,
		}}
	case e.Status == http.StatusNotFound:
		if page, err := h.tenantPage(q, e.Status, homeVersion); err == nil {
			return page
		}
	}
	return plainPage(e.Status, e.Fault.Message)
}
