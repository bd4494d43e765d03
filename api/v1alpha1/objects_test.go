// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
)

// object is a custom resource as a person writes it: not even as Go's types would.
type object = unstructured.Unstructured

// resource makes an object of a spec in YAML.
func resource(t testing.TB, c *testkit.Cluster, kind, spec string) *object {
	t.Helper()
	o := &object{Object: map[string]any{}}
	var content map[string]any
	if err := yaml.Unmarshal([]byte(spec), &content); err != nil {
		t.Fatalf("%v in %s", err, spec)
	}
	o.Object["spec"] = plain(content)
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	o.SetNamespace(c.Namespace)
	o.SetGenerateName("x-")
	return o
}

// plain turns any Go value into what the API machinery copies: maps, slices, strings, bools, int64 and float64.
func plain(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		panic(err)
	}
	return numbers(out)
}

func numbers(v any) any {
	switch x := v.(type) {
	case json.Number:
		if n, err := x.Int64(); err == nil {
			return n
		}
		f, _ := x.Float64()
		return f
	case map[string]any:
		for k := range x {
			x[k] = numbers(x[k])
		}
	case []any:
		for i := range x {
			x[i] = numbers(x[i])
		}
	}
	return v
}

// absent as a value takes a field out.
var absent = struct{ absent bool }{true}

// set returns a copy of o with a value at a path such as spec.api.keySecretRefs[].name, where [] is the first item. It
// reports false where o has no such place; what is taken out must be there.
func set(o *object, path string, value any) (*object, bool) {
	o = o.DeepCopy()
	if value != absent {
		value = plain(value)
	}
	content, ok := setIn(o.Object, strings.Split(strings.ReplaceAll(path, "[]", ".[]"), "."), value)
	if ok {
		o.Object = content.(map[string]any)
	}
	return o, ok
}

func setIn(in any, path []string, value any) (any, bool) {
	if len(path) == 0 {
		return value, true
	}
	switch x := in.(type) {
	case map[string]any:
		if len(path) == 1 && value == absent {
			_, there := x[path[0]]
			delete(x, path[0])
			return x, there
		}
		child, there := x[path[0]]
		if !there && len(path) > 1 {
			return nil, false
		}
		changed, ok := setIn(child, path[1:], value)
		if ok {
			x[path[0]] = changed
		}
		return x, ok
	case []any:
		if path[0] != "[]" || len(x) == 0 {
			return nil, false
		}
		changed, ok := setIn(x[0], path[1:], value)
		if ok {
			x[0] = changed
		}
		return x, ok
	}
	return nil, false
}

// create asks the API server for everything that a create does but the writing, and reads what it would have written
// as the controllers do: an object that Go's types cannot hold would stop them all.
func create(t testing.TB, c *testkit.Cluster, o *object) error {
	t.Helper()
	written := o.DeepCopy()
	if err := c.Client.Create(t.Context(), written, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
		return err
	}
	mustDecode(t, written)
	return nil
}

func mustDecode(t testing.TB, o *object) {
	t.Helper()
	data, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	into := map[string]any{"Meeting": &v1alpha1.Meeting{}, "ConferenceConfig": &v1alpha1.ConferenceConfig{}, "MediaServer": &v1alpha1.MediaServer{}}[o.GetKind()]
	if err := json.Unmarshal(data, into); err != nil {
		t.Errorf("the API server takes what the controllers cannot read: %v in %s", err, data)
	}
}

var index = regexp.MustCompile(`\[\d+\]`)

// causes are what a refusal says, field by field.
func causes(err error) (said []string) {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0:
		return []string{"<nil>: " + err.Error()}
	}
	for _, cause := range status.Status().Details.Causes {
		said = append(said, fmt.Sprintf("%s: %s", index.ReplaceAllString(cause.Field, "[]"), cause.Message))
	}
	return said
}

// refusedAt reports whether the error refuses the field with such a message.
func refusedAt(err error, field, says string) bool {
	for _, cause := range causes(err) {
		if strings.HasPrefix(cause, field+": ") && strings.Contains(cause, says) {
			return true
		}
	}
	return false
}
