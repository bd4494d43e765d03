// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/netip"
	"time"

	"golang.org/x/time/rate"
)

// wrongPerMinute is how many wrong API keys an address may send in a minute before it is told to slow down.
const wrongPerMinute = 100

// attempts counts wrong API keys by the address that they come from.
type attempts struct{ limiters[netip.Addr] }

func newAttempts() *attempts { return &attempts{} }

// take counts one, and returns how long to wait when there were too many.
func (a *attempts) take(from netip.Addr, now time.Time) time.Duration {
	return a.limiters.take(from, rate.Limit(wrongPerMinute)/60, wrongPerMinute, now)
}
