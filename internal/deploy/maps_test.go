// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"convene.dev/convene/internal/testkit/manifests"
)

// everything is the example of values with which every object is rendered.
func everything(t *testing.T) string {
	return filepath.Join(manifests.Chart(t), "ci", "everything.yaml")
}

// TestMapsOfValuesCollide: each map of labels or annotations in the values names every key that any object has. The chart's parts still
// find each other, and all tools read what is rendered.
func TestMapsOfValuesCollide(t *testing.T) {
	theirs := map[string]any{"theirs": "yes"}
	for _, o := range manifests.Helm(t, manifests.SystemNamespace, "--values", everything(t)) {
		templateLabels, _, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "labels")
		templateAnnotations, _, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "metadata", "annotations")
		for _, keys := range []map[string]string{o.GetLabels(), o.GetAnnotations(), templateLabels, templateAnnotations} {
			for key := range keys {
				if !strings.HasPrefix(key, "helm.sh/hook") { // Values with these make a hook of every object.
					theirs[key] = "theirs"
				}
			}
		}
	}
	colliding, n := collide(read(t, "values.yaml"), theirs)
	if n < 15 {
		t.Fatalf("only %d maps were found", n)
	}
	file := filepath.Join(t.TempDir(), "values.yaml")
	write(t, file, colliding)
	all := manifests.Helm(t, manifests.SystemNamespace, "--values", everything(t), "--values", file)
	selectorsSelect(t, all)
	for _, o := range all {
		if o.GetName() == "convene-extra" {
			continue // of extraObjects
		}
		if o.GetLabels()["theirs"] == "" || o.GetAnnotations()["theirs"] == "" {
			t.Errorf("%s %s lacks labels or annotations of all objects", o.GetKind(), o.GetName())
		}
	}
	for name, pod := range templatesOf(t, all) {
		if strings.Contains(name, "-livekit-") && pod.Annotations["checksum/config"] == "theirs" {
			t.Errorf("%s is not restarted when its configuration changes", name)
		}
		if redis := strings.HasSuffix(name, "-redis"); !redis && (pod.Labels["theirs"] == "" || pod.Annotations["theirs"] == "") {
			t.Errorf("%s has the labels %v and the annotations %v", name, pod.Labels, pod.Annotations)
		}
	}
}

// TestVariablesOfValuesCollide: values have a variable of each name that the chart has. Theirs replace the chart's, in their own order: a
// variable can be made of those before it. No name is there twice, which server-side apply refuses.
func TestVariablesOfValuesCollide(t *testing.T) {
	var names []string
	for _, pod := range templatesOf(t, manifests.Helm(t, manifests.SystemNamespace, "--values", everything(t))) {
		for _, variable := range pod.Spec.Containers[0].Env {
			if !slices.Contains(names, variable.Name) {
				names = append(names, variable.Name)
			}
		}
	}
	if len(names) < 7 {
		t.Fatalf("there are the variables %v", names)
	}
	var env []any
	for _, name := range names {
		env = append(env, map[string]any{"name": name, "value": "theirs"})
	}
	file := filepath.Join(t.TempDir(), "values.yaml")
	write(t, file, map[string]any{"extraEnv": env, "livekit": map[string]any{"extraEnv": env}})
	for name, pod := range templatesOf(t, manifests.Helm(t, manifests.SystemNamespace, "--values", everything(t), "--values", file)) {
		if strings.HasSuffix(name, "-redis") || strings.HasPrefix(name, "Pod/") {
			continue // Their pods have no variables of values.
		}
		var got []string
		for _, variable := range pod.Spec.Containers[0].Env {
			got = append(got, variable.Name)
			if variable.Value != "theirs" || variable.ValueFrom != nil {
				t.Errorf("%s has the variable %v", name, variable)
			}
		}
		if diff := cmp.Diff(names, got); diff != "" {
			t.Errorf("%s has other variables (+) than values (-):\n%s", name, diff)
		}
	}
}

// collide is values with the given keys in every map of labels or annotations, and the number of these maps.
func collide(values, keys map[string]any) (colliding map[string]any, n int) {
	colliding = map[string]any{}
	for name, value := range values {
		inner, ok := value.(map[string]any)
		if !ok {
			continue
		}
		if lower := strings.ToLower(name); strings.HasSuffix(lower, "labels") || strings.HasSuffix(lower, "annotations") {
			colliding[name] = keys
			n++
			continue
		}
		below, m := collide(inner, keys)
		colliding[name] = below
		n += m
	}
	return colliding, n
}

// selectorsSelect fails for what selects none of the objects: a Deployment, a Service, a policy, a budget or a monitor.
func selectorsSelect(t *testing.T, all []*unstructured.Unstructured) {
	t.Helper()
	var pods, services []labels.Set
	for _, pod := range templatesOf(t, all) {
		pods = append(pods, pod.Labels)
	}
	for _, o := range manifests.OfKind(all, "Service") {
		services = append(services, o.GetLabels())
	}
	for _, o := range all {
		among, selector := pods, &metav1.LabelSelector{}
		switch o.GetKind() {
		case "Deployment":
			d := manifests.As[appsv1.Deployment](t, o)
			among, selector = []labels.Set{d.Spec.Template.Labels}, d.Spec.Selector
		case "Service":
			selector.MatchLabels = manifests.As[corev1.Service](t, o).Spec.Selector
		case "ServiceMonitor":
			among, selector.MatchLabels = services, matchLabels(t, o, "selector")
		case "PodMonitor", "PodDisruptionBudget":
			selector.MatchLabels = matchLabels(t, o, "selector")
		case "NetworkPolicy":
			selector.MatchLabels = matchLabels(t, o, "podSelector")
		default:
			continue
		}
		by, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil || by.Empty() {
			t.Fatalf("%s %s selects by %v: %v", o.GetKind(), o.GetName(), by, err)
		}
		found := 0
		for _, set := range among {
			if by.Matches(set) {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s %s selects %s, which nothing has", o.GetKind(), o.GetName(), by)
		}
	}
}

func matchLabels(t *testing.T, o *unstructured.Unstructured, field string) map[string]string {
	t.Helper()
	found, _, err := unstructured.NestedStringMap(o.Object, "spec", field, "matchLabels")
	if err != nil {
		t.Fatal(err)
	}
	return found
}
