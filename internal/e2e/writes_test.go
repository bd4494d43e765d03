// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// writes are the writes that the API server has taken, by what and how, as it counts them itself; without Events and Leases.
type writes map[string]int

func (w *world) writes(t testing.TB) writes {
	t.Helper()
	client, err := kubernetes.NewForConfig(w.Config)
	if err != nil {
		t.Fatal(err)
	}
	text, err := client.RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	all := writes{}
	for _, m := range families["apiserver_request_total"].GetMetric() {
		label := func(name string) string {
			i := slices.IndexFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == name })
			if i < 0 {
				return ""
			}
			return m.GetLabel()[i].GetValue()
		}
		verb, resource := label("verb"), label("resource")
		ours := resource == "meetings" || resource == "conferenceconfigs" || resource == "secrets"
		if ours && slices.Contains([]string{"POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"}, verb) && strings.HasPrefix(label("code"), "2") {
			all[strings.TrimSuffix(verb+" "+resource+"/"+label("subresource"), "/")] += int(m.GetCounter().GetValue())
		}
	}
	return all
}

// since are the writes after others.
func (w writes) since(before writes) writes {
	grown := writes{}
	for what, n := range w {
		if n > before[what] {
			grown[what] = n - before[what]
		}
	}
	return grown
}

func (w writes) sum() (n int) {
	for c := range maps.Values(w) {
		n += c
	}
	return n
}

// of are those to one resource.
func (w writes) of(resource string) writes {
	some := writes{}
	for what, n := range w {
		if strings.HasPrefix(strings.SplitN(what, " ", 2)[1], resource) {
			some[what] = n
		}
	}
	return some
}

// A meeting with two people costs at most ten writes from its creation until its object is gone, and none while nothing
// happens in it. Its ConferenceConfig counts what there is now, every three seconds at most however many meetings change.
func TestWritesInAMeetingsLife(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	// Nothing else writes to this control plane.
	cluster := testkit.OwnControlPlane(t)
	w := newWorldOn(t, cluster, func(a, _ *v1alpha1.ConferenceConfig) {
		a.Spec.Meetings = &v1alpha1.MeetingsSpec{TTLSecondsAfterEnded: ptr.To(int32(1))}
	})
	counted := func(meetings, people int32) func() error {
		return func() error {
			var c v1alpha1.ConferenceConfig
			if err := w.Client.Get(t.Context(), w.key("default"), &c); err != nil {
				return err
			}
			if c.Status.Meetings != meetings || c.Status.Participants != people {
				return fmt.Errorf("counted are %d meetings and %d people", c.Status.Meetings, c.Status.Participants)
			}
			return nil
		}
	}
	begun := w.writes(t)
	w.a.enter(map[string]any{"room": "life", "name": "Ada"})
	w.a.enter(map[string]any{"room": "life", "name": "Grace"})
	w.eventually(t, w.hasPeople("life", 2))
	w.eventually(t, counted(1, 2))
	settled := w.writes(t)
	looked := func() (n float64) {
		for _, m := range w.managers {
			n += value(metrics(t, m)["convene_media_server_call_duration_seconds"], map[string]string{"verb": "ListParticipants"})
		}
		return n
	}
	before := looked()
	w.eventually(t, func() error {
		if n := looked() - before; n < 3 {
			return fmt.Errorf("looked %v times", n)
		}
		return nil
	})
	if idle := w.writes(t).since(settled); idle.sum() > 0 {
		t.Errorf("written while nothing happened: %v", idle)
	}
	w.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/life", nil)
	w.eventually(t, func() error {
		if left := w.meetingsOf(t, "life"); len(left) > 0 {
			return errors.New("the object is still there")
		}
		return nil
	})
	w.eventually(t, counted(0, 0))
	all := w.writes(t).since(begun)
	t.Logf("%v", all)
	if its := all.of("meetings"); its.sum() > 10 || its["POST meetings"] != 1 || its["DELETE meetings"] != 1 {
		t.Errorf("%d writes: %v", its.sum(), its)
	}
	if n := all.of("conferenceconfigs").sum(); n < 1 || n > 4 {
		t.Errorf("counted %d times: %v", n, all)
	}
	if others := all.sum() - all.of("meetings").sum() - all.of("conferenceconfigs").sum(); others != 0 {
		t.Errorf("written besides: %v", all)
	}
}
