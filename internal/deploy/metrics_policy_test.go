// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"convene.dev/convene/internal/testkit/manifests"
)

// opens reports whether a rule lets the pods of a namespace reach the metrics, of managers or of LiveKit.
func opens(t *testing.T, rule networkingv1.NetworkPolicyIngressRule, namespace labels.Set) bool {
	t.Helper()
	metrics := []intstr.IntOrString{intstr.FromString("metrics"), intstr.FromInt32(9090), intstr.FromInt32(6789)}
	ofMetrics := func(p networkingv1.NetworkPolicyPort) bool {
		return p.Port == nil || p.EndPort != nil || slices.Contains(metrics, *p.Port)
	}
	if len(rule.Ports) > 0 && !slices.ContainsFunc(rule.Ports, ofMetrics) {
		return false
	}
	if len(rule.From) == 0 {
		return true
	}
	return slices.ContainsFunc(rule.From, func(peer networkingv1.NetworkPolicyPeer) bool {
		if peer.NamespaceSelector == nil {
			return peer.IPBlock != nil // A podSelector alone is of the managers' own namespace.
		}
		selector, err := metav1.LabelSelectorAsSelector(peer.NamespaceSelector)
		if err != nil {
			t.Fatal(err)
		}
		return selector.Matches(namespace)
	})
}

// readers reports whether the pods of a namespace may read the metrics of each component that has some.
func readers(t *testing.T, all []*unstructured.Unstructured, namespace labels.Set) map[string]bool {
	t.Helper()
	may := map[string]bool{}
	for _, o := range manifests.OfKind(all, "NetworkPolicy") {
		policy := manifests.As[networkingv1.NetworkPolicy](t, o)
		component := policy.Spec.PodSelector.MatchLabels["app.kubernetes.io/component"]
		for _, rule := range policy.Spec.Ingress {
			may[component] = may[component] || opens(t, rule, namespace)
		}
	}
	return may
}

// TestMetricsAreForLabeledNamespaces: with the chart and with kustomize, and whatever else is switched on, the pods of other namespaces
// read no metrics.
func TestMetricsAreForLabeledNamespaces(t *testing.T) {
	chart := func(set ...string) []*unstructured.Unstructured {
		return manifests.Helm(t, manifests.SystemNamespace, append([]string{"--set"}, set...)...)
	}
	const behindBalancers = "livekit.enabled=true,livekit.network=loadBalancer,livekit.loadBalancer.ips={192.0.2.1},livekit.serviceMonitor.enabled=true"
	tenant := labels.Set{corev1.LabelMetadataName: "team-a"}
	monitoring := labels.Set{corev1.LabelMetadataName: "monitoring", "metrics": "enabled"}
	for name, tc := range map[string]struct {
		all        []*unstructured.Unstructured
		components []string
	}{
		"the chart":                        {chart("replicaCount=2"), []string{"manager"}},
		"the chart, for one namespace":     {chart("watchNamespace=meetings"), []string{"manager"}},
		"the chart, with monitors":         {chart("monitoring.serviceMonitor.enabled=true,monitoring.podMonitor.enabled=true"), []string{"manager"}},
		"the chart, with LiveKit":          {chart(behindBalancers), []string{"livekit", "manager"}},
		"the chart, with the gateway shut": {chart("gatewayTLS.secretName=cert,networkPolicy.gatewayFrom[0].namespaceSelector.matchLabels.x=y"), []string{"manager"}},
		"kustomize":                        {manifests.Kustomize(t), []string{"controller-manager"}},
		"kustomize, for one namespace":     {manifests.Kustomize(t, "one-namespace"), []string{"controller-manager"}},
		"kustomize, with monitors":         {manifests.Kustomize(t, "monitoring"), []string{"controller-manager"}},
	} {
		for _, component := range tc.components {
			if open, known := readers(t, tc.all, tenant)[component]; open || !known {
				t.Errorf("%s: there is a policy of %s: %t, and it lets a tenant's pods read the metrics: %t", name, component, known, open)
			}
			if !readers(t, tc.all, monitoring)[component] {
				t.Errorf("%s: Prometheus cannot read the metrics of %s", name, component)
			}
		}
	}
	named := chart("networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.team=platform," + behindBalancers)
	for component, open := range readers(t, named, labels.Set{"team": "platform"}) {
		if !open && component != "redis" || readers(t, named, monitoring)[component] {
			t.Errorf("with readers that are named: %s, open to them: %t", component, open)
		}
	}
}
