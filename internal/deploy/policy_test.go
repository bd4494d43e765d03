// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"

	"convene.dev/convene/internal/testkit/manifests"
)

// TestChartLimitsHosts: the chart brings the same policy, where it is told to, and for the namespaces that it is told.
func TestChartLimitsHosts(t *testing.T) {
	if got := manifests.OfKind(manifests.Helm(t, manifests.SystemNamespace), "ValidatingAdmissionPolicy"); len(got) > 0 {
		t.Error("the chart limits hosts without being told to")
	}
	all := manifests.Helm(t, manifests.SystemNamespace, "--set", "allowedHosts.enabled=true,allowedHosts.namespaceSelector.matchLabels.tenant=yes")
	base := manifests.Kustomize(t, "allowed-hosts")
	const name = "convene-system.convene-allowed-hosts"
	if want, got := specs(manifests.OfKind(base, "ValidatingAdmissionPolicy")), specs(manifests.OfKind(all, "ValidatingAdmissionPolicy")); cmp.Diff(want["convene-allowed-hosts"], got[name]) != "" {
		t.Errorf("the chart's policy is another one: %v", got)
	}
	binding := manifests.As[admissionv1.ValidatingAdmissionPolicyBinding](t, manifests.Find(t, all, "ValidatingAdmissionPolicyBinding", name))
	if binding.Spec.PolicyName != name || binding.Spec.MatchResources.NamespaceSelector.MatchLabels["tenant"] != "yes" {
		t.Errorf("the chart's binding is %+v", binding.Spec)
	}
}
