// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"convene.dev/convene/internal/engine"
)

// A webhook reaches any replica. Only the replica that leads takes it for a hint.
func TestHintsAreTakenWhileThisReplicaLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h hints
		var taken []engine.RoomName
		h.give("before")
		for range 2 {
			ctx, stop := context.WithCancel(t.Context())
			go h.to(ctx, func(room engine.RoomName) { taken = append(taken, room) })
			synctest.Wait()
			h.give("while")
			stop()
			synctest.Wait()
			h.give("after")
		}
		if want := []engine.RoomName{"while", "while"}; !slices.Equal(taken, want) {
			t.Errorf("taken are %q, want %q", taken, want)
		}
	})
}
