// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// metrics reads what Prometheus would read of a manager.
func metrics(t *testing.T, m *testkit.ManagerProcess) map[string]*dto.MetricFamily {
	t.Helper()
	return metricsAt(t, m.MetricsURL)
}

func metricsAt(t *testing.T, url string) map[string]*dto.MetricFamily {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// value adds up the series of a metric with these labels; of a histogram, its count.
func value(family *dto.MetricFamily, labels map[string]string) (sum float64) {
	for _, m := range family.GetMetric() {
		matching := 0
		for _, l := range m.GetLabel() {
			if want, ok := labels[l.GetName()]; ok && want == l.GetValue() {
				matching++
			}
		}
		if matching == len(labels) {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return sum
}

// TestMetricsTellWhatHappened takes a meeting through its life and reads it in the metrics. Then it looks up whatever
// alerts and dashboard ask for.
func TestMetricsTellWhatHappened(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	cluster := testkit.ControlPlane(t)
	w := newWorldWith(t, cluster, testkit.ManagerOptions{Args: []string{"--leader-elect", "--leader-election-namespace", cluster.Namespace}},
		func(_, b *v1alpha1.ConferenceConfig) { b.Spec.MediaRefs = nil })
	w.a.enter(map[string]any{"room": "board", "name": "Ada"})
	w.Create(t, w.meeting("pending", func(s *v1alpha1.MeetingSpec) { s.ConfigRef.Name = "variant-b" }))
	if status, e := w.a.session(map[string]any{"room": "board", "name": "Eve", "ticket": "forged"}); status == http.StatusOK {
		t.Fatalf("a forged ticket opens the room: %+v", e)
	}
	a := w.Namespace + "/default"
	wants := func(name string, labels map[string]string, atLeast float64) {
		t.Helper()
		w.eventually(t, func() error {
			if got := value(metrics(t, w.manager)[name], labels); got < atLeast {
				return fmt.Errorf("%s%v is %v, want %v", name, labels, got, atLeast)
			}
			return nil
		})
	}
	wants("convene_meetings", map[string]string{"tenant": a, "phase": "Active"}, 1)
	wants("convene_meetings", map[string]string{"tenant": w.Namespace + "/variant-b", "phase": "Pending"}, 1)
	wants("convene_participants", map[string]string{"tenant": a}, 1)
	wants("convene_config_ready", map[string]string{"tenant": a, "reason": v1alpha1.ReasonServing}, 1)
	wants("convene_media_server_reachable", map[string]string{"media_server": w.livekit.URL}, 1)
	wants("convene_meeting_first_arrival_seconds", nil, 1)
	wants("convene_web_joins_total", map[string]string{"by": "ticket"}, 1)
	wants("convene_status_writes_total", map[string]string{"kind": "Meeting"}, 2)
	wants("convene_status_writes_total", map[string]string{"kind": "ConferenceConfig"}, 2)
	if age := value(metrics(t, w.manager)["convene_cache_age_seconds"], nil); age < 0 || age > 60 {
		t.Errorf("the cache is said to be %v s old", age)
	}
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/board", nil)
	wants("convene_meetings_ended_total", map[string]string{"reason": "Requested"}, 1)
	wants("convene_http_requests_total", map[string]string{"endpoint": "meetingEnd", "code": "200"}, 1)

	families := metrics(t, w.manager)
	documented := regexp.MustCompile("(?m)^\\| .*`convene_.*$").FindAllString(testkit.Documents(t)[filepath.Join("docs", "operate.md")], -1)
	names := regexp.MustCompile("`(convene_[a-z_]+)`").FindAllStringSubmatch(strings.Join(documented, "\n"), -1)
	for _, name := range names {
		if families[name[1]] == nil {
			t.Errorf("docs/operate.md names %s, which nobody tells", name[1])
		}
	}
	if len(names) < 15 {
		t.Errorf("docs/operate.md names %d metrics", len(names))
	}
	for where, expression := range expressions(t) {
		for _, problem := range unknown(families, expression) {
			t.Errorf("%s: %s", where, problem)
		}
	}

	w.livekit.Kill()
	w.eventually(t, func() error {
		family := metrics(t, w.manager)["convene_media_server_reachable"]
		if len(family.GetMetric()) != 1 || value(family, nil) != 0 {
			return fmt.Errorf("LiveKit is gone, and the metric says %v", family)
		}
		return nil
	})
}

// expressions are all that alerts and dashboard ask Prometheus.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	folder := filepath.Join(testkit.Root(t), "config", "components", "monitoring")
	var rule struct {
		Spec struct {
			Groups []struct {
				Rules []struct{ Alert, Expr string }
			}
		}
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	for file, into := range map[string]any{"rules.yaml": &rule, "dashboard.json": &dashboard} {
		raw, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(raw, into); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]string{}
	for _, g := range rule.Spec.Groups {
		for _, r := range g.Rules {
			all["alert "+r.Alert] = r.Expr
		}
	}
	for _, p := range dashboard.Panels {
		for i, target := range p.Targets {
			all[fmt.Sprintf("panel %s %d", p.Title, i)] = target.Expr
		}
	}
	if len(all) < 20 {
		t.Fatalf("only %d expressions were found", len(all))
	}
	return all
}

var (
	metricName = regexp.MustCompile(`\b(?:convene|controller_runtime|leader_election|process|workqueue)_[a-z0-9_]+(?:\{[^}]*\})?`)
	labelName  = regexp.MustCompile(`([a-z_]+)(?:=~|!~|!=|=)"`)
)

// unknown names what an expression asks for and nobody tells.
func unknown(families map[string]*dto.MetricFamily, expression string) (problems []string) {
	for _, selector := range metricName.FindAllString(expression, -1) {
		name, matchers, _ := strings.Cut(selector, "{")
		family := families[name]
		for _, part := range []string{"_bucket", "_count", "_sum"} {
			if base, ok := strings.CutSuffix(name, part); ok && family == nil {
				family = families[base]
			}
		}
		if len(family.GetMetric()) == 0 {
			problems = append(problems, "there is no metric "+name)
			continue
		}
		// Prometheus adds the namespace of what it scrapes, and one for several clusters adds the cluster.
		labels := map[string]bool{"namespace": true, "cluster": true}
		for _, l := range family.GetMetric()[0].GetLabel() {
			labels[l.GetName()] = true
		}
		for _, label := range labelName.FindAllStringSubmatch(matchers, -1) {
			if !labels[label[1]] {
				problems = append(problems, name+" has no label "+label[1])
			}
		}
	}
	return problems
}

// TestUnknownFindsWhatIsWrong: a check that finds nothing needs one.
func TestUnknownFindsWhatIsWrong(t *testing.T) {
	one, label := "convene_meetings", "tenant"
	families := map[string]*dto.MetricFamily{one: {Metric: []*dto.Metric{{Label: []*dto.LabelPair{{Name: &label}}}}}}
	for expression, problems := range map[string]int{
		`sum(convene_meetings{tenant="x"}) > 0`: 0,
		`sum(convene_meetings{tenent="x"}) > 0`: 1,
		`rate(convene_meeting_total[5m])`:       1,
	} {
		if got := unknown(families, expression); len(got) != problems {
			encoded, _ := json.Marshal(got)
			t.Errorf("%s: %s", expression, encoded)
		}
	}
}
