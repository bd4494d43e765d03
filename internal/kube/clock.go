// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"net/http"
	"sync"
	"time"
)

const (
	// clockResolution of the Date of an HTTP answer, which is cut off below.
	clockResolution = time.Second
	// clockTolerance is how far this machine's clock may be off before it is not believed.
	clockTolerance = 500 * time.Millisecond
	// clockDrift is how much two clocks may go apart in a time, as a part of it: more than any that is disciplined.
	clockDrift = 1.0 / 2000
	// clockSpread is how far the clocks of several API servers may be apart. An answer that disagrees by less is one of another
	// server, and nothing changes for it as long as others agree: clockSettle is how long none has to.
	clockSpread = 5 * time.Second
	clockSettle = 30 * time.Second
)

// Clock tells the time of this machine, as long as it agrees with that of the API server as far as their answers tell. The
// deadlines of meetings are counted in the API server's time, because it stamps Meetings when they are created. Where this
// machine's clock is wrong, nothing ends early. That the machine's clock is set while the process runs changes nothing.
type Clock struct {
	// began is the time of this machine's clock when monotonic was zero.
	began     time.Time
	monotonic func() time.Duration

	mu sync.Mutex
	// jumped is called after a jump of the cluster's time. It may be nil.
	jumped func()
	// The cluster's time when monotonic was zero lies between earliest and latest; both are zero until it was heard.
	earliest, latest time.Time
	// heardAt is when that was narrowed down last, agreedAt when an answer last agreed with it.
	heardAt, agreedAt time.Duration
}

// NewClock makes a clock that knows nothing but this machine's until it has heard of the cluster's.
func NewClock() *Clock {
	began := time.Now()
	return &Clock{began: began.Round(0), monotonic: func() time.Duration { return time.Since(began) }}
}

// Now is the time. Where this machine's clock disagrees with the cluster's, it is the earliest that the latter can show, which
// is late by a second at most.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := c.monotonic()
	if c.earliest.IsZero() || (!c.began.Before(c.earliest.Add(-clockTolerance)) && !c.began.After(c.latest.Add(clockTolerance))) {
		return c.began.Add(since)
	}
	return c.earliest.Add(since)
}

// OnJump has f called when time jumps, until stop is called: the cluster's clock was set, or this machine slept. A wait for a deadline does
// not follow the clock. There is one f at a time.
func (c *Clock) OnJump(f func()) (stop func()) {
	set := func(f func()) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.jumped = f
	}
	set(f)
	return func() { set(nil) }
}

// Transport hears the Date of every answer.
func (c *Clock) Transport(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		sent := c.monotonic()
		response, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if date, err := http.ParseTime(response.Header.Get("Date")); err == nil {
			if jumped := c.heard(sent, c.monotonic(), date); jumped != nil {
				jumped()
			}
		}
		return response, nil
	})
}

// heard keeps that the cluster's clock showed date, with a second cut off below, between two moments. Answers that agree
// narrow down what is known; one that does not, because a clock was set or this machine slept, begins again. The clocks of
// several API servers may differ by a second or two. The Clock follows one of them, so that time does not jump with each answer.
// What it returns is to be called then.
func (c *Clock) heard(sent, received time.Duration, date time.Time) (jumped func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := !c.earliest.IsZero()
	apart := time.Duration(float64(received-c.heardAt) * clockDrift)
	c.earliest, c.latest, c.heardAt = c.earliest.Add(-apart), c.latest.Add(apart), received
	earliest, latest := date.Add(-received), date.Add(clockResolution-sent)
	off := max(earliest.Sub(c.latest), c.earliest.Sub(latest))
	if off > 0 && off < clockSpread && received-c.agreedAt < clockSettle {
		return nil
	}
	c.agreedAt = received
	if off > 0 {
		c.earliest, c.latest = earliest, latest
		if known {
			return c.jumped
		}
		return nil
	}
	if earliest.After(c.earliest) {
		c.earliest = earliest
	}
	if latest.Before(c.latest) {
		c.latest = latest
	}
	return nil
}
