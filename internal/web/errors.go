// SPDX-License-Identifier: Apache-2.0

package web

import (
	"net/http"
	"slices"
	"strings"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/admission"
	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/moderation"
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
	moderation.ReasonConnecting,
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
	Error    string       `json:"error"`
	Reason   string       `json:"reason"`
	Redirect string       `json:"redirect,omitempty"`
	Home     v1alpha1.URL `json:"home,omitempty"`
}

// refuse writes an error: as JSON for scripts, and as a page for people. The page itself shows what a path that it does not know means.
func (h *handler) refuse(q *httpserver.Request, e httpserver.Error) httpserver.Answer {
	switch {
	case forScript(q):
		body := errorBody{Error: e.Fault.Message, Reason: reasonOf(e.Fault), Redirect: e.Redirect}
		if q.Tenant != nil {
			body.Home = q.Tenant.Web.HomeURL
		}
		return httpserver.JSON{Status: e.Status, Value: body}
	case q.Tenant == nil:
		return plainPage(e.Status, e.Fault.Message)
	case e.Status == http.StatusNotFound:
		if page, err := h.tenantPage(q, e.Status, homeVersion); err == nil {
			return page
		}
	}
	return plainPage(e.Status, e.Fault.Message)
}

// forScript reports whether a script reads the answer. Nothing has a route at a host or below a path that a tenant has left, and there
// a page that is still open has to read that its meeting is gone: it takes what is no JSON for the answer of a proxy, and asks again.
func forScript(q *httpserver.Request) bool {
	if q.Route != nil {
		return !q.Route.Page
	}
	return strings.HasPrefix(q.HTTP.Header.Get("Accept"), "application/json")
}
