// SPDX-License-Identifier: Apache-2.0

//go:build slow

package deploy

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// definitions of ConferenceConfigs: the one of today, and an older one that lacks a field.
type definitions struct {
	*testkit.Cluster
	t *testing.T
}

const definition = "conferenceconfigs.convene.dev"

func (d definitions) read() *apiextensionsv1.CustomResourceDefinition {
	d.t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: definition}}
	if err := d.Client.Get(d.t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
		d.t.Fatal(err)
	}
	return crd
}

// install puts a definition in place and waits until the API server serves it: whether it knows spec.access says which.
func (d definitions) install(versions []apiextensionsv1.CustomResourceDefinitionVersion, knowsAccess bool) {
	d.t.Helper()
	crd := d.read()
	crd.Spec.Versions = versions
	if err := d.Client.Update(d.t.Context(), crd); err != nil {
		d.t.Fatal(err)
	}
	probe := d.config("probe")
	testkit.Eventually(d.t, patience, func() error {
		tried := probe.DeepCopy()
		strict := client.WithFieldValidation(d.Client, metav1.FieldValidationStrict)
		if err := strict.Create(d.t.Context(), tried, client.DryRunAll); (err == nil) != knowsAccess {
			return fmt.Errorf("the other definition is still served: %w", err)
		}
		return nil
	})
}

func (d definitions) config(name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"variant": "A", "baseURL": "https://meet.example.com",
		"api":    map[string]any{"keySecretRefs": []any{map[string]any{"name": "api-key", "key": "key"}}},
		"access": map[string]any{"protected": true},
	}}}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ConferenceConfig"))
	o.SetNamespace(d.Namespace)
	o.SetName(name)
	return o
}

func (d definitions) spec(name string) map[string]any {
	d.t.Helper()
	o := d.config(name)
	if err := d.Client.Get(d.t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		d.t.Fatal(err)
	}
	return o.Object["spec"].(map[string]any)
}

// TestDefinitionsGoUpAndDown: there and back again loses nothing that was not written in between; what an older
// definition took is taken by a newer one.
func TestDefinitionsGoUpAndDown(t *testing.T) {
	d := definitions{testkit.OwnControlPlane(t), t}
	current := d.read()
	if n := len(current.Spec.Versions); n != 1 || !current.Spec.Versions[0].Storage || current.Spec.Versions[0].Name != v1alpha1.GroupVersion.Version {
		t.Fatalf("%d versions: objects that are stored have to be carried over, and the documents have to say so", n)
	}
	older := current.DeepCopy()
	properties := older.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
	delete(properties, "access")

	kept, written := d.config("kept"), d.config("written")
	for _, o := range []client.Object{kept.DeepCopy(), written.DeepCopy()} {
		if err := d.Client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	d.install(older.Spec.Versions, false)
	d.Kubectl(t, "annotate", "conferenceconfig", "written", "by=an-older-manager")
	old := d.config("old")
	unstructured.RemoveNestedField(old.Object, "spec", "access")
	if err := d.Client.Create(t.Context(), old.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	if d.spec("kept")["access"] != nil {
		t.Error("the older definition shows a field that it does not know")
	}
	d.install(current.Spec.Versions, true)

	unstructured.RemoveNestedField(written.Object, "spec", "access")
	for name, want := range map[string]*unstructured.Unstructured{"kept": kept, "written": written, "old": old} {
		if diff := cmp.Diff(want.Object["spec"], d.spec(name)); diff != "" {
			t.Errorf("%s, there and back again (-want +got):\n%s", name, diff)
		}
	}
}
