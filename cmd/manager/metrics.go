// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// buildInfo tells which build runs.
func buildInfo() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "convene_build_info",
		Help:        "Always 1; the labels say which build this is.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit},
	}, func() float64 { return 1 })
}

// leaderMetrics has a collector registered while this replica leads.
type leaderMetrics struct {
	to prometheus.Registerer
	prometheus.Collector
}

// Start registers the collector until the context ends.
func (t leaderMetrics) Start(ctx context.Context) error {
	if err := t.to.Register(t.Collector); err != nil {
		return err
	}
	<-ctx.Done()
	t.to.Unregister(t.Collector)
	return nil
}
