// SPDX-License-Identifier: Apache-2.0

package web

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"convene.dev/convene/api/v1alpha1"
)

type metrics struct {
	sessions, joins, signals, opened *prometheus.CounterVec
	connected                        prometheus.Gauge
	refused                          prometheus.Counter
}

func newMetrics(r prometheus.Registerer) *metrics {
	f := promauto.With(r)
	m := &metrics{
		sessions: f.NewCounterVec(prometheus.CounterOpts{
			Name: "convene_web_sessions_total",
			Help: "Requests for a session, by result: ok, waiting for one who has to wait, or the reason of the refusal.",
		}, []string{"result"}),
		joins: f.NewCounterVec(prometheus.CounterOpts{
			Name: "convene_web_joins_total",
			Help: "Sessions that were given, by what was presented: ticket, token, login, link, or an earlier session.",
		}, []string{"by"}),
		signals: f.NewCounterVec(prometheus.CounterOpts{
			Name: "convene_web_signal_connections_total",
			Help: "Signalling connections that pages asked for, by result: ok when let through, else the reason of the refusal or failure.",
		}, []string{"result"}),
		opened: f.NewCounterVec(prometheus.CounterOpts{
			Name: "convene_web_rooms_opened_total",
			Help: "Rooms without a meeting that a participant opened by entering them, by what let them: Ticket, User or Guest. See spec.meetings.adHoc.",
		}, []string{"by"}),
		refused: f.NewCounter(prometheus.CounterOpts{
			Name: "convene_web_signal_connections_refused_total",
			Help: "Signalling connections that were closed because the page sent what is not passed on to LiveKit.",
		}),
		connected: f.NewGauge(prometheus.GaugeOpts{
			Name: "convene_web_signal_connections",
			Help: "Signalling connections that are open through this replica.",
		}),
	}
	for _, by := range []string{v1alpha1.OpenedByTicket, v1alpha1.OpenedByUser, v1alpha1.OpenedByGuest} {
		m.opened.WithLabelValues(by) // Shown before the first, too.
	}
	return m
}
