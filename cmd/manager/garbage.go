// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/cache"
)

const (
	// leastGarbage is what may lie on the heap beside what is in use, in bytes, and leastPercent as a part of that. Of a
	// large heap most is the cache, which hardly changes: Go's own setting of 100 % would double it. Of a small one that
	// would be little, and would be collected all the time.
	leastGarbage = 24 << 20
	leastPercent = 40
	// mostPercent is for a heap that is still empty.
	mostPercent = 400
	weighEvery  = 10 * time.Second
)

// garbage lets garbage lie as befits what is in use, unless the operator has set GOGC.
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
	tick := time.NewTicker(weighEvery)
	defer tick.Stop()
	for set := 0; ; {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		// To set it stops the program for a moment.
		if want := allowed(live[0].Value.Uint64()); want != set {
			debug.SetGCPercent(want)
			set = want
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// allowed is how much garbage may lie beside so much that is in use, in percent, in steps of ten.
func allowed(live uint64) int {
	percent := mostPercent
	if live > 0 {
		percent = min(int(leastGarbage*100/live), mostPercent)
	}
	return max(percent/10*10, leastPercent)
}
