// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// fleet is the example repository as Flux sees it.
type fleet struct {
	root string
	// read is what Flux is bootstrapped with: the objects in clusters/flux.
	read []*unstructured.Unstructured
	// steps are the Kustomizations, by their names.
	steps map[string]*step
}

// step is one Kustomization of Flux, with what it applies, and what its HelmReleases install.
type step struct {
	kustomization
	objects []*unstructured.Unstructured
}

type kustomization struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		DependsOn                                 []struct{ Name string }
		SourceRef                                 struct{ Kind, Name string }
		Path, ServiceAccountName, TargetNamespace string
		Timeout                                   string
		Wait, Prune                               bool
	}
}

// release is a HelmRelease.
type release struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Chart struct {
			Spec struct {
				Chart     string
				SourceRef struct{ Kind, Name, Namespace string }
			}
		}
		ValuesFrom                                          []struct{ Kind, Name string }
		Interval, Timeout, Install, Upgrade, DriftDetection any
	}
}

// gitOps reads the example repository, and renders what Flux would.
func gitOps(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{root: filepath.Join(testkit.Root(t), "config", "gitops", "example"), steps: map[string]*step{}}
	f.read = f.files(t, "clusters", "flux")
	for _, o := range manifests.OfKind(f.read, "Kustomization") {
		s := &step{kustomization: decode[kustomization](t, o)}
		s.objects = manifests.Parse(t, manifests.Build(t, filepath.Join(f.root, s.Spec.Path)))
		for _, r := range manifests.OfKind(s.objects, "HelmRelease") {
			s.objects = append(s.objects, f.install(t, s, decode[release](t, r))...)
		}
		f.steps[s.Name] = s
	}
	return f
}

// files are the objects in the YAML files of a folder.
func (f *fleet) files(t *testing.T, folder ...string) (all []*unstructured.Unstructured) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(append(append([]string{f.root}, folder...), "*.yaml")...))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q has no files: %v", folder, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, manifests.Parse(t, string(raw))...)
	}
	return all
}

// install renders a release of the chart with the values that it names.
func (f *fleet) install(t *testing.T, s *step, r release) []*unstructured.Unstructured {
	t.Helper()
	chart := r.Spec.Chart.Spec
	source := manifests.Find(t, f.read, chart.SourceRef.Kind, chart.SourceRef.Name)
	if source.GetNamespace() != chart.SourceRef.Namespace {
		t.Errorf("the chart's source is in %s, not in %s", source.GetNamespace(), chart.SourceRef.Namespace)
	}
	if filepath.Join(testkit.Root(t), chart.Chart) != manifests.Chart(t) {
		t.Errorf("there is no chart at %s", chart.Chart)
	}
	var args []string
	for _, from := range r.Spec.ValuesFrom {
		content, _, err := unstructured.NestedString(manifests.Find(t, s.objects, from.Kind, from.Name).Object, "data", "values.yaml")
		if err != nil || content == "" {
			t.Fatalf("%s has no values: %v", from.Name, err)
		}
		file := filepath.Join(t.TempDir(), "values.yaml")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--values", file)
	}
	return slices.DeleteFunc(manifests.Helm(t, r.Namespace, args...), func(o *unstructured.Unstructured) bool {
		return strings.Contains(o.GetAnnotations()["helm.sh/hook"], "test")
	})
}

// before are the objects that are there once a step has been applied: its own, and those of all that it depends on.
func (f *fleet) before(t *testing.T, name string, via ...string) []*unstructured.Unstructured {
	t.Helper()
	s := f.steps[name]
	if s == nil || slices.Contains(via, name) {
		t.Fatalf("%q depend on %s, which is not there, or depends on them", via, name)
	}
	all := slices.Clone(s.objects)
	for _, on := range s.Spec.DependsOn {
		all = append(all, f.before(t, on.Name, append(via, name)...)...)
	}
	return all
}

// order are the names of the steps, each after those that it depends on.
func (f *fleet) order(t *testing.T) (names []string) {
	t.Helper()
	var add func(name string)
	add = func(name string) {
		if slices.Contains(names, name) {
			return
		}
		for _, on := range f.steps[name].Spec.DependsOn {
			add(on.Name)
		}
		names = append(names, name)
	}
	for _, name := range slices.Sorted(maps.Keys(f.steps)) {
		f.before(t, name)
		add(name)
	}
	return names
}

// has is whether an object is among others.
func has(all []*unstructured.Unstructured, kind, namespace, name string) bool {
	return slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == kind && o.GetNamespace() == namespace && o.GetName() == name
	})
}

// decode reads what a test wants to know of an object whose Go type is in a module that nothing else here needs.
func decode[T any](t *testing.T, o *unstructured.Unstructured) (typed T) {
	t.Helper()
	raw, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &typed); err != nil {
		t.Fatal(err)
	}
	return typed
}
