// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// TestAttackByLargeMeetingsOfARoom: a room has 200 Meetings of 250 KiB, and people ask to enter it, eight at once. They read past the caches no
// more than their namespace has memory for, and another team notices nothing.
func TestAttackByLargeMeetingsOfARoom(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	one, two := newTeams(t, chartsMemory.Env...)
	inParallel(t, 200, func(i int) error {
		m := &v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{
			Namespace: one.Namespace, Name: fmt.Sprint("same-", i), Annotations: map[string]string{"notes": strings.Repeat("n", 250<<10)},
		}}
		m.Spec.Room, m.Spec.ConfigRef.Name = "same", "nowhere"
		return one.kube.Create(context.Background(), m)
	})
	pid := one.manager.PID()
	one.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "another"})
	before := heldMemory(t, pid)
	forgetPeak(t, pid)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 8 {
				if got := one.a.call("POST", "/session", map[string]any{"room": "same", "name": "Eve"}); got.status != http.StatusServiceUnavailable {
					t.Errorf("%d %s", got.status, got.raw)
				}
			}
		})
	}
	two.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "beside"})
	all.Wait()
	one.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "another"})
	peak := peakMemory(t, pid)
	t.Logf("%.0f MB at most, %.0f before", peak, before)
	if peak-before > 150 {
		t.Errorf("%.0f MB at most, %.0f before", peak, before)
	}
}
