// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

const (
	contactEvery   = 10 * time.Second
	contactTimeout = 5 * time.Second
)

// contact asks the cluster's API from time to time whether it is there. What this replica serves from its cache may be
// as old as the last answer.
type contact struct {
	api       client.Reader // without a cache
	namespace string
	last      atomic.Pointer[time.Time]
}

// NeedLeaderElection is false: every replica serves from its cache.
func (*contact) NeedLeaderElection() bool { return false }

// Start asks until the context ends.
func (c *contact) Start(ctx context.Context) error {
	tick := time.NewTicker(contactEvery)
	defer tick.Stop()
	for {
		c.ask(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (c *contact) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, contactTimeout)
	defer cancel()
	asked := time.Now()
	var one v1alpha1.ConferenceConfigList
	if err := c.api.List(ctx, &one, client.InNamespace(c.namespace), client.Limit(1)); err == nil {
		c.last.Store(&asked)
	}
}

func (c *contact) age() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "convene_cache_age_seconds",
		Help: "Time since the cluster's API last answered this replica: what it serves from its cache may be that old.",
	}, func() float64 {
		if last := c.last.Load(); last != nil {
			return time.Since(*last).Seconds()
		}
		return math.NaN()
	})
}
