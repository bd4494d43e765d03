// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	register := promauto.With(r)
	return &metrics{
		requests: register.NewCounterVec(prometheus.CounterOpts{
			Name: "convene_http_requests_total",
			Help: "Requests to the API by endpoint, \"unknown\" where there is none, and HTTP status.",
		}, []string{"endpoint", "code"}),
		duration: register.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "convene_http_request_duration_seconds",
			Help:    "Time from a request's header to the end of its answer. meetingEnd waits for people to leave.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"endpoint"}),
	}
}

func (m *metrics) observe(endpoint string, status int, took time.Duration) {
	m.requests.WithLabelValues(endpoint, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(endpoint).Observe(took.Seconds())
}
