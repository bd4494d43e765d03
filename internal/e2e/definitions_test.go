// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// lateFields of Meetings are those that olderDefinitions lack.
var lateFields = map[string][]string{
	"spec":   {"admission", "locked", "participants", "policy"},
	"status": {"leftMediaServers", "mediaServer"},
}

// olderDefinitions are of a version without control of meetings and without the choice of a media server.
func olderDefinitions(t *testing.T) (older []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, o := range manifests.OfKind(manifests.Helm(t, "default"), "CustomResourceDefinition") {
		crd := manifests.As[apiextensionsv1.CustomResourceDefinition](t, o)
		if crd.Spec.Names.Kind == "Meeting" {
			for part, fields := range lateFields {
				for _, field := range fields {
					delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[part].Properties, field)
				}
			}
		}
		older = append(older, crd)
	}
	return older
}

// TestOlderDefinitions: where the cluster's CRDs are older than the manager, no decision is lost in silence. Decisions that cannot
// be stored are refused, all else goes on, and the operator is told, until the definitions are those of the manager.
func TestOlderDefinitions(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	cluster := testkit.EmptyControlPlane(t, func(e *envtest.Environment) { e.CRDs = olderDefinitions(t) })
	w := newWorldWith(t, cluster, testkit.ManagerOptions{}, controlled)
	outdated := func(want bool) {
		t.Helper()
		testkit.Eventually(t, 2*patience, func() error {
			var c v1alpha1.ConferenceConfig
			if err := w.Client.Get(t.Context(), w.key("default"), &c); err != nil {
				return err
			}
			if !meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionReady) {
				return fmt.Errorf("not ready: %+v", c.Status.Conditions)
			}
			found := meta.FindStatusCondition(c.Status.Conditions, v1alpha1.ConditionCRDsOutdated)
			missing := value(metrics(t, w.manager)["convene_crds_missing_fields"], nil)
			if !want && (found != nil || missing != 0) {
				return fmt.Errorf("%v fields are missing: %+v", missing, found)
			}
			if !want {
				return nil
			}
			if found == nil || missing != 6 {
				return fmt.Errorf("%v fields are missing: %+v", missing, found)
			}
			for part, fields := range lateFields {
				for _, field := range fields {
					if !strings.Contains(found.Message, "Meeting "+part+"."+field) {
						return fmt.Errorf("the condition does not name %s.%s: %s", part, field, found.Message)
					}
				}
			}
			return nil
		})
	}
	outdated(true)

	const room, path = "board", "/api/v1/meeting/board"
	_, ada := w.a.enter(map[string]any{"room": room, "name": "Ada", "duration": "01:00:00", "token": w.a.presenterToken("ada")})
	w.eventually(t, w.hasPeople(room, 1))
	eve := w.a.mustEnter(map[string]any{"room": room, "name": "Eve"})
	eve.connect(t)
	w.eventually(t, w.hasPeople(room, 2))
	decisions := []struct {
		method, path, field string
		body                map[string]any
	}{
		{"PATCH", path, "spec.locked", map[string]any{"locked": true}},
		{"PATCH", path, "spec.admission", map[string]any{"admission": "Ask"}},
		{"PATCH", path, "spec.policy", map[string]any{"policy": map[string]any{"chat": "Presenters"}}},
		{"PATCH", path + "/participants/" + eve.You.Identity, "spec.participants", map[string]any{"muted": true}},
		{"DELETE", path + "/participants/" + eve.You.Identity, "spec.participants", nil},
	}
	for _, d := range decisions {
		before := len(w.manager.Log())
		w.a.want(http.StatusInternalServerError, d.method, d.path, d.body)
		if log := w.manager.Log()[before:]; !strings.Contains(log, `outdated: unknown field \"`+d.field+`\""`) || strings.Contains(log, "Invalid value") {
			t.Errorf("after %s %s %v the log does not name %s alone:\n%s", d.method, d.path, d.body, d.field, log)
		}
	}
	if status := w.a.withSession(ada, "session/act", map[string]any{"action": "lock"}); status != http.StatusInternalServerError {
		t.Errorf("a presenter's lock is answered with %d", status)
	}
	w.a.mustEnter(map[string]any{"room": room, "name": "Guest"})
	if err := phaseIs(w.meetingsOf(t, room), v1alpha1.MeetingActive); err != nil {
		t.Error(err)
	}

	cluster.Kubectl(t, "apply", "--server-side", "--force-conflicts", "-f", filepath.Join(testkit.Root(t), "config", "crd", "bases"))
	outdated(false)
	for _, d := range decisions {
		w.a.want(http.StatusOK, d.method, d.path, d.body)
	}
	if locked := w.a.want(http.StatusOK, "GET", path, nil); !strings.Contains(locked.raw, `"locked":true`) {
		t.Errorf("the lock is not there: %s", locked.raw)
	}
	w.a.want(http.StatusOK, "DELETE", path, nil)
}

// laxDefinitions are of a version that stored times of people which no manager can read.
func laxDefinitions(t *testing.T) (lax []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	for _, o := range manifests.OfKind(manifests.Helm(t, "default"), "CustomResourceDefinition") {
		crd := manifests.As[apiextensionsv1.CustomResourceDefinition](t, o)
		if crd.Spec.Names.Kind == "Meeting" {
			spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
			spec.Properties["admittedUntil"] = apiextensionsv1.JSONSchemaProps{Type: "string", Format: "date-time"}
		}
		lax = append(lax, crd)
	}
	return lax
}

// TestUnreadableMeetings has Meetings that no manager can decode, from before the manager starts and from while it runs: all others go on.
func TestUnreadableMeetings(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	cluster := testkit.EmptyControlPlane(t, func(e *envtest.Environment) { e.CRDs = laxDefinitions(t) })
	write := func(name, until string) {
		t.Helper()
		o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
			"room": name, "configRef": map[string]any{"name": "other"}, "admittedUntil": until,
		}}}
		o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Meeting"))
		o.SetNamespace(cluster.Namespace)
		o.SetName(name)
		if err := cluster.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	w, options := prepareWorld(t, cluster)
	write("before", "2026-01-01t00:00:00z")
	w.start(t, []*testkit.ManagerProcess{testkit.Manager(t, cluster, options)})
	ends := func(room string) {
		t.Helper()
		w.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": room, "duration": "00:00:02"})
		w.a.mustEnter(map[string]any{"room": room, "name": "Ada"}).connect(t)
		w.eventually(t, func() error {
			var all unstructured.UnstructuredList // Go's types cannot hold the two.
			all.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("MeetingList"))
			if err := cluster.Client.List(t.Context(), &all, client.InNamespace(cluster.Namespace)); err != nil {
				return err
			}
			for _, m := range all.Items {
				inRoom, _, _ := unstructured.NestedString(m.Object, "spec", "room")
				if phase, _, _ := unstructured.NestedString(m.Object, "status", "phase"); inRoom == room && phase == "Ended" {
					return nil
				}
			}
			return fmt.Errorf("the Meeting of room %s has not ended", room)
		})
	}
	ends("first")
	write("later", "2026-01-01T00:00:00+99:99")
	ends("second")
	w.eventually(t, func() error {
		if got := value(metrics(t, w.manager)["convene_unreadable_objects"], map[string]string{"kind": "Meeting"}); got != 2 {
			return fmt.Errorf("%v Meetings are counted that cannot be read", got)
		}
		return nil
	})
	for _, name := range []string{"before", "later"} {
		if n := strings.Count(w.manager.Log(), `"name":"`+name+`"`); n != 1 {
			t.Errorf("the log names the Meeting %s %d times", name, n)
		}
	}
}
