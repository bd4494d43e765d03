// SPDX-License-Identifier: Apache-2.0

//go:build node

package e2e

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// nodePatience bounds waits for what a cluster does: schedule, start, probe, drain.
const nodePatience = 3 * time.Minute

// realNode is Convene on a Kubernetes node that hack/node has started: the test runs on it, in its network.
type realNode struct {
	*world
	t *testing.T
	// began is for the times in the log.
	began time.Time
	// browserTrust is the flag that has a browser trust the certificate of the Ingress.
	browserTrust string
}

// TestNode installs Convene on a real node, uses it, upgrades and uninstalls it. Each step begins where the one before ended.
func TestNode(t *testing.T) {
	n := &realNode{world: &world{Cluster: testkit.GivenCluster(t, "meetings")}, began: time.Now()}
	n.a = account{baseURL: "https://meet.example.com:30443", key: "key-of-a-tenant-0123456789abcdef"}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"a cluster with an ingress controller", n.surroundings},
		{"an older build by its own chart, with LiveKit on the host's network", n.installOlder},
		{"a media server and a tenant by kubectl", n.tenant},
		{"an upgrade from it under load, with two browsers in a meeting", n.upgrade},
		{"the node is drained, under load", n.drain},
		{"a meeting of two peers through the Ingress", n.peersMeet},
		{"a tenant's namespace is deleted", n.deleteNamespace},
		{"a manager is killed", n.killManager},
		{"network policies", n.policies},
		{"LiveKit behind a load balancer, with Redis", n.loadBalancer},
		{"helm test", n.helmTest},
		{"uninstall", n.uninstall},
		{"install again, with LiveKit on the host's network and Redis", n.installAgain},
		{"uninstall in the middle of a rollout", n.uninstallInARollout},
		{"the kustomize base", n.kustomizeBase},
	} {
		began := time.Now()
		ok := t.Run(step.name, func(t *testing.T) {
			n.t, n.a.t = t, t
			defer func() {
				if t.Failed() {
					n.describe()
				}
			}()
			step.do()
		})
		if !ok {
			t.FailNow()
		}
		t.Logf("%5.1f s  %s", time.Since(began).Seconds(), step.name)
	}
	t.Logf("%5.1f s in all", time.Since(n.began).Seconds())
}

// describe prints what the cluster shows of itself, for a step that failed.
func (n *realNode) describe() {
	for _, args := range [][]string{
		{"get", "pods,services,jobs,leases", "-A", "-o", "wide"},
		{"get", "events", "-A", "--sort-by=.lastTimestamp", "--field-selector=type=Warning"},
		{"get", "conferenceconfigs,mediaservers,meetings", "-A", "-o", "wide"},
		{"logs", "-n", manifests.SystemNamespace, "-l", "app.kubernetes.io/name=convene", "--tail=30", "--prefix"},
		{"logs", "-n", "ingress", "-l", "app=ingress", "--tail=10"},
		{"logs", "-n", "media", "-l", "app.kubernetes.io/name=convene", "--tail=10", "--prefix"},
	} {
		out, err := n.command("kubectl", args...).CombinedOutput()
		n.t.Logf("kubectl %s (%v):\n%s", strings.Join(args, " "), err, out)
	}
}

// file is one of testdata/node.
func (n *realNode) file(name string) string { return filepath.Join("testdata", "node", name) }

