// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"context"
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
	scaled = "autoscaling.enabled=true,livekit.autoscaling.enabled=true"
	// forOne is what is rendered into the release's namespace alone, so that releases of one test do not meet.
	forOne = "crds.install=false,rbac.create=false,rbac.userRoles=false,livekit.enabled=true,livekit.redis.address=r:6379"
)

// TestAutoscalingKeepsTheNumber: no upgrade changes the number of what is scaled by load, neither the upgrade that switches autoscaling on nor
// those after it.
func TestAutoscalingKeepsTheNumber(t *testing.T) {
	c := testkit.ControlPlane(t)
	helm := func(args ...string) string {
		out, complaint, err := manifests.Run(t, manifests.Tool(t, "helm"), append(args, "--kubeconfig", c.Kubeconfig, "--namespace", c.Namespace)...)
		if err != nil {
			t.Errorf("helm %q: %v\n%s", args, err, complaint)
		}
		return out
	}
	for release, at := range map[string]struct {
		first    string // what is set at the installation
		rendered bool
	}{
		"convene-a": {"replicaCount=5,livekit.nodes=4", true},
		"convene-b": {scaled, false},
	} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			helm("install", release, manifests.Chart(t), "--set", forOne+","+at.first)
			number := map[string]int32{release: 5, release + "-livekit": 4}
			for name, n := range number {
				scale(t, c, name, n)
			}
			for _, tag := range []string{"one", "two"} {
				helm("upgrade", release, manifests.Chart(t), "--reset-then-reuse-values", "--set", scaled+",image.tag="+tag)
				for name, n := range number {
					if got := *deployment(t, c, c.Namespace, name).Spec.Replicas; got != n {
						t.Errorf("after upgrade %s there are %d of %s, not %d", tag, got, name, n)
					}
					number[name] = n + 2
					scale(t, c, name, n+2) // as an autoscaler does
				}
			}
			if got := strings.Contains(helm("get", "manifest", release), "\n  replicas:"); got != at.rendered {
				t.Errorf("a number is rendered: %v", got)
			}
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
