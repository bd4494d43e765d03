// SPDX-License-Identifier: Apache-2.0

// Command release makes the files of a release: release --version v1.2.3 --image REGISTRY/convene:v1.2.3 FOLDER [FILE]...
//
//	install.yaml           config/default with the image, for kubectl apply --server-side
//	convene-1.2.3.tgz      the Helm chart, whose default image is that one
//	crd-schemas.tar.gz     JSON schemas of the custom resources, for editors and kubeconform
//	openapi-a.yaml         the REST API of variant A
//	openapi-b.yaml         the REST API of variant B
//	NOTES.md               what CHANGELOG.md says of this version
//	FILE                   copies of further files
//	SHA256SUMS             checksums of all files
//
// It runs at the root of the repository.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// release is what to make, and with what.
type release struct {
	version, image, folder string
	further                []string
	helm, kustomize        string
}

func run() error {
	var r release
	flag.StringVar(&r.version, "version", "", "version, as the tag of the release has it: v1.2.3")
	flag.StringVar(&r.image, "image", "", "image that install.yaml and the chart run")
	flag.StringVar(&r.helm, "helm", "bin/helm", "the helm to use")
	flag.StringVar(&r.kustomize, "kustomize", "bin/kustomize", "the kustomize to use")
	flag.Parse()
	if flag.NArg() < 1 {
		return errors.New("usage: release --version v1.2.3 --image REGISTRY/convene:v1.2.3 FOLDER [FILE]")
	}
	r.folder, r.further = flag.Arg(0), flag.Args()[1:]
	return r.make()
}

var (
	versions = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	images   = regexp.MustCompile(`^[a-z0-9./_-]+(:[0-9]+/[a-z0-9./_-]+)?:v[0-9A-Za-z.-]+$`)
)

// make makes all files in an empty folder.
func (r release) make() error {
	if !versions.MatchString(r.version) {
		return fmt.Errorf("the version %q is none: write v1.2.3, as the tag has it", r.version)
	}
	if !images.MatchString(r.image) || !strings.HasSuffix(r.image, ":"+r.version) {
		return fmt.Errorf("the image %q is not one with the tag %s", r.image, r.version)
	}
	notes, err := notesOf(r.version)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(r.folder); err != nil {
		return err
	}
	if err := os.MkdirAll(r.folder, 0o755); err != nil {
		return err
	}
	manifests, err := r.manifests()
	if err != nil {
		return err
	}
	texts := map[string][]byte{"NOTES.md": notes, "install.yaml": manifests}
	for _, path := range append([]string{"internal/httpapi/openapi/openapi-a.yaml", "internal/httpapi/openapi/openapi-b.yaml"}, r.further...) {
		if texts[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			return err
		}
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(r.folder, name), text, 0o644); err != nil {
			return err
		}
	}
	if err := r.chart(); err != nil {
		return err
	}
	if err := writeSchemas("config/crd/bases/*.yaml", filepath.Join(r.folder, "crd-schemas.tar.gz")); err != nil {
		return err
	}
	return writeSums(r.folder)
}

// manifests are those of config/default, with the image.
func (r release) manifests() ([]byte, error) {
	out, err := command(r.kustomize, "build", "config/default")
	if err != nil {
		return nil, err
	}
	const local = "image: localhost/convene:latest"
	if n := strings.Count(string(out), local); n != 1 {
		return nil, fmt.Errorf("config/default has %q %d times, not once", local, n)
	}
	return []byte(strings.Replace(string(out), local, "image: "+r.image, 1)), nil
}

// chart packages the chart, which names the image.
func (r release) chart() (err error) {
	work, err := os.MkdirTemp("", "convene-chart-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	chart := filepath.Join(work, "convene")
	if err := os.CopyFS(chart, os.DirFS("config/chart")); err != nil {
		return err
	}
	repository := strings.TrimSuffix(r.image, ":"+r.version)
	for _, change := range []struct{ file, from, to string }{
		{"Chart.yaml", "\nappVersion: " + r.version + "\n", "\nappVersion: " + r.version + "\n"},
		{"Chart.yaml", "      image: localhost/convene:" + r.version + "\n", "      image: " + r.image + "\n"},
		// LiveKit's image has its own repository, deeper inside.
		{"values.yaml", "\n  repository: localhost/convene\n", "\n  repository: " + repository + "\n"},
	} {
		if err := replace(filepath.Join(chart, change.file), change.from, change.to); err != nil {
			return err
		}
	}
	_, err = command(r.helm, "package", "--destination", r.folder, chart)
	return err
}

// replace changes the one place in a file that has a text.
func replace(file, from, to string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := strings.Count(string(text), from); n != 1 {
		return fmt.Errorf("%s of the chart has %q %d times, not once: a release is tagged as its chart says", filepath.Base(file), strings.TrimSpace(from), n)
	}
	return os.WriteFile(file, []byte(strings.Replace(string(text), from, to, 1)), 0o600)
}

// notesOf is the section of CHANGELOG.md about a version.
func notesOf(version string) ([]byte, error) {
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return nil, err
	}
	_, after, found := strings.Cut("\n"+string(text), "\n## "+version)
	if line, rest, _ := strings.Cut(after, "\n"); found && (line == "" || line[0] == ' ') {
		notes, _, _ := strings.Cut(rest, "\n## ")
		if notes = strings.TrimSpace(notes); notes != "" {
			return []byte(notes + "\n"), nil
		}
	}
	return nil, fmt.Errorf("CHANGELOG.md says nothing of %s: add a section ## %s", version, version)
}

// writeSums writes the file that `sha256sum --check` reads.
func writeSums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		if e.Name() == "SHA256SUMS" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), e.Name())
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

func command(name string, args ...string) ([]byte, error) {
	out, err := exec.Command(name, args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return out, err
}
