// SPDX-License-Identifier: Apache-2.0

//go:build slow

package deploy

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestKustomizeByTheBook installs, and installs the next version, as the documents say.
func TestKustomizeByTheBook(t *testing.T) {
	c := testkit.EmptyControlPlane(t)
	image := func() string {
		var d appsv1.Deployment
		if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: manifests.SystemNamespace, Name: "convene-controller-manager"}, &d); err != nil {
			t.Fatal(err)
		}
		return d.Spec.Template.Spec.Containers[0].Image
	}
	out := c.Recipe(t, "deploy", testkit.RecipeOptions{})
	if got := image(); got != "ghcr.io/example/convene:v0.1.0" || !strings.Contains(out, "keySecretRefs") && !strings.Contains(out, "baseURL") {
		t.Errorf("the managers are of %s:\n%s", got, out)
	}
	c.Recipe(t, "kustomize-install", testkit.RecipeOptions{})
	if got := image(); got != "registry.example.com/convene:v0.1.0" {
		t.Errorf("the managers are of %s", got)
	}
}
