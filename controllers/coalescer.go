// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/meeting"
)

const (
	// gather is how long the first change of the participants waits for others.
	gather = 600 * time.Millisecond
	// between is the least time between two writes of the participants, betweenDetails between two of microphones, cameras,
	// screens and hands alone.
	between        = 2 * time.Second
	betweenDetails = 10 * time.Second
	// arrivalBytes and detailBytes a second are what the writes of all Meetings together may take. etcd keeps ten minutes
	// of history: this is 300 MB of the 2 GB that it takes by default.
	arrivalBytes = 400_000
	detailBytes  = 100_000
	// statusBytes is the size of a Meeting, participantBytes what each participant who is listed adds.
	statusBytes      = 2_100
	participantBytes = 180
)

// coalescer makes one status write of a burst of people who come and go, and bounds the writes of all Meetings together:
// where there are too many, they are late, and then say what is so by then. What it remembers is no more than a reason to
// wait: lost, it costs a write.
type coalescer struct {
	mu sync.Mutex
	// waiting are changes that were seen and are not written yet, last when the ones before were written.
	waiting         map[types.NamespacedName]waiting
	last            map[types.NamespacedName]written
	arrivals, other *rate.Limiter
}

// waiting is since when a change waits, and when it is its turn among all Meetings; zero until it may be written but for
// those.
type waiting struct {
	kind        meeting.Change
	since, turn time.Time
}

type written struct{ any, detail time.Time }

func newCoalescer() *coalescer {
	return &coalescer{
		waiting: map[types.NamespacedName]waiting{}, last: map[types.NamespacedName]written{},
		arrivals: rate.NewLimiter(arrivalBytes, arrivalBytes), other: rate.NewLimiter(detailBytes, detailBytes),
	}
}

// hold says how long to wait before the status is written; zero is now, by monotonic time.
func (c *coalescer) hold(m *v1alpha1.Meeting, to v1alpha1.MeetingStatus, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	name, kind := types.NamespacedName{Namespace: m.Namespace, Name: m.Name}, meeting.ChangeOf(m.Status, to)
	if kind == meeting.OtherChange {
		delete(c.waiting, name)
		return 0
	}
	w, before := c.waiting[name]
	if !before {
		w.since = now
	}
	if w.kind != kind {
		w.kind, w.turn = kind, time.Time{}
	}
	due := c.due(name, w)
	if kind != meeting.FirstArrival && !due.After(now) {
		if w.turn.IsZero() {
			w.turn = now.Add(c.bucket(kind).ReserveN(now, sizeOf(to)).DelayFrom(now))
		}
		due = w.turn
	}
	if wait := due.Sub(now); wait > 0 {
		c.waiting[name] = w
		return wait
	}
	delete(c.waiting, name)
	last := c.last[name]
	if last.any = now; kind == meeting.DetailsChange {
		last.detail = now
	}
	c.last[name] = last
	return 0
}

// due is when a change may be written, but for those of other Meetings.
func (c *coalescer) due(name types.NamespacedName, w waiting) time.Time {
	due, last := w.since.Add(gather), c.last[name]
	if w.kind == meeting.SpecChange {
		due = w.since.Add(between) // What comes of it is written with it.
	}
	if next := last.any.Add(between); next.After(due) {
		due = next
	}
	if next := last.detail.Add(betweenDetails); w.kind == meeting.DetailsChange && next.After(due) {
		due = next
	}
	return due
}

// bucket is what the changes of all Meetings share. Details have one of their own: no arrival waits for them.
func (c *coalescer) bucket(kind meeting.Change) *rate.Limiter {
	if kind == meeting.DetailsChange {
		return c.other
	}
	return c.arrivals
}

func sizeOf(s v1alpha1.MeetingStatus) int {
	return statusBytes + participantBytes*(len(s.Participants)+len(s.Waiting))
}

// drop forgets a Meeting that is gone.
func (c *coalescer) drop(name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, name)
	delete(c.last, name)
}
