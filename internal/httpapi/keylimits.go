// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

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
func (c *call) withinRate(fingerprint string) error {
	spec := c.tenant.RateLimit
	if spec == nil {
		return nil
	}
	allowed := limit.Rate{PerSecond: rate.Limit(spec.RequestsPerSecond), Burst: int(spec.RequestsPerSecond)}
	if spec.Burst != nil {
		allowed.Burst = int(*spec.Burst)
	}
	if wait := c.keyLimits.Take(limitedKey{c.tenant.UID, fingerprint}, allowed, c.start); wait > 0 {
		return tooMany(wait, "Too many requests with this API key; ask the operator to raise spec.api.rateLimit, or wait")
	}
	return nil
}
