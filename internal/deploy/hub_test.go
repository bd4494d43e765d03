// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// about is Chart.yaml.
type about struct {
	Icon        string
	Maintainers []any
	Sources     []string
	Annotations map[string]string
}

func aboutChart(t *testing.T) (a about) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(manifests.Chart(t), "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// annotation decodes one of the annotations for Artifact Hub, which are text that is YAML.
func annotation[T any](t *testing.T, a about, name string) (decoded T) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(a.Annotations["artifacthub.io/"+name]), &decoded); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return decoded
}

// TestHelmLintHasNothingToSay, not even a recommendation.
func TestHelmLintHasNothingToSay(t *testing.T) {
	out, complaint, err := manifests.Run(t, manifests.Tool(t, "helm"), "lint", "--strict", manifests.Chart(t))
	if err != nil || strings.Contains(out, "[INFO]") {
		t.Errorf("%v: %s%s", err, out, complaint)
	}
	svg, err := os.ReadFile(filepath.Join(testkit.Root(t), "internal", "web", "ui", "src", "icon.svg"))
	if err != nil {
		t.Fatal(err)
	}
	a := aboutChart(t)
	if want := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString([]byte(strings.TrimSpace(string(svg)))); a.Icon != want {
		t.Errorf("the chart's icon is not that of the page; write\nicon: %s", want)
	}
	if len(a.Maintainers) == 0 || len(a.Sources) == 0 {
		t.Error("the chart does not say who maintains it, or where its source is")
	}
}

// TestArtifactHubIsToldTheTruth: definitions and images are those that the chart installs, and the API server takes the examples.
func TestArtifactHubIsToldTheTruth(t *testing.T) {
	a := aboutChart(t)
	all := manifests.Helm(t, manifests.SystemNamespace, "--set", "livekit.enabled=true,livekit.redis.create=true,livekit.redis.passwordSecretName=redis")

	type definition struct{ Kind, Version, Name, DisplayName, Description string }
	var told, installed []string
	for _, d := range annotation[[]definition](t, a, "crds") {
		if d.DisplayName == "" || d.Description == "" {
			t.Errorf("%s has no text", d.Kind)
		}
		told = append(told, d.Kind+" "+d.Version+" "+d.Name)
	}
	for _, o := range manifests.OfKind(all, "CustomResourceDefinition") {
		crd := manifests.As[apiextensionsv1.CustomResourceDefinition](t, o)
		installed = append(installed, crd.Spec.Names.Kind+" "+crd.Spec.Versions[0].Name+" "+crd.Name)
	}
	slices.Sort(told)
	slices.Sort(installed)
	if diff := cmp.Diff(installed, told); diff != "" {
		t.Errorf("the chart installs (-) and tells Artifact Hub of (+):\n%s", diff)
	}

	toldImages, images := map[string]bool{}, map[string]bool{}
	for _, i := range annotation[[]struct{ Name, Image string }](t, a, "images") {
		toldImages[i.Image] = true
	}
	for _, pod := range pods(t, all) {
		for _, c := range pod.Containers {
			images[c.Image] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(images)), slices.Sorted(maps.Keys(toldImages))); diff != "" {
		t.Errorf("the chart runs (-) and tells Artifact Hub of (+):\n%s", diff)
	}
	for _, c := range annotation[[]struct{ Kind, Description string }](t, a, "changes") {
		if !slices.Contains([]string{"added", "changed", "deprecated", "removed", "fixed", "security"}, c.Kind) || c.Description == "" {
			t.Errorf("Artifact Hub does not know the change %+v", c)
		}
	}

	c := testkit.ControlPlane(t)
	examples := annotation[[]map[string]any](t, a, "crdsExamples")
	if len(examples) != len(installed) {
		t.Errorf("there are %d examples of %d kinds", len(examples), len(installed))
	}
	for _, example := range examples {
		o := &unstructured.Unstructured{Object: example}
		namespace(t, c, o.GetNamespace(), "restricted")
		apply(t, c, o)
	}
}

// TestHelmTestAsksTheManagers at their Service, and the network policy lets it.
func TestHelmTestAsksTheManagers(t *testing.T) {
	for name, tc := range map[string]struct{ set, address string }{
		"as it is":           {"crds.install=true", "http://convene.convene-system.svc:80"},
		"with TLS":           {"gatewayTLS.secretName=cert,service.port=443", "https://convene.convene-system.svc:443"},
		"behind one Ingress": {"networkPolicy.gatewayFrom[0].podSelector.matchLabels.app=ingress", "http://convene.convene-system.svc:80"},
	} {
		all := manifests.Helm(t, manifests.SystemNamespace, "--set", tc.set)
		pod := manifests.As[corev1.Pod](t, manifests.OfKind(all, "Pod")[0])
		if pod.Annotations["helm.sh/hook"] != "test" {
			t.Errorf("%s: helm test does not run %s", name, pod.Name)
		}
		if got := pod.Spec.Containers[0].Args; !slices.Equal(got, []string{"--check=" + tc.address}) {
			t.Errorf("%s: it runs %q", name, got)
		}
		if !letIn(t, all, pod.ObjectMeta) {
			t.Errorf("%s: no network policy lets it in", name)
		}
	}
}

// TestThePodOfTheTestIsItsOwn: where all that is rendered is applied, a changed Pod has another name, since a Pod cannot be changed. It has
// no second container of a mesh.
func TestThePodOfTheTestIsItsOwn(t *testing.T) {
	names := map[string]string{}
	for _, set := range []string{"image.tag=a", "image.tag=b", "resources.limits.memory=1Gi", "podSecurityContext.fsGroup=1", "podAnnotations.a=b"} {
		pod := manifests.OfKind(manifests.Helm(t, manifests.SystemNamespace, "--set", set), "Pod")[0]
		spec, err := json.Marshal(pod.Object["spec"])
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := names[pod.GetName()]; ok && other != string(spec) {
			t.Errorf("%s changes the Pod %s", set, pod.GetName())
		}
		names[pod.GetName()] = string(spec)
		if pod.GetAnnotations()["linkerd.io/inject"] != "disabled" || pod.GetLabels()["sidecar.istio.io/inject"] != "false" {
			t.Errorf("%s: a mesh gives the Pod a container that does not end: %v %v", set, pod.GetAnnotations(), pod.GetLabels())
		}
	}
	if len(names) != 5 {
		t.Errorf("the Pods are %v", slices.Collect(maps.Keys(names)))
	}
}

// letIn is whether a network policy of the managers lets a pod reach their gateway.
func letIn(t *testing.T, all []*unstructured.Unstructured, from metav1.ObjectMeta) bool {
	t.Helper()
	for _, o := range manifests.OfKind(all, "NetworkPolicy") {
		policy := manifests.As[networkingv1.NetworkPolicy](t, o)
		if policy.Spec.PodSelector.MatchLabels["app.kubernetes.io/component"] != "manager" {
			continue
		}
		for _, rule := range policy.Spec.Ingress {
			if rule.Ports[0].Port.StrVal != "http" {
				continue
			}
			if len(rule.From) == 0 {
				return true
			}
			for _, peer := range rule.From {
				selector, err := metav1.LabelSelectorAsSelector(peer.PodSelector)
				if err != nil {
					t.Fatal(err)
				}
				if selector.Matches(labels.Set(from.Labels)) {
					return true
				}
			}
		}
	}
	return false
}
