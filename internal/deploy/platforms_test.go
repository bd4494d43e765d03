// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	for _, name := range []string{"Deployment/convene", "Deployment/convene-livekit-0", "Deployment/convene-livekit-redis", "Pod/convene-test-"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(of string) bool { return of == name || strings.HasSuffix(name, "-") && strings.HasPrefix(of, name) }) {
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
	appears(t, elsewhere, down+`.expr = absent(convene_build_info{namespace="video"}) or `+
		`(max by (cluster, namespace) (present_over_time(convene_build_info{namespace="video"}[1d])) unless on (cluster, namespace) convene_build_info)`)
	appears(t, elsewhere, down+`.annotations.runbook_url = https://wiki.example.com/convene#convenedown`)
}

// grouping is each operator of an alert that takes series together, with the labels that it keeps.
var grouping = regexp.MustCompile(`\b(?:sum|min|max|avg|count|group|stddev|stdvar|topk|bottomk|quantile|on|ignoring)\b(?: by)? \(([a-z0-9_, ]*)`)

// TestAlertsTellClustersApart where one Prometheus has the metrics of several: a healthy cluster hides no other.
func TestAlertsTellClustersApart(t *testing.T) {
	for labels, kept := range map[string]string{"{cluster}": "cluster, namespace", "{region,k8s_cluster}": "region, k8s_cluster, namespace", "null": "namespace"} {
		all := manifests.Helm(t, manifests.SystemNamespace, "--set", "monitoring.prometheusRule.enabled=true,monitoring.prometheusRule.aggregationLabels="+labels)
		groups, _, err := unstructured.NestedSlice(manifests.Find(t, all, "PrometheusRule", "convene").Object, "spec", "groups")
		if err != nil {
			t.Fatal(err)
		}
		dashboard := manifests.OfKind(manifests.Helm(t, manifests.SystemNamespace, "--set", "monitoring.dashboard.enabled=true,monitoring.prometheusRule.aggregationLabels="+labels),
			"ConfigMap")[0]
		raw := fmt.Sprint(dashboard.Object["data"])
		for _, keeps := range grouping.FindAllStringSubmatch(raw, -1) {
			if strings.Contains(keeps[1], "namespace") && !strings.HasPrefix(keeps[1]+",", kept+",") {
				t.Errorf("a panel does not keep %s: %s", kept, keeps[0])
			}
		}
		if own, _, _ := strings.Cut(kept, ","); !strings.Contains(raw, own+"=~") || own != "cluster" && strings.Contains(raw, "cluster=~") {
			t.Errorf("panels do not choose by %s", own)
		}
		for _, rule := range groups[0].(map[string]any)["rules"].([]any) {
			alert := rule.(map[string]any)
			expression := alert["expr"].(string)
			operators := grouping.FindAllStringSubmatch(expression, -1)
			if len(operators) == 0 || slices.ContainsFunc(operators, func(o []string) bool { return !strings.HasPrefix(o[1]+",", kept+",") }) {
				t.Errorf("%s does not keep %s: %s", alert["alert"], kept, expression)
			}
		}
	}
}

// TestReleasesOfOneNameShareNothing: two in a cluster, in namespaces of their own, with one Grafana and one Prometheus. What belongs to the
// cluster as such is installed once.
func TestReleasesOfOneNameShareNothing(t *testing.T) {
	owner := map[string]string{}
	for namespace, set := range map[string]string{"a": "", "b": "", "team-a": "", "team": "fullnameOverride=a-convene"} {
		for _, o := range manifests.Helm(t, namespace, "--values", everything(t), "--set", set, "--set", "crds.install=false,rbac.userRoles=false,livekit.enabled=false",
			"--set", "rbac.secretNamespaces={tenants},monitoring.serviceMonitor.namespace=shared,monitoring.podMonitor.namespace=shared",
			"--set", "monitoring.prometheusRule.namespace=shared,monitoring.dashboard.namespace=shared") {
			names := []string{identity(o)}
			if o.GetKind() == "ConfigMap" && o.GetNamespace() == "shared" {
				for file, content := range manifests.As[corev1.ConfigMap](t, o).Data {
					var dashboard struct{ UID, Title string }
					if err := json.Unmarshal([]byte(content), &dashboard); err != nil {
						t.Fatal(err)
					}
					names = append(names, file, dashboard.UID, dashboard.Title)
				}
			}
			for _, name := range names {
				if other := owner[name]; other != "" && other != namespace {
					t.Errorf("the releases of %s and %s both have %q", other, namespace, name)
				}
				owner[name] = namespace
			}
		}
	}
	if len(owner) < 20 {
		t.Errorf("only %d names were compared", len(owner))
	}
}

// TestThePriorityCanBeChanged: Kubernetes refuses another value of a PriorityClass that is there.
func TestThePriorityCanBeChanged(t *testing.T) {
	seen := map[string]bool{}
	for _, value := range []string{"1000", "2000"} {
		all := manifests.Helm(t, manifests.SystemNamespace, "--set", "priorityClass.create=true,priorityClass.value="+value)
		name := manifests.OfKind(all, "PriorityClass")[0].GetName()
		if seen[name] {
			t.Errorf("%s has two values", name)
		}
		seen[name] = true
		appears(t, all, "Deployment/convene .spec.template.spec.priorityClassName = "+name)
	}
}
