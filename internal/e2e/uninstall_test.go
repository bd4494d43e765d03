// SPDX-License-Identifier: Apache-2.0

//go:build slow

package e2e

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestNoOrderOfDeletionHangs deletes a tenant, its Secrets and its meetings, one of which has people in it, in
// different orders, with the manager there. The deletion of a namespace can take any order.
func TestNoOrderOfDeletionHangs(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	all := []string{"conferenceconfigs", "secrets", "meetings"}
	for _, first := range all {
		t.Run(first+" first", func(t *testing.T) {
			w := newWorld(t)
			w.Create(t, w.meeting("standing"))
			w.a.enter(map[string]any{"room": "busy", "name": "Ada"})
			w.eventually(t, w.hasPhase("standing", v1alpha1.MeetingActive))
			w.Kubectl(t, "delete", first, "--all", "--wait=false")
			for _, kind := range all {
				w.Kubectl(t, "delete", kind, "--all", "--wait=false")
			}
			w.eventually(t, w.nothingLeft(t))
		})
	}
}

func (w *world) nothingLeft(t *testing.T) func() error {
	return func() error {
		if out := w.Kubectl(t, "get", "meetings,conferenceconfigs", "--output=name"); strings.TrimSpace(out) != "" {
			return errors.New("still there: " + out)
		}
		return nil
	}
}

// TestReleaseWaitsForTheLastManager takes the manager away before what it cares for. `manager --release` has to be
// the last: while a manager leads it waits, and when it has run nothing hangs. It runs with the rights of the Job with
// which helm uninstall ends.
func TestReleaseWaitsForTheLastManager(t *testing.T) {
	testkit.Parallel(t, testkit.Light)
	cluster := testkit.ControlPlane(t)
	all := manifests.Helm(t, cluster.Namespace, "--set", "watchNamespace="+cluster.Namespace+",rbac.userRoles=false")
	grant(t, cluster, all)
	scaledDown(t, cluster, manifests.OfKind(all, "Deployment")[0])
	account := serviceAccountKubeconfig(t, cluster, cluster.Namespace, "convene-release")
	lease := "--leader-election-namespace=" + cluster.Namespace
	w := newWorldWith(t, cluster, testkit.ManagerOptions{Args: []string{"--leader-elect", lease}})
	w.Create(t, w.meeting("standing"))
	w.eventually(t, w.hasPhase("standing", v1alpha1.MeetingActive))

	var log strings.Builder
	release := exec.CommandContext(t.Context(), w.manager.Binary(), "--release", "--kubeconfig", account, "--namespace", w.Namespace, lease,
		"--release-deployment=convene")
	release.Stderr = &log
	if err := release.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- release.Wait() }()
	select {
	case err := <-ended:
		t.Fatalf("it did not wait for the manager: %v\n%s", err, log.String())
	case <-time.After(3 * time.Second):
	}
	// Killed, it holds its Lease for a while: time for a Meeting to be deleted that nobody lets go.
	w.manager.Kill()
	w.Kubectl(t, "delete", "meeting", "standing", "--wait=false")
	if gone := w.isGone("standing")(); gone == nil {
		t.Error("a Meeting went without its manager")
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
	case <-time.After(patience):
		t.Fatal("it waits for a manager that has stopped")
	}
	if err := w.isGone("standing")(); err != nil {
		t.Error(err)
	}
	w.Kubectl(t, "delete", "meetings,conferenceconfigs", "--all", "--timeout=30s")
	if err := w.nothingLeft(t)(); err != nil {
		t.Fatal(err)
	}
}

// scaledDown makes a Deployment that has been scaled to none, as the Deployment's controller leaves it.
func scaledDown(t *testing.T, c *testkit.Cluster, deployment *unstructured.Unstructured) {
	t.Helper()
	if err := unstructured.SetNestedField(deployment.Object, int64(0), "spec", "replicas"); err != nil {
		t.Fatal(err)
	}
	c.Create(t, deployment)
	if err := unstructured.SetNestedField(deployment.Object, deployment.GetGeneration(), "status", "observedGeneration"); err != nil {
		t.Fatal(err)
	}
	if err := c.Client.Status().Update(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
}
