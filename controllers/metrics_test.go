// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/conference"
	"convene.dev/convene/internal/directory"
	"convene.dev/convene/internal/httpapi"
	"convene.dev/convene/internal/httpserver"
	"convene.dev/convene/internal/meeting"
	"convene.dev/convene/internal/tenant"
	"convene.dev/convene/internal/testkit/faultyengine"
)

// endings is the metric under test, of some Meetings.
type endings []directory.Phases

// Describe names it.
func (endings) Describe(to chan<- *prometheus.Desc) { to <- endingFor }

// Collect tells it.
func (e endings) Collect(to chan<- prometheus.Metric) {
	all := make(chan prometheus.Metric, 100)
	Gauges{Now: func() time.Time { return monday }, Meetings: e}.collectMeetings(all)
	close(all)
	for m := range all {
		if m.Desc() == endingFor {
			to <- m
		}
	}
}

// Totals are of nothing.
func (endings) Totals(*tenant.Tenant) meeting.Totals { return meeting.Totals{} }

// Phases are the Meetings.
func (e endings) Phases() []directory.Phases { return e }

// One end after another is no alarm; one that goes on is.
func TestHowLongAnEndTakes(t *testing.T) {
	of := func(config string, ending ...time.Duration) directory.Phases {
		p := directory.Phases{Config: types.NamespacedName{Namespace: "ns", Name: config}}
		for _, since := range ending {
			m := &v1alpha1.Meeting{}
			m.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReconciling, LastTransitionTime: metav1.NewTime(monday.Add(-since))}}
			p.Ending = append(p.Ending, m)
		}
		return p
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(endings{of("quick", time.Second), of("stuck", time.Second, time.Hour), of("idle")})
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

// The participants of a meeting that is ending are on their way out: no total has them, and all totals agree.
func TestNoTotalHasTheParticipantsOfAnEndingMeeting(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	ending, live := w.meeting("ending"), w.meeting("live")
	w.enter(c, live, "bob", "cy")
	w.enter(c, ending, "anna")
	w.is("live", v1alpha1.MeetingActive, people(2))
	w.is("ending", v1alpha1.MeetingActive, people(1))
	w.engine.Break("close", faultyengine.ErrUnavailable)
	w.patch(ending, `{"spec":{"end":{}}}`)
	w.is("ending", v1alpha1.MeetingEnding, people(1))
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(w.gauges)
	w.eventually(func() error {
		w.must(w.Client.Get(t.Context(), client.ObjectKeyFromObject(c), c))
		got := map[string]int{
			"GET stats": w.statsUsers(), "status": int(c.Status.Participants), "metric": participantsMetric(t, registry),
		}
		if diff := cmp.Diff(map[string]int{"GET stats": 2, "status": 2, "metric": 2}, got); diff != "" {
			return fmt.Errorf("participants (-want +got):\n%s", diff)
		}
		return nil
	})
}

// statsUsers is what GET stats counts.
func (w *world) statsUsers() int {
	w.t.Helper()
	meetings := struct {
		*directory.Directory
		*conference.Service
	}{w.directory, conference.New(w.Client, w.directory, w.now)}
	request := httptest.NewRequestWithContext(w.t.Context(), http.MethodGet, "https://x.example/api/v1/stats", nil)
	request.Header.Set("Authorization", "4d1f0c7be2a94b0f8e6a")
	recorder := httptest.NewRecorder()
	api := httpapi.New(httpapi.Options{Meetings: meetings})
	httpserver.NewRouter(httpserver.RouterOptions{Tenants: w.tenants, Log: logr.Discard()}, api).ServeHTTP(recorder, request)
	var stats struct{ TotalUsers int }
	if err := json.Unmarshal(recorder.Body.Bytes(), &stats); err != nil || recorder.Code != http.StatusOK {
		w.t.Fatalf("GET stats answers %d %s", recorder.Code, recorder.Body)
	}
	return stats.TotalUsers
}

// participantsMetric is the value of convene_participants, which has one tenant.
func participantsMetric(t *testing.T, registry prometheus.Gatherer) int {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "convene_participants" {
			return int(f.GetMetric()[0].GetGauge().GetValue())
		}
	}
	t.Fatal("there is no metric of participants")
	return 0
}

func labelOf(m *dto.Metric) string { return m.GetLabel()[0].GetValue() }
