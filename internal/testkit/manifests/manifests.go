// SPDX-License-Identifier: Apache-2.0

// Package manifests renders what the repository ships for clusters, as their tools do.
package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/testkit"
)

// SystemNamespace is where the kustomize base and our examples put the managers.
const SystemNamespace = "convene-system"

// Tool is a pinned tool of this repository.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(testkit.Root(t), "bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run `make tools`", err)
	}
	return path
}

// Chart is the folder of the Helm chart.
func Chart(t testing.TB) string { return filepath.Join(testkit.Root(t), "config", "chart") }

// Run returns what a program prints, and what it complains of.
func Run(t testing.TB, path string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = cmd.Run()
	return out.String(), complaint.String(), err
}

// TryHelm renders the chart.
func TryHelm(t testing.TB, namespace string, args ...string) (rendered, complaint string, err error) {
	t.Helper()
	return Run(t, Tool(t, "helm"), append([]string{"template", "convene", Chart(t), "--namespace", namespace}, args...)...)
}

// Helm renders the chart and takes it apart.
func Helm(t testing.TB, namespace string, args ...string) []*unstructured.Unstructured {
	t.Helper()
	out, complaint, err := TryHelm(t, namespace, args...)
	if err != nil {
		t.Fatalf("helm template %q: %v\n%s", args, err, complaint)
	}
	return Parse(t, out)
}

// Kustomize builds the base with components.
func Kustomize(t testing.TB, components ...string) []*unstructured.Unstructured {
	t.Helper()
	overlay := "resources: [../default]\ncomponents: ["
	for _, c := range components {
		overlay += "../components/" + c + ","
	}
	return Parse(t, Overlay(t, "config", overlay+"]\n"))
}

// Overlay builds a kustomization in a folder beside those of a folder of this repository: an overlay has to be near
// what it is made of.
func Overlay(t testing.TB, beside, kustomization string) string {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Join(testkit.Root(t), beside), "overlay-of-a-test-") //nolint:usetesting // not in a temporary folder
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		t.Fatal(err)
	}
	return Build(t, dir)
}

// Build builds a kustomization.
func Build(t testing.TB, dir string) string {
	t.Helper()
	out, complaint, err := Run(t, Tool(t, "kustomize"), "build", dir)
	if err != nil {
		t.Fatalf("kustomize build %s: %v\n%s", dir, err, complaint)
	}
	return out
}

// Parse takes a stream of YAML documents apart. A key that is there twice fails the test, as with kustomize: Helm takes the last.
func Parse(t testing.TB, documents string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(documents)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		o := &unstructured.Unstructured{}
		if err == nil {
			err = yaml.UnmarshalStrict(document, &o.Object)
		}
		if err != nil {
			t.Fatalf("no YAML: %v\n%s", err, document)
		}
		if len(o.Object) > 0 {
			all = append(all, o)
		}
	}
}

// Find returns the one object of a kind with a name.
func Find(t testing.TB, all []*unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	t.Helper()
	for _, o := range all {
		if o.GetKind() == kind && o.GetName() == name {
			return o
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

// OfKind returns the objects of a kind.
func OfKind(all []*unstructured.Unstructured, kind string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, o := range all {
		if o.GetKind() == kind {
			found = append(found, o)
		}
	}
	return found
}

// As decodes an object into its Go type; fields that the type does not have fail the test.
func As[T any](t testing.TB, o *unstructured.Unstructured) *T {
	t.Helper()
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, typed, true); err != nil {
		t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
	}
	return typed
}
