// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/testkit"
)

type schema = apiextensionsv1.JSONSchemaProps

// schemaOf is the schema of a kind, from the CRD itself.
func schemaOf(t testing.TB, plural string) schema {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testkit.Root(t), "config", "crd", "bases", "convene.dev_"+plural+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(data, &crd); err != nil {
		t.Fatal(err)
	}
	return *crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// visit calls f for every field of a schema, with its path.
func visit(path string, s schema, f func(path string, s schema)) {
	f(path, s)
	for _, name := range slices.Sorted(maps(s.Properties)) {
		visit(strings.TrimPrefix(path+"."+name, "."), s.Properties[name], f)
	}
	if s.Items != nil && s.Items.Schema != nil {
		visit(path+"[]", *s.Items.Schema, f)
	}
}

func maps(m map[string]schema) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

// bound is one mechanical constraint of a field: a value that breaks it, what the refusal says, and, where any text or
// number will do, values that just keep it.
type bound struct {
	field string
	// path of what is set; the field of the refusal is the same but for required fields of an object.
	path  string
	bad   any
	says  string
	goods []any
}

// boundsOf are all mechanical constraints below a path.
func boundsOf(root schema, under string) (all []bound) {
	visit("", root, func(path string, s schema) {
		if path != under && !strings.HasPrefix(path, under+".") || strings.Contains(path, ".selector.") || path == "spec.api.extensions[]" {
			return // A selector is Kubernetes' own, and no extension is taken so far.
		}
		free := s.Pattern == "" && len(s.XValidations) == 0 && s.Format != "byte"
		add := func(bad any, says string, goods ...any) {
			if !free {
				goods = nil // the tables say what these take
			}
			all = append(all, bound{field: path, path: path, bad: bad, says: says, goods: goods})
		}
		if n := ptr.Deref(s.MaxLength, 0); n > 0 {
			add(strings.Repeat("x", int(n)+1), "Too long: may not be", strings.Repeat("x", int(n)), strings.Repeat("é", int(n)))
		}
		if n := ptr.Deref(s.MinLength, 0); n > 0 {
			add(strings.Repeat("x", int(n)-1), "should be at least", strings.Repeat("x", int(n)))
		}
		if s.Maximum != nil {
			add(int64(*s.Maximum)+1, "should be less than or equal to", int64(*s.Maximum))
		}
		if s.Minimum != nil {
			add(int64(*s.Minimum)-1, "should be greater than or equal to", int64(*s.Minimum))
		}
		if len(s.Enum) > 0 {
			add("Other", "supported values")
		}
		if s.Pattern != "" {
			add("\n", "should match")
		}
		if s.Format == "date-time" {
			add("yesterday", "must be of type date-time")
		}
		if n := ptr.Deref(s.MaxItems, 0); n > 0 {
			add(items(*s.Items.Schema, int(n)+1), "must have at most", items(*s.Items.Schema, int(n)))
		}
		if n := ptr.Deref(s.MaxProperties, 0); n > 0 {
			add(switches(int(n)+1), "must have at most", switches(int(n)))
		}
		if s.XListType != nil && *s.XListType == "set" {
			all = append(all, bound{
				field: path + "[]", path: path, says: "Duplicate value", bad: append(items(*s.Items.Schema, 2), items(*s.Items.Schema, 1)...),
			})
		}
		for _, name := range s.Required {
			all = append(all, bound{field: path + "." + name, path: path + "." + name, bad: absent, says: "Required value"})
		}
		// The API server does not look at the type of what has the format of a time, which only controllers write, or of bytes.
		if s.Type != "" && s.Format != "date-time" && s.Format != "byte" && path != under {
			wrong := any([]int{1})
			if s.Type == "array" {
				wrong = "text"
			}
			add(wrong, "must be of type")
		}
	})
	return all
}

// items are n different ones that the item's schema takes.
func items(item schema, n int) []any {
	out := make([]any, n)
	for i := range out {
		name := fmt.Sprint("x", i)
		switch {
		case i < len(item.Enum):
			out[i] = strings.Trim(string(item.Enum[i].Raw), `"`)
		case slices.ContainsFunc(item.XValidations, func(v apiextensionsv1.ValidationRule) bool { return strings.HasPrefix(v.Message, "must be an origin") }):
			out[i] = "https://" + name
		case item.Type == "object" && slices.Contains(item.Required, "joinTime"):
			out[i] = map[string]any{"identity": name, "name": name, "joinTime": "2026-11-21T10:00:00Z"}
		case item.Type == "object" && slices.Contains(item.Required, "leftTime"):
			out[i] = map[string]any{"name": name, "leftTime": "2026-11-21T10:00:00Z"}
		case item.Type == "object" && slices.Contains(item.Required, "since"):
			out[i] = map[string]any{"identity": name, "name": name, "since": "2026-11-21T10:00:00Z"}
		case item.Type == "object" && slices.Contains(item.Required, "name") && item.Properties["key"].Type == "":
			out[i] = map[string]any{"name": name}
		case item.Type == "object" && slices.Contains(item.Required, "lastTransitionTime"):
			out[i] = map[string]any{"type": name, "status": "True", "reason": "Reason", "message": "", "lastTransitionTime": "2026-11-21T10:00:00Z"}
		case item.Type == "object" && slices.Contains(item.Required, "identity"):
			out[i] = map[string]any{"identity": name}
		case item.Type == "object" && item.Properties["configMapRef"].Type != "":
			out[i] = map[string]any{"configMapRef": ref(name)}
		case item.Type == "object":
			out[i] = map[string]any{"name": name, "key": name}
		default:
			out[i] = name
		}
	}
	return out
}

// switches are n different endpoints, as far as there are so many.
func switches(n int) map[string]bool {
	names := []string{"stats", "meetings", "meeting", "meetingEnd", "join", "token", "docs"}
	out := make(map[string]bool, n)
	for i := range n {
		if i >= len(names) {
			names = append(names, fmt.Sprint("x", i))
		}
		out[names[i]] = true
	}
	return out
}
