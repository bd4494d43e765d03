// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

// Load is how much of the machine a test takes while it runs.
type Load int

const (
	// Light is a test that mostly waits for deadlines and for other processes.
	Light Load = iota
	// Browsers is a test in which browsers show video. Pages that get no processor time miss their deadlines.
	Browsers
)

var (
	cores = runtime.GOMAXPROCS(0)
	// most is how many tests run at once at most: on a machine with many cores, all wait for the same API server.
	most = map[Load]int{Light: 3 * cores, Browsers: 2 * cores}
)

const (
	// settling is how long the machine's load is measured before another test begins. A test takes most of it as it begins.
	settling = time.Second
	// spare is the part of the processors' time that must be free for another test to begin.
	spare = 0.25
)

// Parallel has a test run beside others, once the machine has room for it. It comes first in a test: what the test starts
// is started afterwards, and ends before the next test gets its room.
func Parallel(t *testing.T, load Load) {
	t.Helper()
	t.Parallel()
	begin := make(chan struct{})
	waiting.add(load, begin)
	t.Cleanup(func() { waiting.ended(load) })
	<-begin
}

// queue holds the tests that wait for room, and counts those that run.
type queue struct {
	admit sync.Once

	mu      sync.Mutex
	tests   map[Load][]chan<- struct{}
	running map[Load]int
}

var waiting = queue{tests: map[Load][]chan<- struct{}{}, running: map[Load]int{}}

func (q *queue) add(load Load, begin chan<- struct{}) {
	q.mu.Lock()
	q.tests[load] = append(q.tests[load], begin)
	q.mu.Unlock()
	q.admit.Do(func() { go q.work() })
}

func (q *queue) ended(load Load) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running[load]--
}

// work lets tests begin, one after the other.
func (q *queue) work() {
	last := processorTime()
	for range time.Tick(settling) {
		now := processorTime()
		q.next(now.freeSince(last) > spare)
		last = now
	}
}

// next lets a test begin when the machine has time to spare, or no test for each core runs. The longest ones, those with browsers,
// come first.
func (q *queue) next(free bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !free && q.running[Light]+q.running[Browsers] >= cores {
		return
	}
	for _, load := range []Load{Browsers, Light} {
		if tests := q.tests[load]; len(tests) > 0 && q.running[load] < most[load] {
			q.tests[load] = tests[1:]
			q.running[load]++
			close(tests[0])
			return
		}
	}
}

// times are seconds that the processors were busy or idle since the machine started.
type times struct{ busy, idle float64 }

// processorTime is zero where the kernel does not tell: then there is never time to spare.
func processorTime() times {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return times{}
	}
	stat, err := proc.Stat()
	if err != nil {
		return times{}
	}
	c := stat.CPUTotal
	return times{busy: c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal, idle: c.Idle + c.Iowait}
}

// freeSince is the part of the time since before in which the processors were idle.
func (t times) freeSince(before times) float64 {
	busy, idle := t.busy-before.busy, t.idle-before.idle
	if busy+idle <= 0 {
		return 0
	}
	return idle / (busy + idle)
}
