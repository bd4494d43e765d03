// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"time"

	"convene.dev/convene/internal/fault"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
)

// wrongKeyRate is how many wrong API keys an address may send before it is told to slow down.
var wrongKeyRate = limit.Every(time.Minute/100, 100)

var (
	errUnauthorized = fault.Denied("Unauthorized: send the API key, and nothing else, as the value of the authorization header")
	errHostDenied   = fault.NotFound("No conference service answers for this host: the ConferenceConfig that names it does not have it; the operator finds the reason in its condition HostConflict")
	errNoUsableKey  = fault.Unavailable("No API key of this service is usable; the operator finds the reason in the condition APIKeysResolved of its ConferenceConfig")
)

// authenticate checks the secret. A right one always passes, however many wrong ones its address has sent; only a limit
// that the operator set holds it back. Without a secret nothing is guessed, so only wrong ones are counted.
func (a *api) authenticate(q *httpserver.Request) error {
	if q.Tenant.Keys.Len() == 0 {
		return errNoUsableKey
	}
	values := q.HTTP.Header["Authorization"]
	// Of two headers, which one counts is unclear, also to a proxy.
	if len(values) == 1 {
		if fingerprint, ok := q.Tenant.Keys.Match(values[0]); ok {
			q.Record.Key = fingerprint
			return a.withinRate(q)
		}
	}
	for _, value := range values {
		if value != "" {
			if wait := a.wrongKeys.Take(q.From(), wrongKeyRate, q.Start); wait > 0 {
				return httpserver.TooMany(wait, "Too many wrong API keys from this address; correct the authorization header and wait")
			}
			break
		}
	}
	if q.HostDenied { // The caller means the ConferenceConfig that does not have the host, and not this one.
		return errHostDenied
	}
	return errUnauthorized
}
