// SPDX-License-Identifier: Apache-2.0

//go:build node

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
	"convene.dev/convene/internal/testkit/peer"
)

// reasons passes on why a peer was disconnected.
func reasons(p *peer.Peer) <-chan string {
	all := make(chan string, 1)
	go func() { all <- string(<-p.Disconnected()) }()
	return all
}

// applyText applies a manifest.
func (n *realNode) applyText(text string) {
	n.t.Helper()
	file := filepath.Join(n.t.TempDir(), "manifest.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		n.t.Fatal(err)
	}
	n.kubectl("apply", "--server-side", "--force-conflicts", "-f", file)
}

// leases of the managers, by name.
func (n *realNode) leases() map[string]coordinationv1.Lease {
	n.t.Helper()
	var all coordinationv1.LeaseList
	if err := n.Client.List(n.t.Context(), &all, client.InNamespace(manifests.SystemNamespace)); err != nil {
		n.t.Fatal(err)
	}
	found := map[string]coordinationv1.Lease{}
	for _, l := range all.Items {
		found[l.Name] = l
	}
	return found
}

// deleteNamespace deletes the tenant's namespace with a participant in a meeting, and makes it again.
func (n *realNode) deleteNamespace() {
	first, _ := n.a.enter(map[string]any{"room": "doomed", "name": "Ada"})
	gone := reasons(first)
	n.eventually(n.t, n.hasPeople("doomed", 1))
	began := time.Now()
	n.kubectl("delete", "namespace", n.Namespace, "--timeout="+patience.String())
	n.t.Logf("it took %.1f s", time.Since(began).Seconds())
	select {
	case <-gone:
	case <-time.After(patience):
		n.t.Error("a peer is still in a meeting whose namespace is gone")
	}
	n.apply("surroundings.yaml")
	n.apiKey()
	n.tenant()
	if all := n.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil); strings.Contains(all.raw, "doomed") {
		n.t.Errorf("the new tenant has meetings of the one before it: %s", all.raw)
	}
	n.peersMeet()
}

// killManager kills one of the managers without a word: the kubelet starts it again, and the other goes on.
func (n *realNode) killManager() {
	running := n.processes()
	if len(running) != 2 {
		n.t.Fatalf("%d managers run, want 2", len(running))
	}
	if err := syscall.Kill(running[0], syscall.SIGKILL); err != nil {
		n.t.Fatal(err)
	}
	testkit.Eventually(n.t, nodePatience, func() error {
		restarted := 0
		for _, pod := range n.managers() {
			for _, c := range pod.Status.ContainerStatuses {
				restarted += int(c.RestartCount)
			}
		}
		if now := n.processes(); restarted != 1 || len(now) != 2 || slices.Contains(now, running[0]) {
			return fmt.Errorf("%d restarts, processes %v, before %v", restarted, now, running)
		}
		return nil
	})
	n.rolledOut(manifests.SystemNamespace, "convene")
	n.a.want(http.StatusOK, "GET", "/api/v1/meetings", nil)
}

// balancerAddress is what the test's load balancer gives to LiveKit.
const balancerAddress = "192.168.77.10"

// loadBalancer moves LiveKit from the host's network behind a Service, and gives it Redis. The test is the load balancer: it writes the address into
// the Service's status, and kube-proxy does the rest.
func (n *realNode) loadBalancer() {
	n.helm("upgrade", "convene", manifests.Chart(n.t), "--reset-then-reuse-values", "--set", "livekit.network=loadBalancer",
		"--set", "livekit.loadBalancer.ips={"+balancerAddress+"}", "--set", "livekit.redis.create=true", "--set", "livekit.redis.passwordSecretName=redis")
	n.kubectl("patch", "service", "-n", "media", "convene-livekit-0", "--subresource=status", "--type=merge",
		"-p", `{"status":{"loadBalancer":{"ingress":[{"ip":"`+balancerAddress+`","ipMode":"VIP"}]}}}`)
	n.rolledOut("media", "convene-livekit-redis")
	n.rolledOut("media", "convene-livekit-0")
	n.eventually(n.t, func() error { return n.configReady("default") })
	testkit.Eventually(n.t, nodePatience, func() error {
		status, e := n.a.session(map[string]any{"room": "probe", "name": "Eve", "ticket": n.a.ticket(map[string]any{"room": "probe", "name": "Eve"})})
		if status != http.StatusOK {
			return fmt.Errorf("no session: %d %s", status, e.Error)
		}
		return nil
	})
	n.peersMeet()
}

