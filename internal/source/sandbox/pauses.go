// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"maps"
	"sync"
	"time"
)

const (
	// firstPause doubles with each slow file, up to longestPause.
	firstPause   = time.Second
	longestPause = time.Minute
	// pauseMemory is how long after a pause the next one is still longer.
	pauseMemory = 10 * time.Minute
)

// pauses keep owners whose files are slow from the processor. They belong to the owner, not to the file: a file can change each
// time, and there can be any number.
type pauses struct {
	mu  sync.Mutex
	all map[string]pause
}

type pause struct {
	length time.Duration
	until  time.Time
}

// until is when the pause of an owner ends, or ended. It is zero for an owner without a pause.
func (p *pauses) until(owner string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[owner].until
}

// lengthen begins a pause, twice as long as the one before.
func (p *pauses) lengthen(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(p.all, func(_ string, old pause) bool { return now.Sub(old.until) > pauseMemory })
	length := min(max(firstPause, 2*p.all[owner].length), longestPause)
	p.all[owner] = pause{length: length, until: now.Add(length)}
}
