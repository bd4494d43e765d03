// SPDX-License-Identifier: Apache-2.0

//go:build slow

package deploy

import (
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestReleaseFromInstallToUninstall has helm do to a real cluster API what a platform team does: install, upgrade,
// uninstall, install again. No node runs anything here, so hooks are left out; they have tests of their own.
func TestReleaseFromInstallToUninstall(t *testing.T) {
	withEachHelm(t, releaseFromInstallToUninstall)
}

func releaseFromInstallToUninstall(t *testing.T, helmPath string, _ []string) {
	c := testkit.EmptyControlPlane(t)
	helm := func(args ...string) string {
		t.Helper()
		args = append(args, "--kubeconfig", c.Kubeconfig, "--namespace", manifests.SystemNamespace)
		out, complaint, err := manifests.Run(t, helmPath, args...)
		if err != nil {
			t.Fatalf("helm %q: %v\n%s", args, err, complaint)
		}
		return out
	}
	refused := func(says string, args ...string) {
		t.Helper()
		args = append(args, "--kubeconfig", c.Kubeconfig, "--namespace", manifests.SystemNamespace)
		if _, complaint, err := manifests.Run(t, helmPath, args...); err == nil || !strings.Contains(complaint, says) {
			t.Errorf("helm %q: %v\n%s", args, err, complaint)
		}
	}
	const server = "apiVersion: convene.dev/v1alpha1\nkind: MediaServer\nmetadata: {name: livekit}\nspec: {apiURL: 'http://livekit.media.svc:7880', secretRef: {name: livekit}}\n"
	ownKind := filepath.Join(t.TempDir(), "values.yaml")
	write(t, ownKind, map[string]any{"extraObjects": []any{server}})
	refused("ensure CRDs are installed first", "install", "convene", manifests.Chart(t), "--create-namespace", "--values", ownKind)
	notes := helm("install", "convene", manifests.Chart(t), "--create-namespace", "--set", "ingress.enabled=true,ingress.hosts={meet.example.com}")
	if !strings.Contains(notes, "baseURL: https://meet.example.com") {
		t.Errorf("the notes do not lead to a tenant:\n%s", notes)
	}
	tenant := &v1alpha1.ConferenceConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "default"},
		Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: "https://meet.example.com",
			API: &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "api-key", Key: "key"}}},
		},
	}
	// The definitions need a moment to be served.
	testkit.Eventually(t, patience, func() error { return client.IgnoreAlreadyExists(c.Client.Create(t.Context(), tenant)) })

	helm("upgrade", "convene", manifests.Chart(t), "--reset-then-reuse-values", "--set", "image.tag=v2,replicaCount=3", "--values", ownKind)
	if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: manifests.SystemNamespace, Name: "livekit"}, &v1alpha1.MediaServer{}); err != nil {
		t.Error(err)
	}
	var managers appsv1.Deployment
	key := client.ObjectKey{Namespace: manifests.SystemNamespace, Name: "convene"}
	if err := c.Client.Get(t.Context(), key, &managers); err != nil {
		t.Fatal(err)
	}
	if image := managers.Spec.Template.Spec.Containers[0].Image; image != "localhost/convene:v2" || *managers.Spec.Replicas != 3 {
		t.Errorf("after the upgrade there are %d of %s", *managers.Spec.Replicas, image)
	}

	helm("uninstall", "convene", "--no-hooks")
	if err := c.Client.Get(t.Context(), key, &managers); !apierrors.IsNotFound(err) {
		t.Errorf("the managers are still there: %v", err)
	}
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(tenant), tenant); err != nil || tenant.DeletionTimestamp != nil {
		t.Errorf("uninstalling took the tenant: %v", err)
	}
	helm("install", "convene", manifests.Chart(t))
	helm("uninstall", "convene")
	refused("invalid ownership metadata", "install", "another", manifests.Chart(t))
	helm("install", "another", manifests.Chart(t), "--take-ownership")
	refused("invalid ownership metadata", "install", "second", manifests.Chart(t))
	helm("install", "second", manifests.Chart(t), "--set", "crds.install=false,rbac.userRoles=false")
}
