// SPDX-License-Identifier: Apache-2.0

//go:build slow

package deploy

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestTheFleetIsTaken has the API server take the example repository step by step, as Flux applies it: with namespaces, kinds, Pod
// Security and the hosts that each namespace may claim as they are then.
func TestTheFleetIsTaken(t *testing.T) {
	c := testkit.EmptyControlPlane(t)
	thirdParties(t, c)
	f := gitOps(t)
	for _, name := range f.order(t) {
		for _, o := range f.steps[name].objects {
			if strings.HasSuffix(o.GroupVersionKind().Group, ".toolkit.fluxcd.io") {
				continue
			}
			strict := client.WithFieldValidation(c.Client, metav1.FieldValidationStrict)
			testkit.Eventually(t, patience, func() error {
				// Kinds that have just been defined are served a moment later.
				return strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.FieldOwner("flux"), client.ForceOwnership)
			})
			if o.GetKind() == "Deployment" || o.GetKind() == "Job" {
				template, _, err := unstructured.NestedMap(o.Object, "spec", "template")
				if err != nil {
					t.Fatal(err)
				}
				runPod(t, c, o, *manifests.As[corev1.PodTemplateSpec](t, &unstructured.Unstructured{Object: template}))
			}
		}
	}
	// A host of another is refused: what the example shows is in force.
	testkit.Eventually(t, patience, func() error {
		if err := c.Client.Create(t.Context(), claimed("team-a", "x", "https://team-b.meet.example.com"), client.DryRunAll); err == nil {
			return errors.New("the policy is not in force yet")
		}
		return nil
	})
}
