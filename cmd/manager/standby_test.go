// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

const (
	keyBefore = "key-before-0123456789-0123456789"
	keyAfter  = "key-after-0123456789-0123456789"
)

// A replica that stands by runs no controller that would take what changes. It follows tenants all the same, however many
// changes there were: a key that is removed has to stop there too.
func TestAReplicaThatStandsByFollowsTenants(t *testing.T) {
	const changes = 100_000
	r := newReplica(t)
	r.heldByAnother()
	keys := testkit.SecretFor(v1alpha1.UsedByConferenceConfig, r.Namespace, "keys", map[string]string{"current": keyBefore})
	r.Create(t, keys)
	r.run(controllerRunner{r.parts}.lead)
	testkit.Eventually(t, patience, func() error {
		if r.asked.Load() == 0 {
			return errors.New("it does not ask for the Lease")
		}
		return nil
	})
	often, other := r.tenantOf("often"), r.tenantOf("other")
	r.configs.set(other, 1)
	r.accepts(client.ObjectKeyFromObject(other), keyBefore, true)
	generation := int64(0)
	keepsNothing(t, changes/2, 16, func(times int) {
		for range times {
			generation++
			r.configs.set(often, generation)
			r.served(client.ObjectKeyFromObject(often), generation)
		}
	})
	for i, key := range []string{keyAfter, keyBefore, keyAfter} {
		keys.StringData = map[string]string{"current": key}
		must(t, r.Client.Update(t.Context(), keys))
		r.accepts(client.ObjectKeyFromObject(other), key, true)
		r.configs.set(other, int64(i+2))
		r.served(client.ObjectKeyFromObject(other), int64(i+2))
	}
	r.accepts(client.ObjectKeyFromObject(other), keyBefore, false)
	if r.hints.receiver.Load() != nil {
		t.Error("it leads")
	}
}
