// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/limit"
)

// maxLimited is how many API keys, and how many addresses with wrong ones, are counted at most: about 2 MB.
const maxLimited = 1 << 13

// limitedKey is an API key of a tenant, by its fingerprint.
type limitedKey struct {
	tenant      types.UID
	fingerprint string
}

// withinRate holds an API key to the rate that the operator has set, if any.
func (a *api) withinRate(q *httpserver.Request) error {
	spec := q.Tenant.RateLimit
	if spec == nil {
		return nil
	}
	allowed := limit.Rate{PerSecond: rate.Limit(spec.RequestsPerSecond), Burst: int(spec.RequestsPerSecond)}
	if spec.Burst != nil {
		allowed.Burst = int(*spec.Burst)
	}
	if wait := a.keyLimits.Take(limitedKey{q.Tenant.UID, q.Record.Key}, allowed, q.Start); wait > 0 {
		return httpserver.TooMany(wait, "Too many requests with this API key; ask the operator to raise spec.api.rateLimit, or wait")
	}
	return nil
}
