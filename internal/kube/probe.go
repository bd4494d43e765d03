// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
)

const (
	probeEvery   = 10 * time.Second
	probeTimeout = 5 * time.Second
)

// Probe asks the API server from time to time whether it answers. What this replica serves from its cache may be as old as
// the last answer.
type Probe struct {
	api       client.Reader // without a cache
	namespace string
	last      atomic.Pointer[time.Time]
}

// NewProbe asks through a reader without a cache about a namespace, or about all of them.
func NewProbe(api client.Reader, namespace string) *Probe {
	return &Probe{api: api, namespace: namespace}
}

// NeedLeaderElection is false: every replica serves from its cache.
func (*Probe) NeedLeaderElection() bool { return false }

// Start asks until the context ends.
func (p *Probe) Start(ctx context.Context) error {
	wait.UntilWithContext(ctx, p.ask, probeEvery)
	return nil
}

func (p *Probe) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	asked := time.Now()
	var one v1alpha1.ConferenceConfigList
	if err := p.api.List(ctx, &one, client.InNamespace(p.namespace), client.Limit(1)); err == nil {
		p.last.Store(&asked)
	}
}

// Age is the metric convene_cache_age_seconds.
func (p *Probe) Age() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "convene_cache_age_seconds",
		Help: "Time since the API server last answered this replica: what it serves from its cache may be that old.",
	}, func() float64 {
		if last := p.last.Load(); last != nil {
			return time.Since(*last).Seconds()
		}
		return math.NaN()
	})
}
