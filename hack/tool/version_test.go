// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPublishedFitsWhatIsBuilt: who downloads and who builds have the same LiveKit, and API servers of one minor release.
func TestPublishedFitsWhatIsBuilt(t *testing.T) {
	for _, tc := range []struct {
		tool, module, pkg string
		exactly           bool
	}{
		{"kube-apiserver", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver", false},
		{"livekit-server", "livekit", "github.com/livekit/livekit-server/cmd/server", true},
	} {
		built, err := requiredVersion(filepath.Join("..", "tools", tc.module, "go.mod"), tc.pkg)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := find(published, tc.tool)
		if a == nil || minor(a.version) != minor(built) || tc.exactly && a.version != built {
			t.Errorf("%s: %v is downloaded and %s is built: bring archives.go and hack/tools/%s/go.mod together", tc.tool, a, built, tc.module)
		}
	}
	for _, a := range published {
		for platform, sum := range a.sums {
			if _, want, err := hashOf(sum); err != nil || hex.EncodeToString(want) != sum {
				t.Errorf("%s %s: %v", a.of, platform, err)
			}
		}
	}
}

// TestToolsAreBuiltFromTheProjectsModules: what etcd, kube-apiserver and LiveKit have in common with Convene is compiled once. Without it
// a first start takes half as long again.
func TestToolsAreBuiltFromTheProjectsModules(t *testing.T) {
	project := readMod(t, filepath.Join("..", ".."))
	for name, least := range map[string]int{"kubernetes": 50, "livekit": 30} {
		tool := readMod(t, filepath.Join("..", "tools", name))
		shared := 0
		for module, version := range project.required {
			other, both := tool.required[module]
			if !both || name == "livekit" && (strings.HasPrefix(module, "github.com/livekit/") || strings.HasPrefix(module, "github.com/pion/")) {
				continue
			}
			shared++
			if version != other {
				t.Errorf("%s: the project has %s, and hack/tools/%s has %s: run `make modules`", module, version, name, other)
			}
		}
		if shared < least {
			t.Errorf("%s: only %d modules were compared", name, shared)
		}
	}

	kubernetes, patch := readMod(t, filepath.Join("..", "tools", "kubernetes")), strings.TrimPrefix(project.required["k8s.io/client-go"], "v0.")
	if release := kubernetes.required["k8s.io/kubernetes"]; release != "v1."+patch {
		t.Errorf("Kubernetes is %s, and client-go v0.%s: run `make modules`", release, patch)
	}
	for module, version := range kubernetes.replaced {
		if version != "v0."+patch {
			t.Errorf("%s is %s, and client-go v0.%s: run `make modules`", module, version, patch)
		}
	}
}

// mod is what a go.mod says: versions by module. Those required are after replacements.
type mod struct{ required, replaced map[string]string }

func readMod(t *testing.T, folder string) mod {
	t.Helper()
	// Read here, so that Go's cache of test results knows of the file.
	text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	edit := exec.Command("go", "mod", "edit", "-json", "/dev/stdin")
	edit.Stdin = bytes.NewReader(text)
	out, err := edit.Output()
	if err != nil {
		t.Fatal(err)
	}
	type module struct{ Path, Version string }
	var said struct {
		Require []module
		Replace []struct{ Old, New module }
	}
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatal(err)
	}
	m := mod{required: map[string]string{}, replaced: map[string]string{}}
	for _, r := range said.Require {
		m.required[r.Path] = r.Version
	}
	for _, r := range said.Replace {
		m.replaced[r.Old.Path] = r.New.Version
		if _, required := m.required[r.Old.Path]; required {
			m.required[r.Old.Path] = r.New.Version
		}
	}
	return m
}

func TestRequiredVersion(t *testing.T) {
	mod := filepath.Join(t.TempDir(), "go.mod")
	text := "module example.com/m\n\nrequire example.com/a v1.0.0\n\nrequire (\n\texample.com/a/b v1.1.0 // indirect\n\texample.com/ab v1.2.0\n)\n\ntool example.com/a/b/cmd\n"
	if err := os.WriteFile(mod, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for pkg, want := range map[string]string{
		"example.com/a/cmd": "v1.0.0", "example.com/a/b/cmd": "v1.1.0", "example.com/ab": "v1.2.0", "example.com/c": "", ".": "",
	} {
		got, err := requiredVersion(mod, pkg)
		if got != want || (err != nil) != (want == "" && pkg != ".") {
			t.Errorf("%s: %q, %v; want %q", pkg, got, err, want)
		}
	}
}

func TestKubectlOfPath(t *testing.T) {
	for version, taken := range map[string]bool{"v1.36.9": true, "v1.37.0": true, "v1.38.1": true, "v1.35.0": false, "v1.39.0": false, "": false} {
		tl, _ := newTool(t, "")
		tl.name = "kubectl"
		path := t.TempDir()
		script := fmt.Sprintf("#!/bin/sh\n[ \"$*\" = 'version --client --output=json' ] && echo '{\"clientVersion\": {\"gitVersion\": \"%s\"}}' || echo from PATH\n", version)
		if err := os.WriteFile(filepath.Join(path, "kubectl"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", path+":"+os.Getenv("PATH"))
		if err := os.MkdirAll(filepath.Dir(tl.output), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := tl.takeFromPath(t.Context(), "v1.37.1"); got != taken {
			t.Errorf("kubectl %q: taken %v, want %v", version, got, taken)
		}
		if _, err := os.Stat(tl.output); (err == nil) != taken {
			t.Errorf("kubectl %q: %v", version, err)
		}
	}
}

func TestSpoken(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 s", 59400 * time.Millisecond: "59 s", time.Minute: "1 min", 6*time.Minute + 5*time.Second: "6 min 5 s"} {
		if got := spoken(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
