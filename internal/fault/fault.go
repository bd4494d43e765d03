// SPDX-License-Identifier: Apache-2.0

// Package fault gives errors their consequence: a kind, which becomes an HTTP status in one place (internal/httpserver),
// and one public sentence that says how to fix it. The cause is for logs only.
package fault

import (
	"errors"
	"fmt"
)

// Kind is what an error means to the caller.
type Kind int

// Kinds of errors.
const (
	// KindInternal is an error of ours. Its public message says nothing of the cause.
	KindInternal Kind = iota
	// KindInvalid is a bad value in a request.
	KindInvalid
	// KindUnauthenticated asks for credentials that were not given.
	KindUnauthenticated
	// KindDenied is a refusal.
	KindDenied
	// KindNotFound is something that is not there.
	KindNotFound
	// KindGone is something that was there and is over.
	KindGone
	// KindConflict is something that is there with other values.
	KindConflict
	// KindTooMany is a limit on attempts.
	KindTooMany
	// KindUnavailable passes by itself: try again.
	KindUnavailable
)

// Reasons by which programs tell one refusal from another.
const (
	// ReasonWrongPassword is of a room's password that is another one.
	ReasonWrongPassword = "WrongPassword"
	// ReasonWrongLogin is of a username and a password that do not belong together, whichever is wrong.
	ReasonWrongLogin = "WrongLogin"
)

// Error is an error with a consequence.
type Error struct {
	// Kind is the consequence.
	Kind Kind
	// Reason is a CamelCase word for programs, or empty.
	Reason string
	// Field is the request's field that is wrong, or empty.
	Field string
	// Message is one public sentence that says how to fix it.
	Message string
	// Cause is for logs only; it may be nil.
	Cause error
}

// Error returns the public message, and the cause behind it: for logs.
func (e *Error) Error() string {
	if e.Cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.Cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Because returns a copy of e with the cause.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.Cause = cause
	return &c
}

// WithReason returns a copy of e with the reason.
func (e *Error) WithReason(reason string) *Error {
	c := *e
	c.Reason = reason
	return &c
}

// Invalid is a bad value of a field; the message names the field and says how to fix it.
func Invalid(field, format string, args ...any) *Error {
	return &Error{Kind: KindInvalid, Reason: "Invalid", Field: field, Message: fmt.Sprintf(format, args...)}
}

// Unauthenticated asks for credentials.
func Unauthenticated(format string, args ...any) *Error {
	return &Error{Kind: KindUnauthenticated, Message: fmt.Sprintf(format, args...)}
}

// Denied refuses.
func Denied(format string, args ...any) *Error {
	return &Error{Kind: KindDenied, Reason: "NotAllowed", Message: fmt.Sprintf(format, args...)}
}

// NotFound says that something is not there.
func NotFound(format string, args ...any) *Error {
	return &Error{Kind: KindNotFound, Reason: "NotFound", Message: fmt.Sprintf(format, args...)}
}

// Gone says that something is over.
func Gone(format string, args ...any) *Error {
	return &Error{Kind: KindGone, Reason: "Ended", Message: fmt.Sprintf(format, args...)}
}

// Conflict says that something is there with other values.
func Conflict(format string, args ...any) *Error {
	return &Error{Kind: KindConflict, Message: fmt.Sprintf(format, args...)}
}

// TooMany says to slow down.
func TooMany(format string, args ...any) *Error {
	return &Error{Kind: KindTooMany, Reason: "TooManyAttempts", Message: fmt.Sprintf(format, args...)}
}

// Unavailable says to try again.
func Unavailable(format string, args ...any) *Error {
	return &Error{Kind: KindUnavailable, Reason: "Unavailable", Message: fmt.Sprintf(format, args...)}
}

// As returns err as an Error: itself where it is or wraps one, else an internal error around it.
func As(err error) *Error {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e
	}
	return &Error{Kind: KindInternal, Reason: "Internal", Message: "Something went wrong on our side; try again, and tell the operator if it stays", Cause: err}
}

// Is reports whether err is of that kind.
func Is(err error, kind Kind) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.Kind == kind
}