// kubectl runs it and returns what it prints. Objects that name no namespace are of the tenant's.
func (n *realNode) kubectl(args ...string) string {
	n.t.Helper()
	out, err := n.command("kubectl", args...).CombinedOutput()
	if err != nil {
		n.t.Fatalf("kubectl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (n *realNode) apply(name string) { n.t.Helper(); n.kubectl("apply", "-f", n.file(name)) }

// rolledOut waits for a Deployment.
func (n *realNode) rolledOut(namespace, name string) {
	n.t.Helper()
	n.kubectl("rollout", "status", "-n", namespace, "deployment/"+name, "--timeout="+nodePatience.String())
}

// helm runs it for the release.
func (n *realNode) helm(args ...string) string {
	n.t.Helper()
	out, err := n.command("helm", append(args, "--namespace", manifests.SystemNamespace, "--timeout", nodePatience.String())...).CombinedOutput()
	if err != nil {
		n.t.Fatalf("helm %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// surroundings makes what is in a cluster before Convene comes.
func (n *realNode) surroundings() {
	n.kubectl("config", "set-context", "--current", "--namespace="+n.Namespace)
	n.apply("surroundings.yaml")
	cert, key := filepath.Join(n.t.TempDir(), "tls.crt"), filepath.Join(n.t.TempDir(), "tls.key")
	parsed := testkit.Certificate(n.t, cert, key, 1, "meet.example.com")
	n.trust(parsed)
	n.kubectl("create", "secret", "tls", "meet-tls", "-n", manifests.SystemNamespace, "--cert", cert, "--key", key)
	n.kubectl("create", "secret", "generic", "redis", "-n", "media", "--from-literal=password=password-of-redis-0123")
	n.apiKey()
	n.rolledOut("ingress", "ingress")
	n.rolledOut("strangers", "stranger")
}

// apiKey makes the tenant's Secret.
func (n *realNode) apiKey() {
	n.kubectl("create", "secret", "generic", "api-key", "--from-literal=key="+n.a.key)
	n.kubectl("label", "secret", "api-key", v1alpha1.LabelUsedBy+"="+v1alpha1.UsedByConferenceConfig)
}

// trust has requests of this process, and browsers, trust the certificate.
func (n *realNode) trust(c *x509.Certificate) {
	roots := x509.NewCertPool()
	roots.AddCert(c)
	http.DefaultTransport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	n.browserTrust = "--ignore-certificate-errors-spki-list=" + base64.StdEncoding.EncodeToString(sum[:])
}

// noWarnings: a start that goes well leaves no Warning at the managers' pods, which people would look into. One that has to stop is
// not ready while it drains, and that is a Warning of Kubernetes.
func (n *realNode) noWarnings() {
	n.t.Helper()
	var events corev1.EventList
	if err := n.Client.List(n.t.Context(), &events, client.InNamespace(manifests.SystemNamespace)); err != nil {
		n.t.Fatal(err)
	}
	running := map[types.UID]bool{}
	for _, pod := range n.managers() {
		running[pod.UID] = pod.DeletionTimestamp == nil
	}
	if len(running) < 2 || len(events.Items) == 0 {
		n.t.Errorf("%d managers and %d events: nothing is seen", len(running), len(events.Items))
	}
	for _, e := range events.Items {
		if e.Type == corev1.EventTypeWarning && running[e.InvolvedObject.UID] {
			n.t.Errorf("a start leaves a Warning behind: %s %s: %s", e.InvolvedObject.Name, e.Reason, e.Message)
		}
	}
}

// tenant makes a media server and a tenant.
func (n *realNode) tenant() {
	n.apply("tenant.yaml")
	n.kubectl("wait", "--for=condition=Ready", "conferenceconfig/default", "--timeout="+nodePatience.String())
}

// peersMeet holds a meeting: signalling goes through the Ingress, media to LiveKit.
func (n *realNode) peersMeet() {
	first, e := n.a.enter(map[string]any{"room": "board", "name": "Ada"})
	second, _ := n.a.enter(map[string]any{"room": "board", "name": "Grace"})
	if !strings.HasPrefix(e.Engine.URL, "wss://meet.example.com:30443/") {
		n.t.Errorf("signalling is at %s, not at the tenant's address", e.Engine.URL)
	}
	n.eventually(n.t, n.hasPeople("board", 2))
	n.eventually(n.t, func() error {
		if got := len(first.Others()); got != 1 {
			return fmt.Errorf("Ada sees %d others", got)
		}
		return nil
	})
	n.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/board", nil)
	for _, gone := range []<-chan string{reasons(first), reasons(second)} {
		select {
		case <-gone:
		case <-time.After(patience):
			n.t.Error("a peer is still in a meeting that has ended")
		}
	}
}

// managers are the pods of the managers, without the impostor.
func (n *realNode) managers() []corev1.Pod {
	n.t.Helper()
	var all corev1.PodList
	if err := n.Client.List(n.t.Context(), &all, client.InNamespace(manifests.SystemNamespace), client.MatchingLabels{"app.kubernetes.io/name": "convene"}); err != nil {
		n.t.Fatal(err)
	}
	// The chart and the base have a word of their own for the component.
	return slices.DeleteFunc(all.Items, func(p corev1.Pod) bool {
		return p.Name == "impostor" || !strings.Contains(p.Labels["app.kubernetes.io/component"], "manager")
	})
}

// processes are those of the managers: the test sees the processes of all containers of the node.
func (n *realNode) processes() (found []int) {
	n.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		n.t.Fatal(err)
	}
	for _, file := range all {
		// A process may have ended meanwhile.
		line, _ := os.ReadFile(file)
		if !strings.HasPrefix(string(line), "/manager\x00--gateway") {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(file, "/proc/%d/", &pid); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// command is a program of this repository that goes on until the test's step ends.
func (n *realNode) command(name string, args ...string) *exec.Cmd {
	n.t.Helper()
	cmd := exec.CommandContext(n.t.Context(), manifests.Tool(n.t, name), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+n.Kubeconfig)
	return cmd
}
