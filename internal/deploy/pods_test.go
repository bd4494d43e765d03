// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"convene.dev/convene/internal/testkit/manifests"
)

// TestWhatIsAppliedDoesNothingToACluster: for kubectl, kustomize and repositories of rendered manifests the objects of hooks are like
// all others, and their Jobs run. The chart's only hook is its test, which asks one question.
func TestWhatIsAppliedDoesNothingToACluster(t *testing.T) {
	examples, err := filepath.Glob(filepath.Join(manifests.Chart(t), "ci", "*.yaml"))
	if err != nil || len(examples) == 0 {
		t.Fatalf("examples of values: %q, %v", examples, err)
	}
	for _, values := range append(examples, "") {
		var args []string
		if values != "" {
			args = []string{"--values", values}
		}
		for _, o := range manifests.Helm(t, manifests.SystemNamespace, args...) {
			if hook := o.GetAnnotations()["helm.sh/hook"]; hook != "" && hook != "test" {
				t.Errorf("%s: %s %s is a hook (%s)", values, o.GetKind(), o.GetName(), hook)
			}
			if kind := o.GetKind(); kind == "Job" || kind == "CronJob" {
				t.Errorf("%s: %s %s runs when it is applied", values, kind, o.GetName())
			}
		}
	}
}

// templatesOf are the pods that manifests make, with their labels and annotations.
func templatesOf(t *testing.T, all []*unstructured.Unstructured) map[string]corev1.PodTemplateSpec {
	t.Helper()
	found := map[string]corev1.PodTemplateSpec{}
	for _, o := range all {
		template, ok, _ := unstructured.NestedMap(o.Object, "spec", "template")
		if o.GetKind() == "Pod" {
			template, ok = map[string]any{"metadata": o.Object["metadata"], "spec": o.Object["spec"]}, true
		}
		if !ok {
			continue
		}
		found[o.GetKind()+"/"+o.GetName()] = *manifests.As[corev1.PodTemplateSpec](t, &unstructured.Unstructured{Object: template})
	}
	return found
}

// TestPodsOfOneImageAreAlike: what a quota, a policy, a service mesh or a pool of nodes asks of the managers it asks of every other pod.
func TestPodsOfOneImageAreAlike(t *testing.T) {
	all := manifests.Helm(t, manifests.SystemNamespace, "--values", everything(t), "--set",
		"podLabels.mesh=on,podAnnotations.mesh=on,resources.limits.cpu=1,priorityClassName=high,runtimeClassName=gvisor,hostAliases[0].ip=10.0.0.1,dnsPolicy=Default")
	pods := templatesOf(t, all)
	managers := pods["Deployment/convene"]
	asked := func(s corev1.PodSpec) corev1.PodSpec {
		c := s.Containers[0]
		return corev1.PodSpec{
			Containers:       []corev1.Container{{Image: c.Image, ImagePullPolicy: c.ImagePullPolicy, Resources: c.Resources, SecurityContext: c.SecurityContext}},
			ImagePullSecrets: s.ImagePullSecrets, PriorityClassName: s.PriorityClassName, SecurityContext: s.SecurityContext, NodeSelector: s.NodeSelector,
			Tolerations: s.Tolerations, Affinity: s.Affinity, DNSPolicy: s.DNSPolicy, DNSConfig: s.DNSConfig, HostAliases: s.HostAliases,
			RuntimeClassName: s.RuntimeClassName, EnableServiceLinks: s.EnableServiceLinks,
		}
	}
	others := 0
	for name, pod := range pods {
		if name == "Deployment/convene" || pod.Spec.Containers[0].Image != managers.Spec.Containers[0].Image {
			continue
		}
		others++
		if diff := cmp.Diff(asked(managers.Spec), asked(pod.Spec)); diff != "" {
			t.Errorf("the managers (-) and %s (+):\n%s", name, diff)
		}
		for key, value := range map[string]string{"mesh": "on", "team": "platform"} {
			if pod.Labels[key] != value || managers.Labels[key] != value {
				t.Errorf("%s has the labels %v, the managers have %v", name, pod.Labels, managers.Labels)
			}
		}
		if pod.Annotations["mesh"] != "on" || managers.Annotations["mesh"] != "on" {
			t.Errorf("%s has the annotations %v, the managers have %v", name, pod.Annotations, managers.Annotations)
		}
	}
	if others == 0 {
		t.Error("there is no other pod")
	}
	for name, pod := range pods {
		for _, c := range pod.Spec.Containers {
			if len(c.Resources.Requests) == 0 || len(c.Resources.Limits) == 0 {
				t.Errorf("%s: container %s has the resources %v", name, c.Name, c.Resources)
			}
		}
		if policies := policiesOf(t, all, pod.Labels); !slices.Contains(policies, networkingv1.PolicyTypeEgress) || !slices.Contains(policies, networkingv1.PolicyTypeIngress) {
			t.Errorf("%s has network policies for %v alone: where everything else is denied it cannot work", name, policies)
		}
	}
}

// TestGoStaysBelowTheMemoryLimit of managers and of LiveKit, in whichever way it is written.
func TestGoStaysBelowTheMemoryLimit(t *testing.T) {
	for values, want := range map[string]string{
		`{}`: "460MiB 1843MiB",
		`{resources: {limits: {memory: 1Gi}}, livekit: {resources: {limits: {memory: 8Gi}}}}`:                          "921MiB 7372MiB",
		`{resources: {limits: {memory: 536870912}}, livekit: {resources: {limits: {memory: "1e9"}}}}`:                  "460MiB 858MiB",
		`{resources: {limits: {memory: 0.5Gi}}, livekit: {resources: {limits: {memory: 2G}}}}`:                         "460MiB 1716MiB",
		`{resources: {limits: {memory: "1073741824000m"}}, livekit: {resources: {limits: null}}}`:                      "921MiB ",
		`{goMemoryLimit: "400000000", resources: {limits: {memory: null}}, livekit: {goMemoryLimit: 1GiB}}`:            "400000000 1GiB",
		`{resources: {requests: {memory: null}, limits: {memory: "0"}}, livekit: {resources: {limits: {memory: 1k}}}}`: " ",
		`{resources: null, livekit: {resources: null, goMemoryLimit: "off"}}`:                                          " off",
		`{extraEnv: [{name: GOMEMLIMIT, value: 1GiB}], livekit: {extraEnv: [{name: GOMEMLIMIT, value: 2GiB}]}}`:        "1GiB 2GiB",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "values.yaml")
			if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
				t.Fatal(err)
			}
			pods := templatesOf(t, manifests.Helm(t, manifests.SystemNamespace, "--set", "livekit.enabled=true", "--values", file))
			var got []string
			for _, name := range []string{"Deployment/convene", "Deployment/convene-livekit"} {
				limit := ""
				for _, variable := range pods[name].Spec.Containers[0].Env {
					if variable.Name == "GOMEMLIMIT" {
						limit += variable.Value
					}
				}
				got = append(got, limit)
			}
			if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// policiesOf are the types of the network policies that select a pod.
func policiesOf(t *testing.T, all []*unstructured.Unstructured, pod map[string]string) (types []networkingv1.PolicyType) {
	t.Helper()
	for _, o := range manifests.OfKind(all, "NetworkPolicy") {
		spec := manifests.As[networkingv1.NetworkPolicy](t, o).Spec
		selector, err := metav1.LabelSelectorAsSelector(&spec.PodSelector)
		if err != nil {
			t.Fatal(err)
		}
		if selector.Matches(labels.Set(pod)) {
			types = append(types, spec.PolicyTypes...)
		}
	}
	return types
}
