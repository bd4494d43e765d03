// SPDX-License-Identifier: Apache-2.0

//go:build node

package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// installOlder installs an older build with the chart that it came with.
func (n *realNode) installOlder() {
	from := os.Getenv("CONVENE_UPGRADE_FROM")
	if from == "" {
		n.t.Fatal("CONVENE_UPGRADE_FROM does not name the folder of an older build: run `make test-node`")
	}
	n.helm("install", "convene", filepath.Join(from, "src", "config", "chart"),
		"--values", n.file("values.yaml"), "--values", n.file("older.yaml"), "--wait")
}

// upgrade upgrades the older build under load, with two browsers in a meeting, which have the older pages: no request is lost, and
// nobody drops out. Where the chart changes LiveKit's pods, LiveKit waits for the meeting to end before it restarts.
func (n *realNode) upgrade() {
	browser := testkit.OwnBrowser(n.t, n.browserTrust)
	join := func(name string) *testkit.Page {
		link := n.a.want(http.StatusOK, "POST", "/api/v1/join", map[string]any{"room": "stage", "name": name, "audio": true, "video": true}).text("join")
		return browser.Open(n.t, link)
	}
	ada, grace := join("Ada"), join("Grace")
	ada.WaitFor(n.t, seesAndHears("Grace"))
	grace.WaitFor(n.t, seesAndHears("Ada"))
	identities := n.identities(n.t, "stage", 2)

	n.refusesOldValues()

	// What the changelog says to do before the update.
	for managedBy, usedBy := range map[string]string{"convene": v1alpha1.UsedByConferenceConfig, "convene-api": v1alpha1.UsedByMeeting} {
		n.kubectl("label", "secrets", "-A", "-l", "app.kubernetes.io/managed-by="+managedBy, v1alpha1.LabelUsedBy+"="+usedBy)
	}
	// Two clients: a machine that has time for nothing else shows nothing.
	slowest, stop := n.slowestWrite(n.t), n.loadOf(n.t, 2)
	// As docs/operate.md has it, with a null for each old name. Not with --wait, which waits for LiveKit, and LiveKit for the meeting.
	// This chart lets managers ask DNS without more.
	n.helm("upgrade", "convene", manifests.Chart(n.t), "--reset-then-reuse-values", "--values", n.file("values.yaml"), "--values", n.file("upgraded.yaml"),
		"--set", "engine=null,networkPolicy.enginePorts=null,networkPolicy.extraEgress=null")
	n.onlyNewManagers("localhost/convene:node")
	// Managers of before had a Lease each. The changelog names this command.
	n.kubectl("delete", "lease", "-n", manifests.SystemNamespace, "-l", "convene.dev/identity=manager")
	sent, failures := stop()
	n.t.Logf("%d requests during the upgrade", sent)
	report(n.t, failures, slowest())
	if now := n.identities(n.t, "stage", 2); !slices.Equal(now, identities) {
		n.t.Errorf("a participant dropped out and came back: %q, before %q", now, identities)
	}
	ada.WaitFor(n.t, seesAndHears("Grace"))
	grace.WaitFor(n.t, seesAndHears("Ada"))
	n.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/stage", nil)
	n.engineIsBack()
}

// refusesOldValues: an upgrade with the values of the release is refused, and the error has the new names.
func (n *realNode) refusesOldValues() {
	n.t.Helper()
	out, err := n.command("helm", "upgrade", "convene", manifests.Chart(n.t), "--reset-then-reuse-values", "--namespace", manifests.SystemNamespace).CombinedOutput()
	if err == nil {
		n.t.Fatalf("values with the names of before are taken:\n%s", out)
	}
	for _, names := range []string{"engine is livekit now", "networkPolicy.enginePorts is networkPolicy.mediaServerPorts now"} {
		if !strings.Contains(string(out), names) {
			n.t.Errorf("the error lacks %q:\n%s", names, out)
		}
	}
}

