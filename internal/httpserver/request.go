// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"net/http"
	"net/netip"
	"time"

	"convene.dev/convene/internal/engine"
	"convene.dev/convene/internal/tenant"
)

// Request is a request to one tenant, and where its answer is written.
type Request struct {
	// ResponseWriter is the answer's. Header is of the answer too.
	http.ResponseWriter
	// HTTP is the request as it came, but that the tenant's base path is not in its URL.
	HTTP *http.Request
	// Tenant is nil where no tenant answers for the host.
	Tenant *tenant.Tenant
	// HostDenied reports whether another ConferenceConfig than the tenant's asks for the host, and does not have it.
	HostDenied bool
	// Route is nil where there is none for the path. For a method that the path does not take, it is one of its routes.
	Route *Route
	// ID is in the answer and in every line of the log about the request.
	ID string
	// Start is when the request came, by this machine's clock.
	Start time.Time
	// Record is what the audit log says about the request.
	Record Record
	// Failed is why the request was refused, or nil.
	Failed error

	router  *Router
	surface *Surface
	status  int
	// aborted says that the connection is cut off, because a part of the answer is on its way.
	aborted bool
}

// Record is what a request is about, as far as it is known. Nothing of it is secret, and nothing is what a participant wrote.
type Record struct {
	// Action is what was asked for.
	Action string
	// Changes says that the action is logged when it goes well, not only when it is refused.
	Changes bool
	// Key is the fingerprint of the API key.
	Key string
	// By is the credential that a participant came with.
	By         string
	Room, User string
	// Identity is the participant who acts, To the one on whom.
	Identity, To engine.Identity
}

// From is the address by which limits count the request.
func (q *Request) From() netip.Addr { return q.router.TrustedProxies.Of(q.HTTP) }

// Status of the answer; 0 before there is one.
func (q *Request) Status() int { return q.status }

// Took is for how long the request has been worked on.
func (q *Request) Took() time.Duration { return q.router.Now().Sub(q.Start) }

// WriteHeader keeps the status for the log.
func (q *Request) WriteHeader(status int) {
	if q.status == 0 {
		q.status = status
	}
	q.ResponseWriter.WriteHeader(status)
}

// Write keeps the status for the log.
func (q *Request) Write(data []byte) (int, error) {
	if q.status == 0 {
		q.status = http.StatusOK
	}
	return q.ResponseWriter.Write(data)
}

// Unwrap lets http.ResponseController reach the connection.
func (q *Request) Unwrap() http.ResponseWriter { return q.ResponseWriter }
