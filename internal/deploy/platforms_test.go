// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"convene.dev/convene/internal/testkit/manifests"
)

// pods are the pods that manifests make.
func pods(t *testing.T, all []*unstructured.Unstructured) map[string]corev1.PodSpec {
	t.Helper()
	found := map[string]corev1.PodSpec{}
	for _, o := range all {
		at := []string{"spec", "template", "spec"}
		if o.GetKind() == "Pod" {
			at = []string{"spec"}
		}
		spec, ok, err := unstructured.NestedMap(o.Object, at...)
		if err != nil || !ok || spec["containers"] == nil {
			continue
		}
		found[o.GetKind()+"/"+o.GetName()] = *manifests.As[corev1.PodSpec](t, &unstructured.Unstructured{Object: spec})
	}
	return found
}

// TestOpenShiftChoosesUsers: its restricted-v2 refuses pods that name a user or group which is not of their namespace's range, and
// chooses one where none is named. All else that it asks for is there.
func TestOpenShiftChoosesUsers(t *testing.T) {
	values := []string{"--values", filepath.Join(manifests.Chart(t), "ci", "openshift.yaml")}
	all := pods(t, manifests.Helm(t, manifests.SystemNamespace, values...))
	for _, name := range []string{"Deployment/convene", "Deployment/convene-livekit-0", "Deployment/convene-livekit-redis", "Pod/convene-test"} {
		if _, ok := all[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	for name, pod := range all {
		if s := pod.SecurityContext; s != nil && (s.RunAsUser != nil || s.RunAsGroup != nil || s.FSGroup != nil || s.SupplementalGroups != nil) {
			t.Errorf("%s names users or groups: %+v", name, s)
		}
		if pod.HostNetwork || pod.HostPID || pod.HostIPC {
			t.Errorf("%s wants something of its machine", name)
		}
		for _, c := range pod.Containers {
			s := c.SecurityContext
			if s.RunAsUser != nil || s.RunAsGroup != nil {
				t.Errorf("%s names a user or a group: %+v", name, s)
			}
			if *s.AllowPrivilegeEscalation || !*s.RunAsNonRoot || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault || s.Capabilities.Drop[0] != "ALL" {
				t.Errorf("%s is not restricted: %+v", name, s)
			}
		}
	}
	// Elsewhere LiveKit's and Redis' images, which name no user, are given one.
	elsewhere := pods(t, manifests.Helm(t, manifests.SystemNamespace, append(values, "--set", "openshift=false")...))
	for _, name := range []string{"Deployment/convene-livekit-0", "Deployment/convene-livekit-redis"} {
		if s := elsewhere[name].SecurityContext; s.RunAsUser == nil || *s.RunAsUser == 0 {
			t.Errorf("%s would run as root: %+v", name, s)
		}
	}
}

// TestCommonAnnotationsAreEverywhere, also on hooks and definitions.
func TestCommonAnnotationsAreEverywhere(t *testing.T) {
	for _, o := range manifests.Helm(t, manifests.SystemNamespace, "--values", everything(t)) {
		if o.GetName() == "convene-extra" {
			continue
		}
		if o.GetAnnotations()["example.com/owner"] != "platform" || o.GetLabels()["team"] != "platform" {
			t.Errorf("%s %s has not got what all have: %v, %v", o.GetKind(), o.GetName(), o.GetLabels(), o.GetAnnotations())
		}
	}
}

// TestConventionalLabels: tools find the parts of an application, and what manages them, by the labels that Kubernetes recommends.
func TestConventionalLabels(t *testing.T) {
	recommended := []string{"name", "part-of", "managed-by"}
	for tool, tc := range map[string]struct {
		objects []*unstructured.Unstructured
		labels  []string
	}{
		"chart":     {manifests.Helm(t, manifests.SystemNamespace, "--set", "livekit.enabled=true"), append(recommended, "instance", "version")},
		"kustomize": {manifests.Kustomize(t), recommended},
	} {
		for _, o := range tc.objects {
			for _, label := range tc.labels {
				if o.GetLabels()["app.kubernetes.io/"+label] == "" {
					t.Errorf("%s: %s %s has no label %s", tool, o.GetKind(), o.GetName(), label)
				}
			}
		}
	}
}

// TestAlertsAreOfTheirInstallation: as they are, the chart's alerts are those of kustomize. Elsewhere they name their own namespace,
// and the runbook that they are told.
func TestAlertsAreOfTheirInstallation(t *testing.T) {
	values := []string{"--set", "monitoring.prometheusRule.enabled=true"}
	rule := func(all []*unstructured.Unstructured) map[string]any {
		return manifests.Find(t, all, "PrometheusRule", "convene").Object["spec"].(map[string]any)
	}
	if diff := cmp.Diff(rule(manifests.Kustomize(t, "monitoring")), rule(manifests.Helm(t, manifests.SystemNamespace, values...))); diff != "" {
		t.Errorf("alerts of kustomize (-) and of the chart (+):\n%s", diff)
	}
	elsewhere := manifests.Helm(t, "video", append(values, "--set", "monitoring.prometheusRule.runbookURL=https://wiki.example.com/convene")...)
	const down = `PrometheusRule/convene .spec.groups[0].rules[?(@.alert=="ConveneDown")]`
	appears(t, elsewhere, down+`.expr = absent(convene_build_info{namespace="video"})`)
	appears(t, elsewhere, down+`.annotations.runbook_url = https://wiki.example.com/convene#convenedown`)
}
