// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
)

// What the controllers of this process have done. One process may run several sets of controllers, one after another.
var (
	statusWrites = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "convene_status_writes_total",
		Help: "Statuses written to the API server, by kind.",
	}, []string{"kind"})
	meetingsEnded = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "convene_meetings_ended_total",
		Help: fmt.Sprintf("Meetings that ended, by reason: %v.", meeting.EndReasons()),
	}, []string{"reason"})
	firstArrivals = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "convene_meeting_first_arrival_seconds",
		Help:    "Time from the creation of a Meeting until the first participant was seen in it.",
		Buckets: []float64{1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 4 * 3600, 24 * 3600},
	})
)

// Metrics are the counters of what the controllers did, to be registered once.
func Metrics() []prometheus.Collector {
	return []prometheus.Collector{statusWrites, meetingsEnded, firstArrivals}
}

// countChange counts what the status of a Meeting came to say.
func countChange(m *v1alpha1.Meeting, was v1alpha1.MeetingStatus) {
	if is := m.Status; is.Phase == v1alpha1.MeetingEnded && was.Phase != is.Phase {
		meetingsEnded.WithLabelValues(string(is.EndReason)).Inc()
	}
	if is := m.Status; is.StartTime != nil && was.StartTime == nil {
		firstArrivals.Observe(max(is.StartTime.Sub(m.CreationTimestamp.Time), 0).Seconds())
	}
}

// gatherTimeout bounds one look at the cache for the gauges.
const gatherTimeout = 5 * time.Second

var (
	meetingsNow = prometheus.NewDesc("convene_meetings",
		"Meetings now, by ConferenceConfig and phase. Only the leader reports it.", []string{"tenant", "phase"}, nil)
	participantsNow = prometheus.NewDesc("convene_participants",
		"Participants in live meetings now, by ConferenceConfig, as GET stats and its status count them. Only the leader reports it.", []string{"tenant"}, nil)
	endingFor = prometheus.NewDesc("convene_meeting_ending_seconds",
		"Longest time that a Meeting has been ending, by ConferenceConfig. Only the leader reports it.", []string{"tenant"}, nil)
	configReady = prometheus.NewDesc("convene_config_ready",
		"1 while a ConferenceConfig is Ready, 0 while it is not, with the reason. Only the leader reports it.", []string{"tenant", "reason"}, nil)
	fieldsMissing = prometheus.NewDesc("convene_crds_missing_fields",
		"Fields that this version of Convene knows and the cluster's CRDs lack. Only the leader reports it.", nil, nil)
	engineReachable = prometheus.NewDesc("convene_media_server_reachable",
		"1 while LiveKit answers, 0 while it does not, by address. Only the leader reports it.", []string{"media_server"}, nil)
)

// Gauges describe the present: they are computed when they are scraped.
type Gauges struct {
	Cache   client.Reader
	Tenants interface{ All() []*tenant.Tenant }
	// Meetings counts those of each tenant.
	Meetings interface {
		Totals(*tenant.Tenant) meeting.Totals
		Phases() []directory.Phases
	}
	// Reachable says of each address of a media server whether it answers.
	Reachable func() map[string]bool
	// MissingFields lists the fields that the cluster's CRDs lack, if that is known yet.
	MissingFields func() (fields []string, known bool)
	Now           func() time.Time
}

// Describe names what Collect reports.
func (Gauges) Describe(to chan<- *prometheus.Desc) {
	to <- meetingsNow
	to <- participantsNow
	to <- endingFor
	to <- configReady
	to <- engineReachable
	to <- fieldsMissing
}

// Collect takes the totals of the tenants, and asks the observer about engines.
func (g Gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), gatherTimeout)
	defer cancel()
	for at, reachable := range g.Reachable() {
		to <- prometheus.MustNewConstMetric(engineReachable, prometheus.GaugeValue, oneIf(reachable), at)
	}
	if missing, known := g.MissingFields(); known {
		to <- prometheus.MustNewConstMetric(fieldsMissing, prometheus.GaugeValue, float64(len(missing)))
	}
	for _, t := range g.Tenants.All() {
		to <- prometheus.MustNewConstMetric(participantsNow, prometheus.GaugeValue, float64(g.Meetings.Totals(t).Users), tenantName(t.Namespace, t.Name))
	}
	if err := g.collectConfigs(ctx, to); err != nil {
		to <- prometheus.NewInvalidMetric(configReady, err)
	}
	g.collectMeetings(to)
}

func (g Gauges) collectConfigs(ctx context.Context, to chan<- prometheus.Metric) error {
	var all v1alpha1.ConferenceConfigList
	if err := g.Cache.List(ctx, &all, client.UnsafeDisableDeepCopy); err != nil {
		return err
	}
	for i := range all.Items {
		c := &all.Items[i]
		ready := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil {
			continue // Not looked at yet.
		}
		to <- prometheus.MustNewConstMetric(configReady, prometheus.GaugeValue,
			oneIf(ready.Status == metav1.ConditionTrue), tenantName(c.Namespace, c.Name), ready.Reason)
	}
	return nil
}

func (g Gauges) collectMeetings(to chan<- prometheus.Metric) {
	now := g.Now()
	for _, of := range g.Meetings.Phases() {
		name := tenantName(of.Config.Namespace, of.Config.Name)
		for phase, n := range of.Counts {
			to <- prometheus.MustNewConstMetric(meetingsNow, prometheus.GaugeValue, float64(n), name, string(phase))
		}
		ending := 0.0
		for _, m := range of.Ending {
			ending = max(ending, secondsEnding(m, now))
		}
		to <- prometheus.MustNewConstMetric(endingFor, prometheus.GaugeValue, ending, name)
	}
}

// secondsEnding is for how long a Meeting has been ending.
func secondsEnding(m *v1alpha1.Meeting, now time.Time) float64 {
	c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReconciling)
	if c == nil {
		return 0
	}
	return max(now.Sub(c.LastTransitionTime.Time).Seconds(), 0)
}

// tenantName is namespace/name of a ConferenceConfig in one label, because Prometheus has a use of its own for a label
// that is called namespace.
func tenantName(namespace, config string) string { return namespace + "/" + config }

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
