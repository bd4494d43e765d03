// SPDX-License-Identifier: Apache-2.0

//go:build slow

package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// nextChart copies the chart into a folder as its next version might be: with one new value, which a new template uses, and with
// another default.
func nextChart(t *testing.T, folder string) {
	t.Helper()
	if err := os.CopyFS(folder, os.DirFS(manifests.Chart(t))); err != nil {
		t.Fatal(err)
	}
	for file, change := range map[string]func(string) string{
		"values.yaml": func(s string) string {
			return strings.Replace(s, "revisionHistoryLimit: 10\n", "revisionHistoryLimit: 7\n", 1) + "newcomer:\n  enabled: false\n  name: newcomer\n"
		},
		"values.schema.json": func(s string) string {
			return strings.Replace(s, `"replicaCount": {`, `"newcomer": {"type": "object"}, "replicaCount": {`, 1)
		},
		"templates/newcomer.yaml": func(string) string {
			return "{{ if .Values.newcomer.enabled }}\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.newcomer.name }}\n{{ end }}\n"
		},
	} {
		path := filepath.Join(folder, file)
		before, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		after := change(string(before))
		if after == string(before) {
			t.Fatalf("%s is as it was", file)
		}
		if err := os.WriteFile(path, []byte(after), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUpgradeBringsNewDefaultsAndKeepsYours, by the documents' command, from this chart to one that has a value more. Helm's
// --reuse-values, which much is written about, fails there.
func TestUpgradeBringsNewDefaultsAndKeepsYours(t *testing.T) {
	withEachHelm(t, upgradeBringsNewDefaultsAndKeepsYours)
}

func upgradeBringsNewDefaultsAndKeepsYours(t *testing.T, helmPath string, _ []string) {
	c := testkit.EmptyControlPlane(t)
	helm := func(args ...string) (string, error) {
		_, complaint, err := manifests.Run(t, helmPath, append(args, "--kubeconfig", c.Kubeconfig, "--namespace", manifests.SystemNamespace)...)
		return complaint, err
	}
	clone := t.TempDir()
	next := filepath.Join(clone, "config", "chart")
	nextChart(t, next)
	if complaint, err := helm("install", "convene", manifests.Chart(t), "--create-namespace", "--set", "replicaCount=3"); err != nil {
		t.Fatal(complaint)
	}
	if complaint, err := helm("upgrade", "convene", next, "--reuse-values"); err == nil || !strings.Contains(complaint, "nil pointer") {
		t.Errorf("--reuse-values does what the documents warn of no more: %v %s", err, complaint)
	}
	c.Recipe(t, "upgrade", testkit.RecipeOptions{Dir: clone, Fill: map[string]string{"helm upgrade": helmPath + " upgrade"}})
	var managers appsv1.Deployment
	if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: manifests.SystemNamespace, Name: "convene"}, &managers); err != nil {
		t.Fatal(err)
	}
	if *managers.Spec.Replicas != 3 || !strings.HasSuffix(managers.Spec.Template.Spec.Containers[0].Image, ":v0.2.0") {
		t.Errorf("what was set is lost: %d of %s", *managers.Spec.Replicas, managers.Spec.Template.Spec.Containers[0].Image)
	}
	if *managers.Spec.RevisionHistoryLimit != 7 {
		t.Errorf("the new default has not come: %d", *managers.Spec.RevisionHistoryLimit)
	}
}

// TestFromKustomizeToHelm: an installation by kustomize goes on as a release of Helm. Some objects of both have the same names,
// which Helm refuses to take unless it is told to; the others of kustomize go afterwards. Tenants and meetings are not touched.
func TestFromKustomizeToHelm(t *testing.T) {
	withEachHelm(t, fromKustomizeToHelm)
}

func fromKustomizeToHelm(t *testing.T, helmPath string, forces []string) {
	c := testkit.EmptyControlPlane(t)
	c.Recipe(t, "kustomize-install", testkit.RecipeOptions{})
	objects := []client.Object{
		&v1alpha1.ConferenceConfig{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "default"}, Spec: v1alpha1.ConferenceConfigSpec{
			Variant: v1alpha1.VariantA, BaseURL: "https://meet.example.com",
			API: &v1alpha1.APISpec{KeySecretRefs: []v1alpha1.SecretKeyReference{{Name: "api-key", Key: "key"}}},
		}},
		&v1alpha1.Meeting{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "board"}, Spec: v1alpha1.MeetingSpec{Room: "board"}},
	}
	uids := map[string]types.UID{}
	for _, o := range objects {
		testkit.Eventually(t, patience, func() error { return client.IgnoreAlreadyExists(c.Client.Create(t.Context(), o)) })
		uids[o.GetName()] = o.GetUID()
	}
	_, complaint, err := manifests.Run(t, helmPath, "install", "convene", manifests.Chart(t), "--kubeconfig", c.Kubeconfig, "--namespace", manifests.SystemNamespace)
	if err == nil || !strings.Contains(complaint, "invalid ownership metadata") {
		t.Errorf("without --take-ownership: %v %s", err, complaint)
	}

	install := strings.Join(append([]string{helmPath, "install"}, forces...), " ")
	c.Recipe(t, "kustomize-to-helm", testkit.RecipeOptions{Fill: map[string]string{"helm install": install}})
	c.Recipe(t, "after-kustomize", testkit.RecipeOptions{})

	for _, o := range objects {
		if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil || o.GetUID() != uids[o.GetName()] || o.GetDeletionTimestamp() != nil {
			t.Errorf("%s is not the one that it was: %v", o.GetName(), err)
		}
	}
	ofHelm := manifests.Helm(t, manifests.SystemNamespace)
	kept := map[string]bool{"Namespace " + manifests.SystemNamespace: true}
	for _, o := range ofHelm {
		kept[identity(o)] = true
		if o.GetAnnotations()["helm.sh/hook"] != "" {
			continue
		}
		if problem := belongsToHelm(t, c, o); problem != nil {
			t.Error(problem)
		}
	}
	clash := 0
	for _, o := range manifests.Kustomize(t) {
		there := o.DeepCopy()
		err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(o), there)
		if kept[identity(o)] {
			clash++
		}
		if (err == nil) != kept[identity(o)] {
			t.Errorf("%s: %v", identity(o), err)
		}
	}
	if clash < 4 {
		t.Errorf("only %d objects have the same names", clash)
	}
	c.Recipe(t, "upgrade", testkit.RecipeOptions{})
}

// belongsToHelm fails unless an object is one of the release.
func belongsToHelm(t *testing.T, c *testkit.Cluster, o *unstructured.Unstructured) error {
	t.Helper()
	there := o.DeepCopy()
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(o), there); err != nil {
		return err
	}
	if there.GetAnnotations()["meta.helm.sh/release-name"] != "convene" || there.GetLabels()["app.kubernetes.io/managed-by"] != "Helm" {
		return fmt.Errorf("%s is not Helm's", identity(o))
	}
	if slices.Contains([]string{"Role", "ClusterRole"}, o.GetKind()) && fmt.Sprint(there.Object["rules"]) != fmt.Sprint(o.Object["rules"]) {
		return fmt.Errorf("%s allows something else than the chart says", identity(o))
	}
	return nil
}
