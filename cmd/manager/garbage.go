// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

const (
	// leastGarbage is how much garbage the heap may hold at least, in bytes, and leastPercent the same as a part of what is in use.
	// Most of a large heap is the cache, which hardly changes: Go's own setting of 100 % would double it. In a small heap, the
	// same part would be little garbage, and would be collected all the time.
	leastGarbage = 24 << 20
	leastPercent = 40
	// mostPercent is for a heap that is still empty.
	mostPercent = 400
	weighEvery  = 10 * time.Second
)

// garbage sets how much garbage the heap may hold, by how much of it is in use, unless the operator has set GOGC.
type garbage struct{ cache cache.Cache }

// NeedLeaderElection is false: every replica has a cache.
func (garbage) NeedLeaderElection() bool { return false }

// Start weighs what is in use until the context ends. What filling the caches took is given back first.
func (g garbage) Start(ctx context.Context) error {
	if g.cache.WaitForCacheSync(ctx) {
		debug.FreeOSMemory()
	}
	if os.Getenv("GOGC") != "" {
		return nil
	}
	set := 0
	wait.UntilWithContext(ctx, func(context.Context) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		// To set it stops the program for a moment.
		if want := allowed(live[0].Value.Uint64()); want != set {
			debug.SetGCPercent(want)
			set = want
		}
	}, weighEvery)
	return nil
}

// allowed is how much garbage the heap may hold while so many bytes are in use, in percent of them, in steps of ten.
func allowed(live uint64) int {
	percent := mostPercent
	if live > 0 {
		percent = min(int(leastGarbage*100/live), mostPercent)
	}
	return max(percent/10*10, leastPercent)
}
