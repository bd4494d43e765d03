// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

const (
	clockStepCheck = time.Second
	// clockStepLimit is how far the clock may be off from one check to the next before it counts as set.
	clockStepLimit = 500 * time.Millisecond
)

// ClockSteps wakes every Meeting after the clock was set: a wait for a deadline does not follow the clock.
type ClockSteps struct {
	Meetings client.Reader
	Now      func() time.Time
	Wake     func(*v1alpha1.Meeting)
}

// Start compares the clock with time that passes until the context ends.
func (j *ClockSteps) Start(ctx context.Context) error {
	clock, began := j.Now(), time.Now()
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		now := j.Now()
		if step := now.Sub(clock) - time.Since(began); step.Abs() > clockStepLimit {
			j.wakeAll(ctx)
		}
		clock, began = now, time.Now()
	}, clockStepCheck)
	return nil
}

func (j *ClockSteps) wakeAll(ctx context.Context) {
	var all v1alpha1.MeetingList
	if err := j.Meetings.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return // The cache has been stopped.
	}
	for i := range all.Items {
		j.Wake(&all.Items[i])
	}
}
