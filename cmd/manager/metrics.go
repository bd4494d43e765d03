// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/prometheus/client_golang/prometheus"

// buildInfo tells which build runs.
func buildInfo() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "convene_build_info",
		Help:        "Always 1; the labels say which build this is.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit},
	}, func() float64 { return 1 })
}
