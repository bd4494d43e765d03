// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"convene.dev/convene/internal/tenant"
)

type metrics struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	// ready has what nearly every request needs, looked up beforehand.
	ready map[tenant.Endpoint]endpointMetrics
}

type endpointMetrics struct {
	ok       prometheus.Counter
	duration prometheus.Observer
}

// unknownEndpoint counts requests to what there is not.
const unknownEndpoint tenant.Endpoint = "unknown"

func newMetrics(r prometheus.Registerer) *metrics {
	register := promauto.With(r)
	m := &metrics{
		requests: register.NewCounterVec(prometheus.CounterOpts{
			Name: "convene_http_requests_total",
			Help: "Requests to the API by endpoint, \"unknown\" where there is none, and HTTP status.",
		}, []string{"endpoint", "code"}),
		duration: register.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "convene_http_request_duration_seconds",
			Help:    "Time from a request's header to the end of its answer. meetingEnd waits for people to leave.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"endpoint"}),
		ready: map[tenant.Endpoint]endpointMetrics{},
	}
	for i := range routes {
		e := routes[i].endpoint
		m.ready[e] = endpointMetrics{m.requests.WithLabelValues(string(e), "200"), m.duration.WithLabelValues(string(e))}
	}
	return m
}

func (m *metrics) observe(e tenant.Endpoint, status int, took time.Duration) {
	ready, ok := m.ready[e]
	if !ok {
		ready.duration = m.duration.WithLabelValues(string(e))
	}
	ready.duration.Observe(took.Seconds())
	if ok && status == http.StatusOK {
		ready.ok.Inc()
		return
	}
	m.requests.WithLabelValues(string(e), strconv.Itoa(status)).Inc()
}
