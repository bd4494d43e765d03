// SPDX-License-Identifier: Apache-2.0

//go:build slow

package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"convene.dev/convene/internal/testkit"
)

// redefine changes a definition.
func redefine(t *testing.T, c *testkit.Cluster, name string, change func(*apiextensionsv1.CustomResourceDefinition)) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.Client.Get(t.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
		t.Fatal(err)
	}
	change(crd)
	if err := c.Client.Update(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
}

// TestObjectsOfAnEarlierShapeAreFound by the commands of the documents, before the definitions are updated; afterwards the field is
// gone, as the documents say.
func TestObjectsOfAnEarlierShapeAreFound(t *testing.T) {
	c := testkit.OwnControlPlane(t)
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	var current []apiextensionsv1.CustomResourceDefinitionVersion
	specOf := func(crd *apiextensionsv1.CustomResourceDefinition) map[string]apiextensionsv1.JSONSchemaProps {
		return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
	}
	redefine(t, c, definition, func(crd *apiextensionsv1.CustomResourceDefinition) {
		current = crd.DeepCopy().Spec.Versions
		anything := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}
		specOf(crd)["host"], specOf(crd)["media"] = anything, anything
		specOf(crd)["meetings"].Properties["maxDuration"] = text
	})
	redefine(t, c, "meetings.convene.dev", func(crd *apiextensionsv1.CustomResourceDefinition) { specOf(crd)["duration"] = text })
	for _, manifest := range []string{earlierConfig, earlierMedia, earlierLengths, earlierMeeting} {
		file := filepath.Join(t.TempDir(), "manifest.yaml")
		if err := os.WriteFile(file, []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		// A definition that has been changed is in force a moment later.
		testkit.Eventually(t, patience, func() error {
			_, err := c.TryKubectl(t, "apply", "--filename", file)
			return err
		})
	}
	found := c.Recipe(t, "look-for-earlier-shape", testkit.RecipeOptions{})
	for _, want := range []string{"    host:", "    media:", `maxDuration: "08:00:00"`, `duration: "01:30:00"`} {
		if !strings.Contains(found, want) {
			t.Errorf("the commands do not find %q:\n%s", want, found)
		}
	}
	redefine(t, c, definition, func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions = current })
	testkit.Eventually(t, patience, func() error {
		spec := c.Kubectl(t, "get", "conferenceconfig", "earlier", "--output=jsonpath={.spec}")
		if strings.Contains(spec, "host") {
			return fmt.Errorf("the field is still there: %s", spec)
		}
		return nil
	})
}