// helmTest runs the chart's own tests, where it has some.
func (n *realNode) helmTest() {
	n.t.Log(n.helm("test", "convene"))
}

// uninstall: no manager runs any more. What people made stays, and can be deleted whenever they like.
func (n *realNode) uninstall() {
	n.a.want(http.StatusOK, "POST", "/api/v1/meeting", map[string]any{"room": "kept"})
	began := time.Now()
	n.helm("uninstall", "convene", "--wait")
	n.t.Logf("helm uninstall took %.1f s", time.Since(began).Seconds())
	n.nothingRuns()
}

// nothingRuns: the managers stop, and no object has a finalizer for which somebody would have to wait.
func (n *realNode) nothingRuns() {
	n.t.Helper()
	n.eventually(n.t, func() error {
		if left := n.processes(); len(left) > 0 {
			return fmt.Errorf("managers still run: %v", left)
		}
		return nil
	})
	var configs v1alpha1.ConferenceConfigList
	var meetings v1alpha1.MeetingList
	if err := errors.Join(n.Client.List(n.t.Context(), &configs), n.Client.List(n.t.Context(), &meetings)); err != nil {
		n.t.Fatal(err)
	}
	if len(configs.Items) == 0 || len(meetings.Items) == 0 {
		n.t.Errorf("there are %d ConferenceConfigs and %d Meetings", len(configs.Items), len(meetings.Items))
	}
	for _, c := range configs.Items {
		if len(c.Finalizers) > 0 {
			n.t.Errorf("the ConferenceConfig %s has the finalizers %q", c.Name, c.Finalizers)
		}
	}
	for _, m := range meetings.Items {
		if len(m.Finalizers) > 0 {
			n.t.Errorf("the Meeting %s has the finalizers %q", m.Name, m.Finalizers)
		}
	}
}

// installAgain installs the chart into a namespace that enforces Pod Security's level restricted. The Lease of the managers before runs
// out.
func (n *realNode) installAgain() {
	n.helm("install", "convene", manifests.Chart(n.t), "--values", n.file("values.yaml"), "--values", n.file("livekit.yaml"), "--wait")
	began := time.Now()
	testkit.Eventually(n.t, nodePatience, func() error {
		holder := n.leases()["controllers.convene.dev"].Spec.HolderIdentity
		if holder == nil || !slices.ContainsFunc(n.managers(), func(p corev1.Pod) bool { return strings.HasPrefix(*holder, p.Name) }) {
			return errors.New("no manager leads")
		}
		return nil
	})
	n.t.Logf("a manager leads %.1f s after all were ready", time.Since(began).Seconds())
	n.kubectl("wait", "--for=condition=Ready", "conferenceconfig/default", "--timeout="+nodePatience.String())
	n.rolledOut("media", "convene-livekit-redis")
	n.noWarnings()
}

// uninstallInARollout: between two leaders no manager leads, and four run.
func (n *realNode) uninstallInARollout() {
	n.kubectl("rollout", "restart", "-n", manifests.SystemNamespace, "deployment/convene")
	testkit.Eventually(n.t, nodePatience, func() error {
		if running := len(n.processes()); running < 3 {
			return fmt.Errorf("%d managers run", running)
		}
		return nil
	})
	n.helm("uninstall", "convene", "--wait")
	n.nothingRuns()
	n.kubectl("delete", "meetings,conferenceconfigs", "--all", "--timeout=20s")
}

// kustomizeBase installs the base without Helm, and takes it away.
func (n *realNode) kustomizeBase() {
	base := manifests.Overlay(n.t, "config", "resources: [../default]\nimages: [{name: localhost/convene, newTag: node}]\n")
	n.applyText(base)
	n.rolledOut(manifests.SystemNamespace, "convene-controller-manager")
	n.applyText("{apiVersion: convene.dev/v1alpha1, kind: ConferenceConfig, metadata: {name: default, namespace: meetings}, spec: " +
		"{variant: A, baseURL: 'https://meet.example.com', api: {keySecretRefs: [{name: api-key, key: key}]}}}")
	n.kubectl("wait", "--for=condition=APIKeysResolved", "conferenceconfig/default", "--timeout="+nodePatience.String())
	n.noWarnings()
	n.kubectl("delete", "conferenceconfigs", "--all", "--timeout=1m")
}
