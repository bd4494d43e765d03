// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"convene.dev/convene/internal/fault"
)

// statuses is where kinds of errors become HTTP statuses. A Surface may have others.
var statuses = map[fault.Kind]int{
	fault.KindInternal:        http.StatusInternalServerError,
	fault.KindInvalid:         http.StatusBadRequest,
	fault.KindUnauthenticated: http.StatusUnauthorized,
	fault.KindDenied:          http.StatusForbidden,
	fault.KindNotFound:        http.StatusNotFound,
	fault.KindGone:            http.StatusGone,
	fault.KindConflict:        http.StatusConflict,
	fault.KindTooMany:         http.StatusTooManyRequests,
	fault.KindUnavailable:     http.StatusServiceUnavailable,
}

// retryAfter is when to try again what is not available now, where nothing better is known.
const retryAfter = 2 * time.Second

// Error is a fault with what only HTTP knows of it.
type Error struct {
	Fault *fault.Error
	// Status of the answer. Zero means that of the kind of fault.
	Status int
	// After is when to try again, when not zero.
	After time.Duration
	// Redirect is where the participants of an ended meeting went, for pages.
	Redirect string
	// header and value are one more header of the answer.
	header, value string
}

// Error is what the client reads.
func (e *Error) Error() string { return e.Fault.Error() }

// Unwrap is the fault.
func (e *Error) Unwrap() error { return e.Fault }

// What clients read of requests that took too long.
var (
	ErrTimeout = fault.Unavailable("The request timed out; try again in a moment")
	ErrTooSlow = &Error{Fault: fault.Invalid("", "The body did not arrive in time; send it again"), Status: http.StatusRequestTimeout, header: "Connection", value: "close"}
)

// ErrTooLarge is what a client reads of a body of more than so many bytes.
func ErrTooLarge(most int64) error {
	return &Error{Fault: fault.Invalid("", "The body must be at most %d KiB; send less", most>>10), Status: http.StatusRequestEntityTooLarge}
}

// TooMany asks the client to wait.
func TooMany(wait time.Duration, message string) error {
	return &Error{Fault: fault.TooMany("%s %s s", message, seconds(wait)), After: wait}
}

// seconds are whole ones, rounded up.
func seconds(wait time.Duration) string {
	return strconv.Itoa(int((wait + time.Second - 1) / time.Second))
}

func methodNotAllowed(allow string) error {
	return &Error{Fault: fault.Invalid("", "This path does not take that method; use %s", allow), Status: http.StatusMethodNotAllowed, header: "Allow", value: allow}
}

// AsFault makes an error a fault. An error because the time of the request was over is ErrTimeout.
func AsFault(err error) *fault.Error {
	f := fault.As(err)
	if f.Kind == fault.KindInternal && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		return ErrTimeout.Because(err)
	}
	return f
}

// AsError looks at an error as a client of the surface will.
func (s *Surface) AsError(err error) Error {
	var e Error
	if known := (*Error)(nil); errors.As(err, &known) {
		e = *known
	}
	e.Fault = AsFault(err)
	if e.Status == 0 {
		e.Status = statuses[e.Fault.Kind]
		if own := s.Statuses[e.Fault.Kind]; own != 0 {
			e.Status = own
		}
	}
	if e.After == 0 && (e.Fault.Kind == fault.KindUnavailable || e.Fault.Kind == fault.KindTooMany) {
		e.After = retryAfter
	}
	return e
}

// refuse makes an error an answer.
func (q *Request) refuse(err error) Answer {
	e := q.surface.AsError(err)
	q.Failed = e.Fault
	if e.After > 0 {
		q.Header().Set("Retry-After", seconds(e.After))
	}
	if e.header != "" {
		q.Header().Set(e.header, e.value)
	}
	return q.surface.Refuse(q, e)
}
