// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// writeSchemas packs the JSON schemas of all definitions, as GROUP/KIND_VERSION.json, where kubeconform looks for them with
// --schema-location '.../{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'.
func writeSchemas(pattern, path string) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("there is no %s", pattern)
	}
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	entries := tar.NewWriter(zipped)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var definition apiextensions.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &definition); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, version := range definition.Spec.Versions {
			schema, err := schemaOf(version.Schema.OpenAPIV3Schema)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			name := fmt.Sprintf("%s/%s_%s.json", definition.Spec.Group, strings.ToLower(definition.Spec.Names.Kind), version.Name)
			if err := entries.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(schema)), Typeflag: tar.TypeReg}); err != nil {
				return err
			}
			if _, err := entries.Write(schema); err != nil {
				return err
			}
		}
	}
	if err := errors.Join(entries.Close(), zipped.Close()); err != nil {
		return err
	}
	return os.WriteFile(path, packed.Bytes(), 0o644)
}

// schemaOf is a JSON schema that accepts what the definition accepts, as far as structure goes: rules in CEL are the API
// server's alone. Unknown fields are errors, as they are for kubectl apply.
func schemaOf(props *apiextensions.JSONSchemaProps) ([]byte, error) {
	raw, err := json.Marshal(props)
	if err != nil {
		return nil, err
	}
	for _, word := range []string{`"x-kubernetes-int-or-string":true`, `"nullable":true`} {
		if bytes.Contains(raw, []byte(word)) {
			return nil, fmt.Errorf("it has %s, and translate does not know what that is in JSON Schema: teach it", word)
		}
	}
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, err
	}
	translate(schema)
	properties, _ := schema["properties"].(map[string]any)
	if properties == nil {
		return nil, errors.New("the definition has no properties")
	}
	// The API server knows the shape of metadata by itself.
	properties["metadata"] = map[string]any{"type": "object"}
	schema["$schema"] = "http://json-schema.org/draft-07/schema#"
	return json.MarshalIndent(schema, "", "  ")
}

// translate turns a schema of a definition into one of JSON Schema, with all that is in it.
func translate(schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	if properties != nil && schema["additionalProperties"] == nil && schema["x-kubernetes-preserve-unknown-fields"] != true {
		schema["additionalProperties"] = false
	}
	for key := range schema {
		if strings.HasPrefix(key, "x-kubernetes-") {
			delete(schema, key)
		}
	}
	for _, inner := range properties {
		translateAny(inner)
	}
	for _, key := range []string{"items", "additionalProperties", "not"} {
		translateAny(schema[key])
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		// Branches add conditions to an object whose properties are listed outside of them, so they are left open.
		branches, _ := schema[key].([]any)
		for _, branch := range branches {
			if inner, ok := branch.(map[string]any); ok && inner["properties"] == nil {
				translate(inner)
			}
		}
	}
}

func translateAny(schema any) {
	if inner, ok := schema.(map[string]any); ok {
		translate(inner)
	}
}
