// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/httpserver"
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
	for _, variant := range []v1alpha1.Variant{v1alpha1.VariantA, v1alpha1.VariantB} {
		for _, e := range tenant.Endpoints(variant) {
			m.ready[e] = endpointMetrics{m.requests.WithLabelValues(string(e), "200"), m.duration.WithLabelValues(string(e))}
		}
	}
	return m
}

// observe counts a request.
func (m *metrics) observe(q *httpserver.Request) {
	e := unknownEndpoint
	if q.Route != nil {
		e = q.Route.Endpoint
	}
	ready, ok := m.ready[e]
	if !ok {
		ready.duration = m.duration.WithLabelValues(string(e))
	}
	ready.duration.Observe(q.Took().Seconds())
	if ok && q.Status() == http.StatusOK {
		ready.ok.Inc()
		return
	}
	m.requests.WithLabelValues(string(e), strconv.Itoa(q.Status())).Inc()
}
