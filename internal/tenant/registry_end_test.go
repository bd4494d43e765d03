// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// A manager that was told to stop still serves for some seconds. A key that is revoked meanwhile must not work there.
func TestKeysAreFollowedUntilTheLastRequest(t *testing.T) {
	r := newRig(t, testkit.ControlPlane(t), nil, "")
	served := make(chan struct{})
	options := r.registry.options
	options.Served = served
	stopping := NewRegistry(options)
	r.registry = stopping
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- stopping.Start(ctx) }()
	keys := secret(r.Namespace, "keys", map[string]string{"current": strong})
	r.create(t, keys, r.config(r.Namespace, "a"))
	r.eventually(t, r.accepts(r.Namespace, "a", strong))
	stop()
	for _, key := range []string{"after-" + strong, "once-more-" + strong} {
		keys.StringData = map[string]string{"current": key}
		if err := r.Client.Update(t.Context(), keys); err != nil {
			t.Fatal(err)
		}
		r.eventually(t, r.accepts(r.Namespace, "a", key))
	}
	close(served)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A key that is replaced in a MediaServer's Secret is used by its tenants at once.
func TestANewKeyOfAMediaServerIsUsed(t *testing.T) {
	r := newRig(t, testkit.ControlPlane(t), nil, "")
	media := testkit.SecretFor(v1alpha1.UsedByMediaServer, r.Namespace, "livekit", map[string]string{"apiKey": "key-0", "apiSecret": strings.Repeat("s", 40)})
	config := r.config(r.Namespace, "a")
	config.Spec.MediaRefs = testkit.MediaRefs("livekit")
	r.create(t, secret(r.Namespace, "keys", map[string]string{"current": strong}), media, testkit.MediaServer(r.Namespace, "http://livekit:7880"), config)
	for _, key := range []string{"key-0", "key-1", "key-2"} {
		if key != "key-0" {
			media.StringData = map[string]string{"apiKey": key}
			if err := r.Client.Update(t.Context(), media); err != nil {
				t.Fatal(err)
			}
		}
		r.eventually(t, func() error {
			tenants := r.registry.All()
			if len(tenants) != 1 || len(tenants[0].Media) != 1 || tenants[0].Media[0].Server.Key != key {
				return fmt.Errorf("the key %s is not in use", key)
			}
			return nil
		})
	}
}
