// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"convene.dev/convene/api/v1alpha1"
)

// endings tells the metric of which the test is.
type endings struct{ Gauges }

// Describe names it.
func (endings) Describe(to chan<- *prometheus.Desc) { to <- endingFor }

// Collect tells it and what comes with it.
func (e endings) Collect(to chan<- prometheus.Metric) {
	all := make(chan prometheus.Metric, 100)
	_ = e.collectMeetings(context.Background(), all)
	close(all)
	for m := range all {
		if m.Desc() == endingFor {
			to <- m
		}
	}
}

// One end after another is no alarm; one that goes on is.
func TestHowLongAnEndTakes(t *testing.T) {
	meeting := func(config string, phase v1alpha1.MeetingPhase, since time.Duration) (m v1alpha1.Meeting) {
		m.Namespace, m.Spec.ConfigRef.Name, m.Status.Phase = "ns", config, phase
		m.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReconciling, LastTransitionTime: metav1.NewTime(monday.Add(-since))}}
		return m
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(endings{Gauges{Now: func() time.Time { return monday }, Cache: listed{meetings: []v1alpha1.Meeting{
		meeting("quick", v1alpha1.MeetingEnding, time.Second), meeting("quick", v1alpha1.MeetingEnded, time.Hour),
		meeting("stuck", v1alpha1.MeetingEnding, time.Second), meeting("stuck", v1alpha1.MeetingEnding, time.Hour),
		meeting("idle", v1alpha1.MeetingActive, time.Hour),
	}}}})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		got[labelOf(m)] = m.GetGauge().GetValue()
	}
	if diff := cmp.Diff(map[string]float64{"ns/quick": 1, "ns/stuck": 3600, "ns/idle": 0}, got); diff != "" {
		t.Errorf("seconds (-want +got):\n%s", diff)
	}
}

func labelOf(m *dto.Metric) string { return m.GetLabel()[0].GetValue() }
