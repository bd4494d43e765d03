// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"convene.dev/convene/internal/testkit"
)

// thirdParties installs what stands for the custom resource definitions of others: written by us from their
// documentation, with the fields that we use and no others.
func thirdParties(t *testing.T, c *testkit.Cluster) {
	t.Helper()
	if _, err := envtest.InstallCRDs(c.Config, envtest.CRDInstallOptions{
		Paths: []string{filepath.Join("testdata", "crds")}, ErrorIfPathMissing: true,
	}); err != nil {
		t.Fatal(err)
	}
}

func namespace(t *testing.T, c *testkit.Cluster, name, podSecurity string) {
	t.Helper()
	err := c.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": podSecurity,
	}}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// apply asks the API server what would become of an object.
func apply(t *testing.T, c *testkit.Cluster, o *unstructured.Unstructured) {
	t.Helper()
	strict := client.WithFieldValidation(c.Client, metav1.FieldValidationStrict)
	err := strict.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()), client.DryRunAll, client.FieldOwner("kubectl"), client.ForceOwnership)
	if err != nil {
		t.Errorf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
}