// onlyNewManagers waits until the new ones are ready, and the old ones have drained and ended.
func (n *realNode) onlyNewManagers(image string) {
	n.t.Helper()
	n.rolledOut(manifests.SystemNamespace, "convene")
	testkit.Eventually(n.t, nodePatience, func() error {
		pods := n.managers()
		for _, pod := range pods {
			if pod.Spec.Containers[0].Image != image {
				return fmt.Errorf("%s is still there", pod.Name)
			}
		}
		if len(pods) != 2 {
			return fmt.Errorf("%d managers", len(pods))
		}
		return nil
	})
}

// engineIsBack waits until LiveKit has ended what it had to wait for, and serves again.
func (n *realNode) engineIsBack() {
	n.t.Helper()
	n.rolledOut("media", "convene-livekit")
	n.eventually(n.t, func() error { return n.configReady("default") })
}

// drain drains the node of all that the chart runs, as `kubectl drain` does before a machine is upgraded. The
// PodDisruptionBudget holds the second manager until another one is ready; LiveKit waits for its call to end. There is no other node:
// the test lets the node take pods again once the budget has been seen to hold.
func (n *realNode) drain() {
	call := n.a.mustEnter(map[string]any{"ticket": n.a.ticket(map[string]any{"room": "lasting", "name": "Ada"})})
	// Past the gateway, because a peer does not come back by itself when a manager that stops cuts its connection.
	call.Engine.URL = "ws://" + nodeAddress + ":7880"
	gone := reasons(call.connect(n.t))
	n.eventually(n.t, n.hasPeople("lasting", 1))
	before := n.pods()

	slowest, stop := n.slowestWrite(n.t), n.loadOf(n.t, 2)
	drain, said := n.command("kubectl", "drain", "node1", "--pod-selector=app.kubernetes.io/name=convene", "--timeout="+nodePatience.String()), &output{}
	drain.Stdout, drain.Stderr = said, said
	if err := drain.Start(); err != nil {
		n.t.Fatal(err)
	}
	testkit.Eventually(n.t, nodePatience, func() error {
		if text := said.String(); !strings.Contains(text, "would violate the pod's disruption budget") {
			return fmt.Errorf("the budget does not hold the second manager: %s", text)
		}
		return nil
	})
	n.kubectl("uncordon", "node1")
	testkit.Eventually(n.t, nodePatience, func() error {
		for _, pod := range n.managers() {
			if before[pod.UID] {
				return fmt.Errorf("%s is still there: %s", pod.Name, said)
			}
		}
		return nil
	})
	n.onlyNewManagers("localhost/convene:node")
	sent, failures := stop()
	n.t.Logf("%d requests during the drain", sent)
	report(n.t, failures, slowest())

	select {
	case reason := <-gone:
		n.t.Errorf("LiveKit was evicted, and cut a call: %s", reason)
	default:
	}
	n.a.want(http.StatusOK, "DELETE", "/api/v1/meeting/lasting", nil)
	select {
	case <-gone:
	case <-time.After(patience):
		n.t.Error("a peer is still in a meeting that has ended")
	}
	if err := drain.Wait(); err != nil {
		n.t.Errorf("kubectl drain: %v: %s", err, said)
	}
	n.engineIsBack()
	for pod := range n.pods() {
		if before[pod] {
			n.t.Errorf("the pod %s was not drained: %s", pod, said)
		}
	}
}

// pods are all that the chart runs.
func (n *realNode) pods() map[types.UID]bool {
	n.t.Helper()
	var all corev1.PodList
	if err := n.Client.List(n.t.Context(), &all, client.MatchingLabels{"app.kubernetes.io/name": "convene"}); err != nil {
		n.t.Fatal(err)
	}
	found := map[types.UID]bool{}
	for _, pod := range all.Items {
		found[pod.UID] = true
	}
	return found
}

// output is what a program has printed so far.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
