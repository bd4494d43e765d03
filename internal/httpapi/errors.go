// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"convene.dev/convene/internal/fault"
)

// statuses is the one place where kinds of errors become HTTP statuses.
var statuses = map[fault.Kind]int{
	fault.KindInternal:        http.StatusInternalServerError,
	fault.KindInvalid:         http.StatusBadRequest,
	fault.KindUnauthenticated: http.StatusForbidden, // Over the API, who is unknown is refused: 401 asks browsers for a login.
	fault.KindDenied:          http.StatusForbidden,
	fault.KindNotFound:        http.StatusNotFound,
	fault.KindGone:            http.StatusNotFound, // An ended room is as unknown as one that never was.
	fault.KindConflict:        http.StatusConflict,
	fault.KindTooMany:         http.StatusTooManyRequests,
	fault.KindUnavailable:     http.StatusServiceUnavailable,
}

// retryUnavailable is when to try again what is not available now, in seconds.
const retryUnavailable = "2"

// httpError is an error that only HTTP knows, or one with a header.
type httpError struct {
	fault *fault.Error
	// status is zero for that of the kind.
	status        int
	header, value string
}

func (e *httpError) Error() string { return e.fault.Error() }
func (e *httpError) Unwrap() error { return e.fault }

func methodNotAllowed(allow []string) error {
	list := strings.Join(allow, ", ")
	return &httpError{fault.Invalid("", "This path does not take that method; use %s", list), http.StatusMethodNotAllowed, "Allow", list}
}

func tooMany(wait time.Duration, message string) error {
	seconds := strconv.Itoa(int(math.Ceil(wait.Seconds())))
	return &httpError{fault.TooMany("%s %s s", message, seconds), 0, "Retry-After", seconds}
}

var (
	errTimeout  = fault.Unavailable("The service did not get it done in time; try again in a moment")
	errTooLarge = &httpError{fault.Invalid("", "The body must be at most %d KiB; send less", maxBody>>10), http.StatusRequestEntityTooLarge, "", ""}
	errTooSlow  = &httpError{fault.Invalid("", "The body did not arrive in time; send it again"), http.StatusRequestTimeout, "Connection", "close"}
)

// refuse makes an error an answer.
func (c *call) refuse(err error) errorAnswer {
	f := fault.As(err)
	if f.Kind == fault.KindInternal && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		f = errTimeout.Because(err)
	}
	c.failed = f
	a := errorAnswer{status: statuses[f.Kind], message: f.Message}
	if f.Kind == fault.KindUnavailable {
		a.header, a.value = "Retry-After", retryUnavailable
	}
	if e := (*httpError)(nil); errors.As(err, &e) {
		a.header, a.value = e.header, e.value
		if e.status != 0 {
			a.status = e.status
		}
	}
	return a
}

// errorAnswer is the body of every error.
type errorAnswer struct {
	status        int
	message       string
	header, value string
}

func (a errorAnswer) head(h http.Header) int {
	if a.header != "" {
		h.Set(a.header, a.value)
	}
	h["Content-Type"] = typeJSON
	return a.status
}

func (a errorAnswer) body(e *encoder) {
	e.raw(`{"error":`)
	e.string(a.message)
	e.raw(`}`)
}
