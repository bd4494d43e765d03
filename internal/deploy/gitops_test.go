// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"convene.dev/convene/api/v1alpha1"
	"convene.dev/convene/internal/testkit"
	"convene.dev/convene/internal/testkit/manifests"
)

// TestArgoCDIsTaughtAllKinds: the scripts are under the keys that Argo CD looks for, and as they are tested.
func TestArgoCDIsTaughtAllKinds(t *testing.T) {
	dir := filepath.Join(testkit.Root(t), "config", "gitops", "argocd")
	config := manifests.As[corev1.ConfigMap](t, manifests.Find(t, manifests.Parse(t, manifests.Build(t, dir)), "ConfigMap", "argocd-cm"))
	for kind, file := range map[string]string{"Meeting": "meeting.lua", "ConferenceConfig": "stalled.lua", "MediaServer": "stalled.lua"} {
		script, err := os.ReadFile(filepath.Join(dir, "health", file))
		if err != nil {
			t.Fatal(err)
		}
		if got := config.Data["resource.customizations.health."+v1alpha1.GroupVersion.Group+"_"+kind]; got != string(script) {
			t.Errorf("%s has the script\n%s", kind, got)
		}
	}
	if len(config.Data) != 3 {
		t.Errorf("it would change more of Argo CD's settings: %v", config.Data)
	}
}

// TestExampleRepositoryIsWhole: every file of it is YAML, every kustomization in it builds, and the rest are objects.
func TestExampleRepositoryIsWhole(t *testing.T) {
	root := filepath.Join(testkit.Root(t), "config", "gitops", "example")
	files := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		files++
		if entry.Name() == "kustomization.yaml" {
			manifests.Build(t, filepath.Dir(path))
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "kustomization.yaml")); err == nil {
			// Kustomize knows which of its files are objects.
			return yaml.Unmarshal(raw, new(any))
		}
		for _, o := range manifests.Parse(t, string(raw)) {
			if o.GetKind() == "" || o.GetAPIVersion() == "" || o.GetName() == "" {
				t.Errorf("%s has something that is no object", path)
			}
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files: %v", files, err)
	}
}
