// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"convene.dev/convene/api/v1alpha1"
)

const (
	// gather is how long the first change of who is in waits for others.
	gather = 600 * time.Millisecond
	// between is the least time between two writes of who is in.
	between = 2 * time.Second
)

// coalescer makes one status write of a burst of people who come and go. What it remembers is no more than a reason to
// wait: lost, it costs a write.
type coalescer struct {
	mu sync.Mutex
	// since is when a change was first seen that is not written yet, last when one was written.
	since, last map[types.UID]time.Time
}

func newCoalescer() *coalescer {
	return &coalescer{since: map[types.UID]time.Time{}, last: map[types.UID]time.Time{}}
}

// hold says how long to wait before the status is written; zero is now.
func (c *coalescer) hold(m *v1alpha1.Meeting, to v1alpha1.MeetingStatus, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !onlyPeople(m.Status, to) {
		delete(c.since, m.UID)
		return 0
	}
	since, waiting := c.since[m.UID]
	if !waiting {
		since = now
		c.since[m.UID] = now
	}
	due := since.Add(gather)
	if next := c.last[m.UID].Add(between); next.After(due) {
		due = next
	}
	if wait := due.Sub(now); wait > 0 {
		return wait
	}
	delete(c.since, m.UID)
	c.last[m.UID] = now
	return 0
}

// forget drops what is kept of a Meeting that is over.
func (c *coalescer) forget(uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.since, uid)
	delete(c.last, uid)
}

// onlyPeople: nothing has changed but who is in, and what follows from that.
func onlyPeople(from, to v1alpha1.MeetingStatus) bool {
	if from.Phase != v1alpha1.MeetingActive || to.Phase != v1alpha1.MeetingActive {
		return false
	}
	for _, s := range []*v1alpha1.MeetingStatus{&from, &to} {
		*s = *s.DeepCopy()
		s.Participants, s.ParticipantCount, s.StartTime, s.ExpiryTime = nil, 0, nil, nil
		meta.RemoveStatusCondition(&s.Conditions, v1alpha1.ConditionOccupied)
	}
	return equality.Semantic.DeepEqual(from, to)
}
