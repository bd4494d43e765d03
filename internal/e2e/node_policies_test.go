// SPDX-License-Identifier: Apache-2.0

//go:build node

package e2e

import (
	"fmt"
	"maps"
	"net"
	"strings"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

const (
	nodeAddress = "192.168.77.2"
	dnsAddress  = "10.96.0.10"
)

// dials says which addresses (by a name for each) a pod can connect to.
func (n *realNode) dials(namespace, pod string, addresses map[string]string) map[string]bool {
	n.t.Helper()
	args := []string{"exec", "-n", namespace, pod, "--", "/dial"}
	for _, address := range addresses {
		args = append(args, address)
	}
	out, open := n.kubectl(args...), map[string]bool{}
	for name, address := range addresses {
		open[name] = strings.Contains(out, address+" open\n")
		if !open[name] && !strings.Contains(out, address+" shut") {
			n.t.Fatalf("nothing is said of %s: %s", address, out)
		}
	}
	return open
}

// reach is what pods may reach of and as a manager.
type reach struct {
	// Stranger has nothing to do with Convene, Gate is where requests come from. Both try the ports of a manager.
	Stranger map[string]bool
	// Manager is what a manager may reach.
	Manager map[string]bool
}

// wanted is what the values say.
var wanted = reach{
	Stranger: map[string]bool{"gateway": false, "health": false, "metrics": false},
	Manager: map[string]bool{
		"gateway of another manager": false, "health of another manager": false,
		"DNS": true, "API": true, "API by its Service": true, "LiveKit": true,
		"kubelet": false, "ingress controller": false,
	},
}

func (n *realNode) reach() reach {
	n.t.Helper()
	manager := n.managers()[0].Status.PodIP
	gate := n.kubectl("get", "pods", "-n", "ingress", "-o", "jsonpath={.items[0].status.podIP}")
	at := func(host string, port int) string { return net.JoinHostPort(host, fmt.Sprint(port)) }
	return reach{
		Stranger: n.dials("strangers", "deployment/stranger", map[string]string{
			"gateway": at(manager, 8080), "health": at(manager, 8081), "metrics": at(manager, 9090),
		}),
		Manager: n.dials(manifests.SystemNamespace, "impostor", map[string]string{
			"gateway of another manager": at(manager, 8080), "health of another manager": at(manager, 8081),
			"DNS": at(dnsAddress, 53), "API": at(nodeAddress, 6443), "API by its Service": at("10.96.0.1", 443), "LiveKit": at(nodeAddress, 7880),
			"kubelet": at(nodeAddress, 10250), "ingress controller": at(gate, 8443),
		}),
	}
}

// policies: those of the chart let through what Convene needs and nothing else. One that is missing, and ones that are too wide
// or too narrow, are seen.
func (n *realNode) policies() {
	n.apply("impostor.yaml")
	n.kubectl("wait", "-n", manifests.SystemNamespace, "--for=condition=ContainersReady", "pod/impostor", "--timeout="+nodePatience.String())
	n.eventuallyReaches("the chart's policies", wanted)

	n.kubectl("label", "namespace", "strangers", "metrics=enabled")
	monitoring := reach{Stranger: maps.Clone(wanted.Stranger), Manager: wanted.Manager}
	monitoring.Stranger["metrics"] = true
	n.eventuallyReaches("a namespace that may read metrics", monitoring)
	n.kubectl("label", "namespace", "strangers", "metrics-")

	policy := n.managersPolicy()
	n.delete(policy)
	n.eventuallyReaches("without a policy", reach{Stranger: allOf(wanted.Stranger), Manager: allOf(wanted.Manager)})

	tooWide := policy.DeepCopy()
	kubelet := intstr.FromInt32(10250)
	tooWide.Spec.Ingress[0].From = nil
	tooWide.Spec.Egress = append(tooWide.Spec.Egress, networkingv1.NetworkPolicyEgressRule{Ports: []networkingv1.NetworkPolicyPort{{Port: &kubelet}}})
	wide := reach{Stranger: maps.Clone(wanted.Stranger), Manager: maps.Clone(wanted.Manager)}
	wide.Stranger["gateway"], wide.Manager["kubelet"] = true, true
	n.Create(n.t, tooWide)
	n.eventuallyReaches("a policy that is too wide", wide)
	n.delete(tooWide)

	// Named by its Service, the API cannot be reached: policies are judged after the Service was translated.
	byService := policy.DeepCopy()
	for _, rule := range byService.Spec.Egress {
		for _, to := range rule.To {
			if to.IPBlock != nil {
				to.IPBlock.CIDR = "10.96.0.1/32"
			}
		}
	}
	narrow := reach{Stranger: wanted.Stranger, Manager: maps.Clone(wanted.Manager)}
	narrow.Manager["API"], narrow.Manager["API by its Service"] = false, false
	n.Create(n.t, byService)
	n.eventuallyReaches("the address of the API's Service", narrow)
	n.delete(byService)

	n.Create(n.t, policy)
	n.eventuallyReaches("the chart's policies again", wanted)
	n.kubectl("delete", "pod", "-n", manifests.SystemNamespace, "impostor", "--wait=false")
}

// managersPolicy is that of the managers, ready to be made again.
func (n *realNode) managersPolicy() *networkingv1.NetworkPolicy {
	n.t.Helper()
	var p networkingv1.NetworkPolicy
	if err := n.Client.Get(n.t.Context(), client.ObjectKey{Namespace: manifests.SystemNamespace, Name: "convene"}, &p); err != nil {
		n.t.Fatal(err)
	}
	p.ObjectMeta = metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, Labels: p.Labels, Annotations: p.Annotations}
	return &p
}

func (n *realNode) delete(o client.Object) {
	n.t.Helper()
	if err := n.Client.Delete(n.t.Context(), o); err != nil {
		n.t.Fatal(err)
	}
}

func (n *realNode) eventuallyReaches(what string, want reach) {
	n.t.Helper()
	testkit.Eventually(n.t, nodePatience, func() error {
		if diff := cmp.Diff(want, n.reach()); diff != "" {
			return fmt.Errorf("%s (-want +got):\n%s", what, diff)
		}
		return nil
	})
}

func allOf(m map[string]bool) map[string]bool {
	all := map[string]bool{}
	for name := range m {
		all[name] = true
	}
	return all
}
