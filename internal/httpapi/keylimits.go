// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/internal/tenant"
)

// keyLimits holds tenants' API keys to the limits that their operators set. Each replica counts for itself.
type keyLimits struct{ limiters[limitedKey] }

type limitedKey struct {
	tenant      types.UID
	fingerprint string
}

func newKeyLimits() *keyLimits { return &keyLimits{} }

func (k *keyLimits) take(t *tenant.Tenant, fingerprint string, now time.Time) error {
	spec := t.RateLimit
	if spec == nil {
		return nil
	}
	burst := spec.RequestsPerSecond
	if spec.Burst != nil {
		burst = *spec.Burst
	}
	wait := k.limiters.take(limitedKey{t.UID, fingerprint}, rate.Limit(spec.RequestsPerSecond), int(burst), now)
	if wait > 0 {
		return tooMany(wait, "Too many requests with this API key; wait, or ask the operator to raise spec.api.rateLimit")
	}
	return nil
}
