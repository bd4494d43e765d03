// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

const (
	jumpCheck = time.Second
	// jumpLimit is how far the clock may be off from one check to the next before it counts as set.
	jumpLimit = 500 * time.Millisecond
)

// Jumps wakes every Meeting after the clock was set: alarms are waits, which do not follow it.
type Jumps struct {
	Meetings client.Reader
	Now      func() time.Time
	Wake     func(*v1alpha1.Meeting)
}

// Start compares the clock with time that passes until the context ends.
func (j *Jumps) Start(ctx context.Context) error {
	tick := time.NewTicker(jumpCheck)
	defer tick.Stop()
	clock, began := j.Now(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := j.Now()
		if jump := now.Sub(clock) - time.Since(began); jump.Abs() > jumpLimit {
			j.wakeAll(ctx)
		}
		clock, began = now, time.Now()
	}
}

func (j *Jumps) wakeAll(ctx context.Context) {
	var all v1alpha1.MeetingList
	if err := j.Meetings.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return // The cache has been stopped.
	}
	for i := range all.Items {
		j.Wake(&all.Items[i])
	}
}
