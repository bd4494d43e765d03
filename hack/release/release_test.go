// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

func TestMain(m *testing.M) { testkit.Main(m) }

// current is the version that the chart in this tree says, with an image of it.
func current(t *testing.T) release {
	t.Helper()
	t.Chdir(testkit.Root(t))
	text, err := os.ReadFile("config/chart/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^appVersion: (.+)$`).FindSubmatch(text)
	if found == nil {
		t.Fatal("the chart has no appVersion")
	}
	version := string(found[1])
	return release{
		version: version, image: "ghcr.io/example/convene:" + version, folder: filepath.Join(t.TempDir(), "release"),
		helm: manifests.Tool(t, "helm"), kustomize: manifests.Tool(t, "kustomize"),
	}
}

func TestFilesOfARelease(t *testing.T) {
	r := current(t)
	r.further = []string{"LICENSE"}
	if err := r.make(); err != nil {
		t.Fatal(err)
	}
	chart := "convene-" + strings.TrimPrefix(r.version, "v") + ".tgz"
	var names []string
	entries, err := os.ReadDir(r.folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{"LICENSE", "NOTES.md", "SHA256SUMS", chart, "crd-schemas.tar.gz", "install.yaml", "openapi-a.yaml", "openapi-b.yaml"}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}

	t.Run("both ways to install run the image of the release", func(t *testing.T) {
		install, err := os.ReadFile(filepath.Join(r.folder, "install.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		rendered, complaint, err := manifests.Run(t, r.helm, "template", "convene", filepath.Join(r.folder, chart))
		if err != nil {
			t.Fatalf("%v\n%s", err, complaint)
		}
		for from, text := range map[string]string{"install.yaml": string(install), "the chart": rendered} {
			if strings.Count(text, "image: "+r.image+"\n")+strings.Count(text, `image: "`+r.image+"\"\n") == 0 || strings.Contains(text, "localhost/") {
				t.Errorf("%s does not run %s", from, r.image)
			}
			if len(manifests.Parse(t, text)) < 15 {
				t.Errorf("%s has too little in it", from)
			}
		}
	})
	t.Run("Artifact Hub is told of that image, too", func(t *testing.T) {
		shown, complaint, err := manifests.Run(t, r.helm, "show", "chart", filepath.Join(r.folder, chart))
		if err != nil || !strings.Contains(shown, "image: "+r.image+"\n") {
			t.Errorf("%v\n%s\n%s", err, complaint, shown)
		}
	})
	t.Run("checksums are of all files, and notice a change", func(t *testing.T) {
		check := func() error {
			_, _, err := manifests.Run(t, "sh", "-c", `cd "$1" && sha256sum --check --strict SHA256SUMS`, "sh", r.folder)
			return err
		}
		sums, err := os.ReadFile(filepath.Join(r.folder, "SHA256SUMS"))
		if err != nil || strings.Count(string(sums), "\n") != len(want)-1 || check() != nil {
			t.Errorf("%v, %v\n%s", err, check(), sums)
		}
		if err := os.WriteFile(filepath.Join(r.folder, "openapi-a.yaml"), nil, 0o600); err != nil || check() == nil {
			t.Errorf("a changed file passes: %v", err)
		}
	})
	t.Run("notes", func(t *testing.T) {
		notes, err := os.ReadFile(filepath.Join(r.folder, "NOTES.md"))
		if err != nil || len(notes) < 100 || regexp.MustCompile(`(?m)^## `).Match(notes) {
			t.Errorf("%v\n%s", err, notes)
		}
	})
}

func TestReleasesThatAreRefused(t *testing.T) {
	good := current(t)
	for says, spoil := range map[string]func(*release){
		`the version "0.1.0" is none`:     func(r *release) { r.version, r.image = "0.1.0", "ghcr.io/example/convene:0.1.0" },
		"CHANGELOG.md says nothing of v9": func(r *release) { r.version, r.image = "v9.0.0", "ghcr.io/example/convene:v9.0.0" },
		"is not one with the tag":         func(r *release) { r.image = "ghcr.io/example/convene:v0.0.9" },
		`the image "`:                     func(r *release) { r.image = "convene\nx: y:" + r.version },
	} {
		r := good
		spoil(&r)
		if err := r.make(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", r, err, says)
		}
		if _, err := os.Stat(r.folder); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: files were made", says)
		}
	}
}

func TestNotesAreOfOneVersion(t *testing.T) {
	t.Chdir(t.TempDir())
	log := "# Changelog\n\n## v1.10.0\n\nten\n\n## v1.1.0 - 2026-01-02\n\n### Fixed\n\none\n\n## v1.0.0\n\n"
	if err := os.WriteFile("CHANGELOG.md", []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{"v1.10.0": "ten\n", "v1.1.0": "### Fixed\n\none\n", "v1.1": "", "v1.0.0": "", "v2.0.0": ""} {
		got, err := notesOf(version)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", version, got, err, want)
		}
	}
}

// schemas are those of the archive by name.
func schemas(t *testing.T) map[string]*spec.Schema {
	t.Helper()
	path := filepath.Join(t.TempDir(), "schemas.tar.gz")
	if err := writeSchemas(filepath.Join(testkit.Root(t), "config/crd/bases/*.yaml"), path); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*spec.Schema{}
	for entries := tar.NewReader(unzipped); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		var schema spec.Schema
		if err := json.NewDecoder(entries).Decode(&schema); err != nil {
			t.Fatal(err)
		}
		all[entry.Name] = &schema
	}
}

// TestSchemasAcceptWhatTheAPIServerAccepts takes the samples, which other tests apply, and spoils one.
func TestSchemasAcceptWhatTheAPIServerAccepts(t *testing.T) {
	all := schemas(t)
	valid := func(object map[string]any) error {
		name := fmt.Sprintf("convene.dev/%s_v1alpha1.json", strings.ToLower(object["kind"].(string)))
		if all[name] == nil {
			t.Fatalf("there is no %s", name)
		}
		return validate.NewSchemaValidator(all[name], nil, "", strfmt.Default).Validate(object).AsError()
	}
	files, err := filepath.Glob(filepath.Join(testkit.Root(t), "config", "samples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range manifests.Parse(t, string(text)) {
			if o.GroupVersionKind().Group != "convene.dev" {
				continue
			}
			tried[o.GetKind()] = true
			if err := valid(o.Object); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if len(tried) != len(all) || len(all) != 3 {
		t.Errorf("schemas of %d kinds, tried with %v", len(all), tried)
	}
	for text, says := range map[string]string{
		"{kind: Meeting, spec: {room: board, duration: 5}}":                                 "spec.duration",
		"{kind: Meeting, spec: {room: board, rom: board}}":                                  "spec.rom",
		"{kind: Meeting, spec: {}}":                                                         "spec.room",
		"{kind: ConferenceConfig, spec: {api: {keySecretRefs: [{name: a, key: b, c: d}]}}}": "keySecretRefs",
	} {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		if err := valid(object); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

func TestASchemaThatCannotBeTranslatedIsAnError(t *testing.T) {
	for _, odd := range []apiextensions.JSONSchemaProps{{Nullable: true, Type: "string"}, {XIntOrString: true}} {
		if out, err := schemaOf(&apiextensions.JSONSchemaProps{Type: "object", Properties: map[string]apiextensions.JSONSchemaProps{"odd": odd}}); err == nil {
			t.Errorf("%s", out)
		}
	}
}
