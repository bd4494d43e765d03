// SPDX-License-Identifier: Apache-2.0

//go:build slow

package deploy

import (
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestTheAPIServerTakesTheManifests has the real API server check all that can be installed, without installing it:
// known kinds, known fields only, valid values, and pods that Pod Security lets run.
func TestTheAPIServerTakesTheManifests(t *testing.T) {
	c := testkit.ControlPlane(t)
	thirdParties(t, c)
	namespace(t, c, manifests.SystemNamespace, "restricted")
	namespace(t, c, "media", "privileged")
	values := func(name string) []string {
		return []string{"--values", filepath.Join(manifests.Chart(t), "ci", name+".yaml")}
	}
	shipped := map[string][]*unstructured.Unstructured{
		"chart, as it is":                manifests.Helm(t, manifests.SystemNamespace),
		"chart, one namespace":           manifests.Helm(t, manifests.SystemNamespace, values("one-namespace")...),
		"chart, everything":              manifests.Helm(t, manifests.SystemNamespace, values("everything")...),
		"chart, LiveKit on hosts":        manifests.Helm(t, manifests.SystemNamespace, values("livekit-on-hosts")...),
		"chart, OpenShift":               manifests.Helm(t, manifests.SystemNamespace, values("openshift")...),
		"kustomize, base":                manifests.Kustomize(t),
		"kustomize, one namespace":       manifests.Kustomize(t, "one-namespace"),
		"kustomize, with all components": manifests.Kustomize(t, "monitoring", "ingress", "httproute", "allowed-hosts", "secret-namespaces"),
	}
	for name, objects := range shipped {
		t.Run(name, func(t *testing.T) {
			for _, o := range objects {
				if o.GetKind() != "Pod" {
					apply(t, c, o)
				}
			}
			for _, o := range manifests.OfKind(objects, "Deployment") {
				d := manifests.As[appsv1.Deployment](t, o)
				runPod(t, c, o, d.Spec.Template)
			}
			for _, o := range manifests.OfKind(objects, "Pod") {
				pod := manifests.As[corev1.Pod](t, o)
				runPod(t, c, o, corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec})
			}
		})
	}
}

// runPod asks whether a pod may run in its namespace, which is where Pod Security decides.
func runPod(t *testing.T, c *testkit.Cluster, of *unstructured.Unstructured, template corev1.PodTemplateSpec) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: of.GetNamespace(), Name: of.GetName(), Labels: template.Labels},
		Spec:       template.Spec,
	}
	// The class would be there: it is one of the manifests.
	pod.Spec.PriorityClassName = ""
	if err := c.Client.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Errorf("a pod of %s: %v", of.GetName(), err)
	}
}
