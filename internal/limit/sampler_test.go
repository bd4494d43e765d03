// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSampler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		reported := map[string]int{}
		s := NewSampler(SamplerOptions{Window: time.Minute, Each: 3, Total: 10, Keys: 4}, func(key string, dropped int) {
			mu.Lock()
			defer mu.Unlock()
			reported[key] += dropped
		})
		passed := map[string]int{}
		event := func(key string) {
			if s.Allow(key) {
				passed[key]++
			}
		}
		for range 10 {
			event("a")
		}
		event("b")
		for i := range 10 {
			event(fmt.Sprint("many-", i))
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the clock of synctest
		synctest.Wait()
		// Two keys are left of four; the others count together.
		if want := (map[string]int{"a": 3, "b": 1, "many-0": 1, "many-1": 1}); !maps.Equal(passed, want) {
			t.Errorf("passed %v, want %v", passed, want)
		}
		if want := (map[string]int{"a": 7, "": 8}); !maps.Equal(reported, want) {
			t.Errorf("reported %v, want %v", reported, want)
		}
		if len(s.all) != 0 {
			t.Errorf("%d keys are remembered after their window", len(s.all))
		}
		if !s.Allow("a") {
			t.Error("an event of the next window is dropped")
		}
		for i := range 3 {
			for range 3 {
				s.Allow(fmt.Sprint(i))
			}
		}
		if s.Allow("3") {
			t.Error("there is no bound over all keys")
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the clock of synctest
	})
}
