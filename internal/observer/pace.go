// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"errors"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"convene.dev/convene/internal/engine"
)

const (
	// DefaultCallsPerSecond is the budget of looks into rooms of one media server. A look into a room of ten costs
	// LiveKit 0.15 ms, so this is less than a tenth of a core.
	DefaultCallsPerSecond = 500
	// parallelLooks bounds looks into the rooms of one media server at once.
	parallelLooks = 32
	// leastCalls a second is what a media server that asks for fewer and fewer calls still gets.
	leastCalls = 1
	// recovery is in what time a pace that was slowed down doubles.
	recovery = 30 * time.Second
	// listShare and askShare are the parts of the budget that lists of rooms take at most, and questions who is
	// really in: the latter are beside the budget.
	listShare = 0.1
	askShare  = 0.1
)

// pace is how fast one media server is asked about its rooms: as fast as the budget allows, and slower where the server
// says that it is too fast.
type pace struct {
	greatest float64
	// inFlight has an element for each look that is on its way.
	inFlight chan struct{}

	mu sync.Mutex
	// looks and asks hold the calls that may be made now.
	looks, asks *rate.Limiter
	calls       float64 // a second
	// since is when calls was worked out; throttled says that the server has asked for fewer since then.
	since     time.Time
	throttled bool
}

func newPace(callsPerSecond int, now time.Time) *pace {
	calls := float64(callsPerSecond)
	return &pace{greatest: calls, calls: calls, inFlight: make(chan struct{}, parallelLooks), looks: limiter(calls), asks: limiter(calls * askShare), since: now}
}

// limiter lets the calls of one second be made at once.
func limiter(calls float64) *rate.Limiter {
	return rate.NewLimiter(rate.Limit(calls), max(int(calls), 1))
}

// set changes the pace. The caller holds the lock.
func (p *pace) set(now time.Time, calls float64) {
	p.calls = calls
	for limiter, calls := range map[*rate.Limiter]float64{p.looks: calls, p.asks: calls * askShare} {
		limiter.SetLimitAt(now, rate.Limit(calls))
		limiter.SetBurstAt(now, max(int(calls), 1))
	}
}

// take takes as many looks out of the budget as it has, and no more than are wanted.
func (p *pace) take(now time.Time, wanted int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recover(now)
	n := max(min(int(p.looks.TokensAt(now)), wanted), 0)
	p.looks.AllowN(now, n)
	return n
}

// recover lets a pace that was slowed down grow again.
func (p *pace) recover(now time.Time) {
	if p.calls < p.greatest && !p.throttled {
		p.set(now, min(p.calls*math.Exp2(now.Sub(p.since).Seconds()/recovery.Seconds()), p.greatest))
	}
	p.since, p.throttled = now, false
}

// heard slows down where an error of a call asks for that, once in a pass: calls that were on their way together are told
// so together.
func (p *pace) heard(err error) {
	if !errors.Is(err, engine.ErrTooManyCalls) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.throttled {
		p.throttled = true
		p.set(p.since, max(p.calls/2, leastCalls))
	}
}

func (p *pace) isThrottled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.throttled
}

// listEvery is the least time between two lists of rooms.
func (p *pace) listEvery() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	every := time.Duration(float64(time.Second) / (p.calls * listShare))
	return max(every, listEvery*9/10) // A tick may be a little early.
}

func (p *pace) mayAsk(now time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int(p.asks.TokensAt(now))
}

// ask takes questions out of their budget. A room in which many have to be asked for takes some in advance.
func (p *pace) ask(now time.Time, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ; n > 0; n -= p.asks.Burst() {
		p.asks.ReserveN(now, min(n, p.asks.Burst()))
	}
}
