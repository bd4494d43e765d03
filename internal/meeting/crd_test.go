// SPDX-License-Identifier: Apache-2.0

package meeting

import (
	"os"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// specField is the schema of a field of Meeting's spec, from the CRD itself.
func specField(t testing.TB, name string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	return crdField(t, "spec", name)
}

// statusField is specField of the status.
func statusField(t testing.TB, name string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	return crdField(t, "status", name)
}

func crdField(t testing.TB, part, name string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	data, err := os.ReadFile("../../config/crd/bases/convene.dev_meetings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(data, &crd); err != nil {
		t.Fatal(err)
	}
	field, ok := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[part].Properties[name]
	if !ok {
		t.Fatalf("the CRD has no %s.%s", part, name)
	}
	return field
}

// pattern is the regular expression that a CEL rule of the field matches with. CEL's, like Go's, are RE2.
func pattern(t testing.TB, field apiextensionsv1.JSONSchemaProps) *regexp.Regexp {
	t.Helper()
	for _, v := range field.XValidations {
		if _, rest, ok := strings.Cut(v.Rule, "self.matches('"); ok {
			text, _, _ := strings.Cut(rest, "')")
			return regexp.MustCompile(strings.ReplaceAll(text, `\\`, `\`))
		}
	}
	t.Fatal("no rule of the field matches a pattern")
	return nil
}
