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
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// TestAttackByLargeSecrets: ConferenceConfigs of a namespace name 112 Secrets of a megabyte, all of which change. The managers hold as many as
// the namespace has memory for, and read no more than some at once: while they run, and when they start.
func TestAttackByLargeSecrets(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	one, two := newTeams(t, chartsMemory.Env...)
	const configs, each = 7, 16
	before := heldMemory(t, one.manager.PID())
	holds := func(what string, do func()) {
		t.Helper()
		forgetPeak(t, one.manager.PID())
		do()
		two.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "after " + what})
		<-time.After(5 * time.Second)
		held, peak := heldMemory(t, one.manager.PID()), peakMemory(t, one.manager.PID())
		t.Logf("%s: %.0f MB, %.0f at most, %.0f before", what, held, peak, before)
		if peak-before > 80 {
			t.Errorf("%s: %.0f MB at most, %.0f before", what, peak, before)
		}
	}
	write := func(text string) {
		inParallel(t, configs*each, func(i int) error {
			s := one.secret(fmt.Sprint("large-", i-1), map[string]string{"key": strings.Repeat(text, 1<<20-100)})
			if err := one.kube.Create(context.Background(), s); !apierrors.IsAlreadyExists(err) {
				return err
			}
			s.ResourceVersion = ""
			return one.kube.Update(context.Background(), s)
		})
	}
	write("k")
	holds("Secrets that are named", func() {
		for i := range configs {
			c := one.config(fmt.Sprint("many-", i))
			c.Spec.BaseURL, c.Spec.MediaRefs = fmt.Sprintf("https://many-%d.one.example.com", i), nil
			c.Spec.API.KeySecretRefs = nil
			for k := range each {
				c.Spec.API.KeySecretRefs = append(c.Spec.API.KeySecretRefs, v1alpha1.SecretKeyReference{Name: fmt.Sprint("large-", i*each+k), Key: "key"})
			}
			if err := one.kube.Create(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
	})
	holds("all change", func() { write("x") })
	holds("all become small", func() { write("") })
	holds("and large again", func() { write("y") })
	one.manager.Stop()
	one.manager.Start(t)
	holds("at a start", func() {})
}
