// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

const (
	scaled    = "autoscaling.enabled=true,livekit.autoscaling.enabled=true"
	unscaled  = "autoscaling.enabled=false,livekit.autoscaling.enabled=false"
	ofOthers  = "replicaCount=,livekit.nodes="
	markScale = "convene.dev/replicas"
	// forOne is what is rendered into the release's namespace alone, so that releases of one test do not meet.
	forOne = "crds.install=false,rbac.create=false,rbac.userRoles=false,livekit.enabled=true,livekit.redis.address=r:6379"
)

// TestScalingKeepsTheNumber: no upgrade changes the number of what something in the cluster scales: neither the upgrade that gives the number
// away, nor those after it, nor the upgrade that takes it back.
func TestScalingKeepsTheNumber(t *testing.T) {
	withEachHelm(t, scalingKeepsTheNumber)
}

func scalingKeepsTheNumber(t *testing.T, helmPath string, forces []string) {
	c := testkit.ControlPlane(t)
	for release, at := range map[string]struct {
		first, then string // what is set at the installation, and later
		number      int32
		mark        string
	}{
		"convene-a": {"replicaCount=5,livekit.nodes=4", scaled, 5, "kept"},
		"convene-b": {scaled, scaled, 5, "scaled"},
		"convene-c": {"replicaCount=5,livekit.nodes=4", ofOthers, 5, "kept"},
		"convene-d": {"replicaCount=0,livekit.nodes=0", ofOthers, 0, "kept"},
	} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			try := func(args ...string) (out, complaint string, err error) {
				return manifests.Run(t, helmPath, append(args, "--kubeconfig", c.Kubeconfig, "--namespace", c.Namespace)...)
			}
			helm := func(args ...string) string {
				t.Helper()
				out, complaint, err := try(args...)
				if err != nil {
					t.Errorf("helm %q: %v\n%s", args, err, complaint)
				}
				return out
			}
			upgrade := func(set string) []string {
				return []string{"upgrade", release, manifests.Chart(t), "--reset-then-reuse-values", "--set", set}
			}
			names := []string{release, release + "-livekit"}
			all := func(when string, number int32, mark string) {
				t.Helper()
				for _, name := range names {
					d := deployment(t, c, c.Namespace, name)
					if *d.Spec.Replicas != number || d.Annotations[markScale] != mark {
						t.Errorf("%s there are %d of %s, not %d, with the mark %q, not %q", when, *d.Spec.Replicas, name, number, d.Annotations[markScale], mark)
					}
				}
			}
			scaleTo := func(n int32) {
				for _, name := range names {
					scale(t, c, name, n)
				}
			}
			helm("install", release, manifests.Chart(t), "--set", forOne+","+at.first)
			number := at.number
			scaleTo(number)
			for _, tag := range []string{"one", "two"} {
				helm(upgrade(at.then + ",image.tag=" + tag)...)
				all("after upgrade "+tag, number, at.mark)
				number += 2
				scaleTo(number) // as an autoscaler does
			}
			if got := strings.Contains(helm("get", "manifest", release), "\n  replicas:"); got != (at.mark == "kept") {
				t.Errorf("a number is rendered: %v", got)
			}
			if release != "convene-a" {
				return // The way back does not depend on how the number was given away.
			}
			few := fmt.Sprintf("%s,replicaCount=%d,livekit.nodes=%[2]d", unscaled, number-1)
			if _, complaint, err := try(upgrade(few)...); err == nil || !strings.Contains(complaint, fmt.Sprintf("=%d for this upgrade", number)) {
				t.Errorf("with fewer than run: %v: %s", err, complaint)
			}
			all("after an upgrade that was refused", number, at.mark)
			helm(upgrade(fmt.Sprintf("%s,replicaCount=%d,livekit.nodes=%[2]d", unscaled, number))...)
			all("with a number again", number, "")
			if len(helms) == 1 {
				return
			}
			helm(append(upgrade(few), forces...)...)
			all("with a lower number", number-1, "")
			helm(upgrade(at.then)...)
			helm(append(upgrade(unscaled+",replicaCount=0,livekit.nodes=0"), forces...)...)
			all("stopped", 0, "")
		})
	}
}

// TestTheNumberIsGivenAway where what renders sees no cluster, as the documents say.
func TestTheNumberIsGivenAway(t *testing.T) {
	c := testkit.ControlPlane(t)
	namespace(t, c, manifests.SystemNamespace, "privileged")
	sync := func(set string) {
		t.Helper()
		for _, o := range manifests.OfKind(manifests.Helm(t, manifests.SystemNamespace, "--set", set), "Deployment") {
			if err := c.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o), client.FieldOwner("argocd-controller"), client.ForceOwnership); err != nil {
				t.Fatal(err)
			}
		}
	}
	sync("replicaCount=5")
	t.Cleanup(func() {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: manifests.SystemNamespace, Name: "convene"}}
		if err := c.Client.Delete(context.Background(), d); err != nil {
			t.Error(err)
		}
	})
	c.Recipe(t, "keep-replicas", testkit.RecipeOptions{})
	sync("autoscaling.enabled=true")
	if got := *deployment(t, c, manifests.SystemNamespace, "convene").Spec.Replicas; got != 5 {
		t.Errorf("there are %d managers", got)
	}
}

func deployment(t *testing.T, c *testkit.Cluster, namespace, name string) *appsv1.Deployment {
	t.Helper()
	d := &appsv1.Deployment{}
	if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, d); err != nil {
		t.Fatal(err)
	}
	return d
}

func scale(t *testing.T, c *testkit.Cluster, name string, n int32) {
	t.Helper()
	to := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: n}}
	if err := c.Client.SubResource("scale").Update(t.Context(), deployment(t, c, c.Namespace, name), client.WithSubResourceBody(to)); err != nil {
		t.Fatal(err)
	}
}
